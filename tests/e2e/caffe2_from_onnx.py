"""Writes ONNX models of image classifiers as Caffe2's nets.

The nets are as Caffe2's own scripts wrote them: windows as legacy arguments
(kernel, stride, pad) or as lists, weights as GivenTensorFill, images NCHW or
NHWC.
"""

import importlib
import os
import subprocess
import sys

import numpy as np
import onnx
from google.protobuf.internal import encoder
from onnx import numpy_helper

PROTO = os.path.join("lib", "Importer", "Caffe2", "caffe2.proto")


def load_messages(folder):
    """The classes of Caffe2's messages, made from the project's .proto."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["protoc", "-I", os.path.dirname(PROTO),
                    "--python_out=" + folder, PROTO], check=True)
    sys.path.insert(0, folder)
    return importlib.import_module("caffe2_pb2")


def write_nets(model, order, messages, folder):
    """Writes predict_net.pb and init_net.pb of the ONNX file `model`."""
    writer = NetWriter(onnx.load(model).graph, order, messages)
    writer.write()
    os.makedirs(folder, exist_ok=True)
    for net in [writer.predict, writer.init]:
        with open(os.path.join(folder, net.name + ".pb"), "wb") as file:
            file.write(net.SerializeToString())


def attributes_of(node):
    return {attribute.name: onnx.helper.get_attribute_value(attribute)
            for attribute in node.attribute}


def add_floats(argument, value):
    """Adds elements to an argument's floats. One by one that takes long; a
    parser also takes all of them in the packed form."""
    data = value.astype("<f4").tobytes()
    number = argument.DESCRIPTOR.fields_by_name["floats"].number
    argument.MergeFromString(encoder.TagBytes(number, 2) +
                             encoder._VarintBytes(len(data)) + data)


class NetWriter:
    """One model on its way into two nets."""

    def __init__(self, graph, order, messages):
        self.graph = graph
        self.order = order
        self.predict = messages.NetDef(name="predict_net")
        self.init = messages.NetDef(name="init_net")
        self.weights = {each.name: numpy_helper.to_array(each)
                        for each in graph.initializer}
        # Other names of blobs, for nodes that do nothing.
        self.aliases = {}
        # How often an operator was written: forms of one are taken in turn.
        self.counts = {}

    def write(self):
        for value in self.graph.input:
            self.predict.external_input.append(value.name)
        for node in self.graph.node:
            getattr(self, "write_" + node.op_type)(node, attributes_of(node))
        used = {name for op in self.predict.op for name in op.input}
        for name, value in self.weights.items():
            if name in used:
                self.predict.external_input.append(name)
                self.init.external_output.append(name)
                self.add(self.init, "GivenTensorFill", [], [name],
                         shape=list(value.shape),
                         values=value)
        for value in self.graph.output:
            self.predict.external_output.append(value.name)

    def add(self, net, kind, inputs, outputs, **args):
        op = net.op.add(type=kind, output=outputs)
        op.input.extend(self.aliases.get(name, name) for name in inputs)
        for name, value in args.items():
            arg = op.arg.add(name=name)
            if isinstance(value, str):
                arg.s = value.encode()
            elif isinstance(value, int):
                arg.i = value
            elif isinstance(value, float):
                arg.f = value
            elif isinstance(value, np.ndarray):
                add_floats(arg, value)
            else:
                arg.ints.extend(value)

    def op(self, kind, node, **args):
        """An operator with the node's inputs and outputs."""
        self.add(self.predict, kind, node.input, node.output, **args)

    def turn(self, what, count):
        """0, 1, ... count - 1, 0, ... each time."""
        self.counts[what] = self.counts.get(what, -1) + 1
        return self.counts[what] % count

    def window(self, kind, attributes, kernel):
        """The arguments of a window, in one of the two forms."""
        strides = attributes.get("strides", [1, 1])
        pads = attributes.get("pads", [0, 0, 0, 0])
        dilations = attributes.get("dilations", [1, 1])
        lists = [kernel, strides, pads, dilations]
        if all(len(set(values)) == 1 for values in lists) and \
           self.turn(kind + " window", 2) == 0:
            return {"kernel": kernel[0], "stride": strides[0], "pad": pads[0],
                    "dilation": dilations[0]}
        return {"kernels": kernel, "strides": strides, "pads": pads,
                "dilations": dilations}

    def write_Conv(self, node, attributes):
        filter_name = node.input[1]
        kernel = list(self.weights[filter_name].shape[2:])
        if self.order == "NHWC":
            self.weights[filter_name] = np.transpose(
                self.weights[filter_name], (0, 2, 3, 1))
        self.op("Conv", node, order=self.order,
                group=attributes.get("group", 1),
                **self.window("Conv", attributes, kernel))

    def write_MaxPool(self, node, attributes):
        window = self.window("MaxPool", attributes,
                             list(attributes["kernel_shape"]))
        if attributes.get("ceil_mode", 0):
            window["legacy_pad"] = 3  # Caffe's own
        self.op("MaxPool", node, order=self.order, **window)

    def write_AveragePool(self, node, attributes):
        assert not attributes.get("ceil_mode", 0)
        self.op("AveragePool", node, order=self.order,
                count_include_pad=attributes.get("count_include_pad", 0),
                **self.window("AveragePool", attributes,
                              list(attributes["kernel_shape"])))

    def write_GlobalAveragePool(self, node, _):
        self.op("AveragePool", node, order=self.order, global_pooling=1)

    def write_Relu(self, node, _):
        self.op("Relu", node)

    def write_Tanh(self, node, _):
        self.op("Tanh", node)

    def write_Add(self, node, _):
        self.op(["Sum", "Add"][self.turn("Add", 2)], node)

    def write_Clip(self, node, _):
        low, high = (self.weights[name] for name in node.input[1:])
        self.add(self.predict, "Clip", node.input[:1], node.output,
                 min=float(low), max=float(high))

    def write_Concat(self, node, attributes):
        assert attributes["axis"] == 1
        form = {"order": self.order}
        if self.turn("Concat", 2):
            form = {"axis": 1 if self.order == "NCHW" else 3}
        self.add(self.predict, "Concat", node.input,
                 [node.output[0], node.output[0] + "_dims"], **form)

    def write_BatchNormalization(self, node, attributes):
        self.op("SpatialBN", node, order=self.order, is_test=1,
                epsilon=float(attributes["epsilon"]))

    def write_Flatten(self, node, attributes):
        """Flatten or Reshape, of NCHW, and the Dropout that exports lose."""
        assert attributes["axis"] == 1
        output = node.output[0]
        source = node.input[0]
        if self.order == "NHWC":
            self.add(self.predict, "NHWC2NCHW", [source], [output + "_nchw"])
            source = output + "_nchw"
        if self.order == "NCHW":
            self.add(self.predict, "Flatten", [source], [output + "_all"])
        else:
            self.add(self.predict, "Reshape", [source],
                     [output + "_all", output + "_shape"], shape=[0, -1])
        self.add(self.predict, "Dropout", [output + "_all"],
                 [output, output + "_mask"], ratio=0.5, is_test=1)

    def write_Gemm(self, node, attributes):
        assert attributes["transB"] and attributes["alpha"] == 1
        self.op("FC", node)

    def write_LogSoftmax(self, node, attributes):
        assert attributes["axis"] == 1
        self.add(self.predict, "Softmax", node.input, ["softmax"], axis=1)
        self.add(self.predict, "Log", ["softmax"], node.output)

    def write_Constant(self, node, attributes):
        self.weights[node.output[0]] = numpy_helper.to_array(
            attributes["value"])

    def write_Pad(self, node, _):
        assert not self.weights[node.input[1]].any()
        self.aliases[node.output[0]] = self.aliases.get(node.input[0],
                                                        node.input[0])

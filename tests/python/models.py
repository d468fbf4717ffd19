"""Small ONNX models for the tests."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
# Networks that PyTorch exported, where they are (tests/e2e/networks.sh).
EXPORTED = os.environ.get("GLOWISH_MODELS", os.path.join(ROOT, "build/models"))

KINDS = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE,
         "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16,
         "int8": TensorProto.INT8, "uint8": TensorProto.UINT8,
         "int16": TensorProto.INT16, "int32": TensorProto.INT32,
         "int64": TensorProto.INT64, "bool": TensorProto.BOOL}


def value(name, shape, kind="float32"):
    """An input or output; a dimension is a number, a symbol or None."""
    return helper.make_tensor_value_info(name, KINDS[kind], shape)


def constant(name, array):
    array = np.asarray(array)
    return helper.make_tensor(name, KINDS[str(array.dtype)], array.shape,
                              array.tobytes(), raw=True)


def model(nodes, inputs, outputs, constants=(), opset=13):
    """A model of nodes (operator, inputs, outputs[, attributes])."""
    graph = helper.make_graph(
        [helper.make_node(node[0], node[1], node[2],
                          **(node[3] if len(node) > 3 else {})) for node in nodes],
        "test", inputs, outputs, initializer=list(constants))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    onnx.checker.check_model(made)
    return made


def unary(operator, shape, kind="float32", result=None):
    """y = operator(x)."""
    return model([(operator, ["x"], ["y"])], [value("x", shape, kind)],
                 [value("y", shape, result or kind)])


def classifier(names):
    """label and scores of x, whose largest column has the label."""
    count = len(names)
    made = model([], [value("x", (2, count))],
                 [helper.make_tensor_value_info("label", TensorProto.STRING, (2,)),
                  value("scores", (2, count))])
    made.graph.node.append(helper.make_node(
        "LinearClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml",
        coefficients=np.eye(count).ravel().tolist(), intercepts=[0.0] * count,
        classlabels_strings=names))
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return made


def sums():
    """y = (a + b, c) with the extents N, N and 2*N + 1."""
    return model([("Add", ["a", "b"], ["sum"]),
                  ("Concat", ["sum", "c"], ["y"], {"axis": 0})],
                 [value("a", ["N"]), value("b", ["N"]), value("c", ["2*N + 1"])],
                 [value("y", [None])])


def dense(batch="N", inputs=4, outputs=3, seed=1):
    """y = x w + b, and the weights."""
    random = np.random.default_rng(seed)
    w = random.standard_normal((inputs, outputs)).astype(np.float32)
    b = random.standard_normal(outputs).astype(np.float32)
    made = model([("MatMul", ["x", "w"], ["t"]), ("Add", ["t", "b"], ["y"])],
                 [value("x", [batch, inputs])], [value("y", [batch, outputs])],
                 [constant("w", w), constant("b", b)])
    return made, w, b


def two_outputs(shape=(2, 3)):
    """s = a + b, p = a * b."""
    return model([("Add", ["a", "b"], ["s"]), ("Mul", ["a", "b"], ["p"])],
                 [value("a", shape), value("b", shape)],
                 [value("s", shape), value("p", shape)])


def counter():
    """next = past + x, whose next is the past of the call after."""
    return model([("Add", ["past", "x"], ["next"]), ("Mul", ["next", "x"], ["y"])],
                 [value("x", (2,)), value("past", (2,))],
                 [value("y", (2,)), value("next", (2,))])


def exported(name):
    """Path, inputs and outputs of an exported network, or None."""
    folder = os.path.join(EXPORTED, name)
    if not os.path.isdir(folder):
        return None

    def arrays(prefix):
        found = []
        while os.path.exists(f"{folder}/{prefix}_{len(found)}.npy"):
            found.append(np.load(f"{folder}/{prefix}_{len(found)}.npy"))
        return found
    return f"{folder}/model.onnx", arrays("input"), arrays("output")

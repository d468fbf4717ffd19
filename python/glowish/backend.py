"""glowish as a back end of ONNX (onnx.backend.base).

    import glowish.backend
    prepared = glowish.backend.prepare(onnx.load("net.onnx"))
    outputs = prepared.run([image])

The functions are those of onnx.backend.base.Backend. A model is compiled when it is
run, for the types of its inputs, and once for each. Inputs that decide a shape, which
compiled programs must have as constants, are found by trying: none first, then
integers of one dimension at most and scalars, then all inputs of one dimension at most.
The model is compiled again when one of these has other elements.

bfloat16 has no type in NumPy: as onnx.numpy_helper does, outputs are float32 there;
inputs are float32, rounded to nearest, or uint16, the bits.
"""
from __future__ import annotations

import collections
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import numpy as np
import onnx
from onnx import helper, shape_inference
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from . import _glowish
from ._errors import ArgumentError, ArgumentTypeError, Error
from ._options import merge_options
from ._source import Source

# Programs of one model for other types, or other constants, that are kept.
_CAPACITY = 16


def _to_bfloat16(array: np.ndarray) -> np.ndarray:
    """The bits of floats, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = bits + (0x7fff + ((bits >> 16) & 1))
    rounded = np.where(np.isnan(array), bits | 0x400000, rounded)
    return (rounded >> 16).astype(np.uint16)


def _from_bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _is_bound(array: np.ndarray, level: int) -> bool:
    """Whether an input is a constant on a level of trying."""
    if level == 0 or array.ndim > 1:
        return False
    return level == 2 or array.ndim == 0 or array.dtype.kind != "f"


class GlowishRep(BackendRep):
    """A model that is compiled for the inputs of its runs."""

    def __init__(self, model: onnx.ModelProto, options: Dict[str, Any]) -> None:
        graph = model.graph
        weights = {tensor.name for tensor in graph.initializer}
        weights |= {tensor.values.name for tensor in graph.sparse_initializer}
        self._inputs = [value.name for value in graph.input
                        if value.name not in weights]
        self._outputs = [value.name for value in graph.output]
        self._bfloat16 = {value.name for value in graph.input
                          if value.type.tensor_type.elem_type
                          == onnx.TensorProto.BFLOAT16}
        # External data are found beside the file, whose path is not known here.
        self._source = Source(model)
        self._pairs = merge_options(self._source.path, None, None,
                                    options.pop("quantize", None), options)
        self._models: "collections.OrderedDict[Any, _glowish.Model]" = \
            collections.OrderedDict()
        # The level of constants that sufficed last.
        self._level = 0

    def _compile(self, arrays: Dict[str, np.ndarray],
                 constants: Dict[str, np.ndarray]) -> "_glowish.Model":
        key = tuple((name, array.dtype.str, array.shape,
                     array.tobytes() if name in constants else None)
                    for name, array in arrays.items())
        model = self._models.get(key)
        if model is None:
            model = _glowish.load_model(
                paths=self._source.paths, options=self._pairs,
                cache="", capacity=1, constants=constants, compiles_now=False,
                compiles_quickly=False)
            self._models[key] = model
        self._models.move_to_end(key)
        while len(self._models) > _CAPACITY:
            self._models.popitem(last=False)
        return model

    def _run(self, arrays: Dict[str, np.ndarray]) -> Tuple[Dict[str, np.ndarray],
                                                           "_glowish.Model"]:
        problem: Optional[Error] = None
        tried: Set[Tuple[str, ...]] = set()
        for level in range(self._level, 3):
            constants = {name: array for name, array in arrays.items()
                         if _is_bound(array, level)}
            if tuple(constants) in tried:
                continue
            tried.add(tuple(constants))
            try:
                model = self._compile(arrays, constants)
                outputs = model.run({name: array for name, array in arrays.items()
                                     if name not in constants})
            except Error as error:
                problem = error
                continue
            self._level = level
            return outputs, model
        assert problem is not None
        raise problem

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[Any, ...]:
        """The outputs, as a named tuple in the model's order. An output that is a
        sequence is a list.

        inputs: a list or tuple in the model's order, a dictionary, or one array.
        """
        if kwargs:
            raise ArgumentTypeError(f"run() has no option '{next(iter(kwargs))}'")
        if not isinstance(inputs, dict):
            several = inputs if isinstance(inputs, (list, tuple)) else [inputs]
            if len(several) > len(self._inputs):
                raise ArgumentTypeError(f"the model has {len(self._inputs)} inputs, "
                                        f"and {len(several)} are given")
            inputs = dict(zip(self._inputs, several))
        arrays = {}
        for name, value in inputs.items():
            if isinstance(value, (list, tuple)) and any(
                    isinstance(each, np.ndarray) for each in value):
                raise ArgumentTypeError(f"input '{name}' is a sequence; accepted: a "
                                        "tensor")
            array = np.asarray(value)
            if name in self._bfloat16 and array.dtype != np.uint16:
                array = _to_bfloat16(array)
            arrays[name] = array
        outputs, model = self._run(arrays)
        return self._collect(outputs, model)

    def _collect(self, outputs: Dict[str, np.ndarray],
                 model: "_glowish.Model") -> Tuple[Any, ...]:
        bfloat16 = {value.name for value in model.outputs if value.kind == "bfloat16"}
        flat = [_from_bfloat16(array) if name in bfloat16 else array
                for name, array in outputs.items()]
        lengths = dict(model.sequences)
        results: List[Any] = []
        for index in range(len(self._outputs)):
            if index in lengths:
                results.append(flat[:lengths[index]])
                del flat[:lengths[index]]
            else:
                results.append(flat.pop(0))
        return namedtupledict("Outputs", self._outputs)(*results)


def _iterate_nodes(nodes: Sequence[onnx.NodeProto]) -> Any:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _iterate_nodes(graph.node)


def _has_only_tensors(model: onnx.ModelProto) -> bool:
    """Whether no input is a sequence, an optional or a map, and nothing a string."""
    for value in model.graph.input:
        if value.type.WhichOneof("value") not in ("tensor_type", None):
            return False
    for value in (*model.graph.input, *model.graph.output):
        kind = value.type
        while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
            kind = getattr(kind, kind.WhichOneof("value")).elem_type
        if kind.WhichOneof("value") == "map_type" or \
                kind.tensor_type.elem_type == onnx.TensorProto.STRING:
            return False
    return True


class GlowishBackend(Backend):
    """The functions of this module, as a class."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU",
                      **kwargs: Any) -> bool:
        """Whether the model has what glowish computes with: tensors of numbers, and no
        operators of ai.onnx.ml. Whether all other operators are known is found out
        when it is compiled."""
        return cls.supports_device(device) and _has_only_tensors(model) and \
            all(node.domain != "ai.onnx.ml" for node in
                _iterate_nodes([*model.graph.node,
                                *(node for function in model.functions
                                  for node in function.node)]))

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU",
                **kwargs: Any) -> GlowishRep:
        """The model, to be run several times. kwargs: options of glowish.load()."""
        if not cls.supports_device(device):
            raise ArgumentError(f"device={device!r}: accepted: 'CPU'")
        super().prepare(model, device)
        return GlowishRep(model, kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU",
                  **kwargs: Any) -> Tuple[Any, ...]:
        """Compiles and runs the model once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU",
                 outputs_info: Optional[Sequence[Tuple[Any, Sequence[int]]]] = None,
                 **kwargs: Any) -> Tuple[Any, ...]:
        """Runs one operator on inputs, a list or a dictionary.

        outputs_info: the dtypes and shapes of the outputs, where ONNX does not infer
        them. opset_version: of the operator; the newest by default.
        """
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        names = [name for name in node.input if name]
        arrays = dict(inputs) if isinstance(inputs, dict) else \
            dict(zip(names, map(np.asarray, inputs)))
        kinds = onnx.mapping.NP_TYPE_TO_TENSOR_TYPE
        values = [helper.make_tensor_value_info(
            name, kinds[np.asarray(array).dtype], np.asarray(array).shape)
            for name, array in arrays.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output
                   if name]
        if outputs_info is not None:
            outputs = [helper.make_tensor_value_info(value.name, kinds[np.dtype(dtype)],
                                                     shape)
                       for value, (dtype, shape) in zip(outputs, outputs_info)]
        graph = helper.make_graph([node], "node", values, outputs)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid(node.domain, int(version))])
        if outputs_info is None:
            known = {value.name: value for value in
                     shape_inference.infer_shapes(model).graph.output}
            for value in model.graph.output:
                value.CopyFrom(known.get(value.name, value))
        return cls.prepare(model, device, **kwargs).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether code runs on the device: 'CPU' and 'CPU:0'."""
        try:
            parsed = Device(device)
        except (AttributeError, ValueError):
            return False
        return parsed.type == DeviceType.CPU and parsed.device_id == 0


is_compatible = GlowishBackend.is_compatible
prepare = GlowishBackend.prepare
run_model = GlowishBackend.run_model
run_node = GlowishBackend.run_node
supports_device = GlowishBackend.supports_device

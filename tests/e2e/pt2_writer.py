"""Writes exported programs of PyTorch (.pt2) by the published schema, version 8.

No PyTorch that can be installed here writes them, so this writer is ours: it traces a
module to ATen's operators and lays the graph out as torch.export.save does. To be
imported; needs PyTorch with make_fx (1.13 and later).
"""

import json
import operator
import re
import zipfile

import torch
import torch.fx
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode

try:
    from functorch.experimental import functionalize
except ImportError:
    from torch.func import functionalize

KINDS = {torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4,
         torch.int64: 5, torch.float16: 6, torch.float32: 7, torch.float64: 8,
         torch.complex64: 10, torch.complex128: 11, torch.bool: 12, torch.bfloat16: 13}
MEMORY_FORMATS = {torch.contiguous_format: 1, torch.channels_last: 2,
                  torch.channels_last_3d: 3, torch.preserve_format: 4}
VERSION = {"major": 8, "minor": 20}


class MemoryFormats(TorchFunctionMode):
    """contiguous() with a memory format, which is lost in this PyTorch's trace."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        memory_format = kwargs.get("memory_format")
        if function is torch.Tensor.contiguous and memory_format is not None:
            wanted = torch.empty(args[0].shape, memory_format=memory_format).stride()
            if args[0].stride() == wanted:
                return args[0]
            function = torch.Tensor.clone
        return function(*args, **kwargs)


def trace(module, inputs):
    """A graph of ATen's operators without in-place updates, and its results."""
    def call(*values):
        with MemoryFormats():
            result = module(*values)
        return list(result) if isinstance(result, (tuple, list)) else [result]
    # Functional: views and updates in place become copies. With gradients, as
    # inference has operators of its own for transformers, which are not exported.
    graph = make_fx(functionalize(call))(*inputs)
    graph.graph.eliminate_dead_code()
    return graph


def meta(tensor, symbols=None):
    """A TensorMeta; `symbols`: what replaces extents, by dimension."""
    def extent(d, value):
        expression = (symbols or {}).get(d)
        if expression is None:
            return {"as_int": value}
        return {"as_expr": {"expr_str": expression, "hint": {"as_int": value}}}
    return {"dtype": KINDS[tensor.dtype],
            "sizes": [extent(d, n) for d, n in enumerate(tensor.shape)],
            "requires_grad": False,
            "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": n} for n in tensor.stride()],
            # As PyTorch's, which doesn't state it.
            "storage_offset": {"as_int": 0}, "layout": 7}


def argument(value, name_of):
    """An Argument of the schema. `name_of` returns the name of what stands for a
    tensor, and None for other values."""
    if value is None:
        return {"as_none": True}
    if name_of(value) is not None:
        return {"as_tensor": {"name": name_of(value)}}
    if isinstance(value, bool):
        return {"as_bool": value}
    if isinstance(value, int):
        return {"as_int": value}
    if isinstance(value, float):
        return {"as_float": encode_float(value)}
    if isinstance(value, str):
        return {"as_string": value}
    if isinstance(value, torch.dtype):
        return {"as_scalar_type": KINDS[value]}
    if isinstance(value, torch.device):
        return {"as_device": {"type": value.type, "index": None}}
    if isinstance(value, torch.layout):
        return {"as_layout": 7}
    if isinstance(value, torch.memory_format):
        return {"as_memory_format": MEMORY_FORMATS[value]}
    return list_argument(list(value), name_of)


def encode_float(value):
    """JSON has no names for what is no number."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def list_argument(values, name_of):
    if any(name_of(v) is not None for v in values):
        named = [{"name": name_of(v)} if v is not None else None for v in values]
        if None in named:
            return {"as_optional_tensors": [
                {"as_tensor": v} if v else {"as_none": True} for v in named]}
        return {"as_tensors": named}
    if all(isinstance(v, bool) for v in values) and values:
        return {"as_bools": values}
    if all(isinstance(v, int) for v in values):
        return {"as_ints": values}
    return {"as_floats": [encode_float(float(v)) for v in values]}


class Writer:
    """The archive of one module."""

    def __init__(self, module, inputs, symbols=None, mutated=None):
        self.module, self.inputs = module, inputs
        # {position of an input: {dimension: expression}}
        self.symbols = symbols or {}
        # {name of a buffer: position of the output that replaces it}
        self.mutated = mutated or {}
        self.weights, self.constants = {}, {}
        self.input_specs, self.graph_inputs = [], []
        self.nodes, self.tensor_values = [], {}
        self.names = {}
        self.values = {}

    # -- Arguments -----------------------------------------------------------

    def argument(self, value):
        """An Argument of the schema."""
        return argument(value, lambda own: self.names[own] if isinstance(
            own, torch.fx.Node) else None)

    # -- Inputs --------------------------------------------------------------

    def add_value(self, node, tensor, symbols=None):
        self.names[node] = node.name
        self.tensor_values[node.name] = meta(tensor, symbols)

    def add_inputs(self, graph):
        """Parameters and buffers become inputs of the graph, before the users'."""
        known = {}
        for role, items in [("parameter", self.module.named_parameters()),
                            ("buffer", self.module.named_buffers())]:
            for name, tensor in items:
                known[tensor.data_ptr(), tuple(tensor.shape)] = role, name
        for node in graph.graph.nodes:
            if node.op != "get_attr" or node in self.names:
                continue
            tensor = getattr(graph, node.target).detach()
            role, name = known.get((tensor.data_ptr(), tuple(tensor.shape)),
                                   ("tensor_constant", node.target))
            self.add_value(node, tensor)
            self.values[node] = tensor
            target = self.weights if role != "tensor_constant" else self.constants
            target[name] = tensor
            spec = {"arg": {"name": node.name}, role + "_name": name}
            if role == "buffer":
                spec["persistent"] = True
            self.input_specs.append({role: spec})
            self.graph_inputs.append({"as_tensor": {"name": node.name}})
        position = 0
        for node in graph.graph.nodes:
            if node.op != "placeholder":
                continue
            self.add_value(node, self.inputs[position],
                           self.symbols.get(position))
            self.values[node] = self.inputs[position]
            self.input_specs.append(
                {"user_input": {"arg": {"as_tensor": {"name": node.name}}}})
            self.graph_inputs.append({"as_tensor": {"name": node.name}})
            position += 1

    # -- Nodes ---------------------------------------------------------------

    def add_node(self, node):
        schema = node.target._schema
        stated = dict(zip([a.name for a in schema.arguments], node.args))
        stated.update(node.kwargs)
        load = lambda n: self.values[n]
        with torch.no_grad():
            result = node.target(*torch.fx.node.map_arg(node.args, load),
                                 **torch.fx.node.map_arg(node.kwargs, load))
        self.values[node] = result
        self.nodes.append({
            "target": "torch.ops." + str(node.target).replace("::", "."),
            "inputs": [{"name": name, "arg": self.argument(value), "kind": 1}
                       for name, value in stated.items()],
            "outputs": self.outputs(node, schema, result),
            "metadata": {}, "is_hop_single_tensor_return": None,
            "name": node.name})

    def outputs(self, node, schema, result):
        if isinstance(result, torch.Tensor):
            self.names[node] = node.name
            if not self.symbols:
                self.tensor_values[node.name] = meta(result)
            return [{"as_tensor": {"name": node.name}}]
        items = {user.args[1]: user for user in node.users
                 if user.target is operator.getitem}
        names = []
        for i, value in enumerate(result):
            name = items[i].name if i in items else f"{node.name}_unused_{i}"
            if i in items:
                self.names[items[i]] = name
                self.values[items[i]] = value
            if not self.symbols:
                self.tensor_values[name] = meta(value)
            names.append({"name": name})
        if len(schema.returns) == 1:
            return [{"as_tensors": names}]
        return [{"as_tensor": name} for name in names]

    # -- The archive ---------------------------------------------------------

    def program(self):
        """The ExportedProgram as JSON, with its outputs in PyTorch."""
        graph = trace(self.module, self.inputs)
        self.add_inputs(graph)
        for node in graph.graph.nodes:
            if node.op == "call_function" and node not in self.names:
                self.add_node(node)
            elif node.op == "output":
                results = list(node.args[0])
        owners = {position: name for name, position in self.mutated.items()}
        specs = [{"buffer_mutation": {"arg": {"name": self.names[n]},
                                      "buffer_name": owners[i]}}
                 if i in owners else
                 {"user_output": {"arg": {"as_tensor": {"name": self.names[n]}}}}
                 for i, n in enumerate(results)]
        ranges = {name: {"min_val": 1, "max_val": 64}
                  for dims in self.symbols.values()
                  for expression in dims.values()
                  for name in re.findall(r"\bs\d+\b", expression)}
        program = {
            "graph_module": {
                "graph": {
                    "inputs": self.graph_inputs,
                    "outputs": [{"as_tensor": {"name": self.names[n]}}
                                for n in results],
                    "nodes": self.nodes, "tensor_values": self.tensor_values,
                    "sym_int_values": {}, "sym_bool_values": {},
                    "is_single_tensor_return": False, "custom_obj_values": {},
                    "sym_float_values": {}},
                "signature": {"input_specs": self.input_specs,
                              "output_specs": specs},
                "module_call_graph": [], "metadata": {},
                "treespec_namedtuple_fields": {}},
            "opset_version": {"aten": 10}, "range_constraints": ranges,
            "schema_version": VERSION, "verifiers": ["ATEN"],
            "torch_version": "2.8.0", "guards_code": []}
        return program, [self.names[n] for n in results]


def config(tensors, prefix):
    return {"config": {name: {"path_name": f"{prefix}_{i}", "is_param": True,
                              "use_pickle": False, "tensor_meta": meta(tensor)}
                       for i, (name, tensor) in enumerate(tensors.items())}}


def raw(tensor):
    """The bytes of the elements, in the order of the strides."""
    size = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    flat = torch.as_strided(tensor, (size if tensor.numel() else 0,), (1,))
    if flat.dtype == torch.bfloat16:
        flat = flat.view(torch.int16)
    return flat.contiguous().numpy().tobytes()


def save(path, program, weights, constants, model="model"):
    """Writes the archive; as in PyTorch's, all entries are stored, and each is aligned
    to 64 bytes by an extra field of its header."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        def add(name, text):
            info = zipfile.ZipInfo("archive/" + name)
            size = -(archive.fp.tell() + 30 + len(info.filename) + 4) % 64
            info.extra = b"FB" + size.to_bytes(2, "little") + b"Z" * size
            archive.writestr(info, text)
        add("archive_format", "pt2")
        add("byteorder", "little")
        add(".data/version", "0")
        add(f"models/{model}.json", json.dumps(program))
        for folder, prefix, tensors in [("weights", "weight", weights),
                                        ("constants", "tensor", constants)]:
            add(f"data/{folder}/{model}_{folder}_config.json",
                json.dumps(config(tensors, prefix)))
            for i, tensor in enumerate(tensors.values()):
                add(f"data/{folder}/{prefix}_{i}", raw(tensor))


def write(path, module, inputs, symbols=None, mutated=None):
    """Writes `module`, traced with `inputs`. Returns the names of its inputs and of
    its outputs."""
    writer = Writer(module, inputs, symbols, mutated)
    program, outputs = writer.program()
    save(path, program, writer.weights, writer.constants)
    users = [spec["user_input"]["arg"]["as_tensor"]["name"]
             for spec in writer.input_specs if "user_input" in spec]
    return users, outputs

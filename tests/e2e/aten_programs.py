"""Programs of many calls of ATen's operators, which don't depend on one another, for
aten_arguments.py: as an exported program (.pt2), and as TorchScript."""

import torch

import pt2_writer

SCALAR_TYPES = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3,
                torch.int64: 4, torch.float16: 5, torch.float32: 6,
                torch.float64: 7, torch.bool: 11, torch.bfloat16: 15}
MEMORY_FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1,
                  torch.channels_last: 2, torch.channels_last_3d: 3}
NUMBERS = {int: torch._C.IntType.get(), float: torch._C.FloatType.get(),
           bool: torch._C.BoolType.get()}
TENSOR = torch._C.TensorType.get()


class Named:
    """What stands for a tensor in the arguments of a call."""

    def __init__(self, name):
        self.name = name


class Call:
    """A case, and what PyTorch returns for it: `results` has a list for each result, as
    a result may be a list."""

    def __init__(self, number, case, result):
        self.number, self.case = number, case
        results = result if isinstance(result, tuple) else (result,)
        self.results = [list(r) if isinstance(r, (list, tuple)) else [r]
                        for r in results]
        self.are_lists = [isinstance(r, (list, tuple)) for r in results]
        # The arguments with names in the place of tensors, and those by their names.
        self.arguments, self.inputs, self.constants = {}, {}, {}
        for name, value in case.arguments.items():
            self.arguments[name] = self.replace(name, value)
        # Whether the strides of its results are outputs of programs that can ask:
        # operands with at most one index along a dimension don't show theirs.
        self.asks_strides = all(min(tensor.shape, default=2) > 1
                                for tensor in self.inputs.values())

    def replace(self, name, value):
        if isinstance(value, torch.Tensor):
            own = f"c{self.number}_{name}"
            is_constant = name.split("_at_")[0] in self.case.constants
            (self.constants if is_constant else self.inputs)[own] = value
            return Named(own)
        if isinstance(value, (list, tuple)):
            return [self.replace(f"{name}_at_{i}", own) for i, own in enumerate(value)]
        return value

    def compared(self):
        """The positions of the results that are compared."""
        wanted = self.case.results
        return range(len(self.results)) if wanted is None else wanted


# --------------------------------------------------------------------------
# Exported programs
# --------------------------------------------------------------------------


def get_target(op):
    space, _, name = op.rpartition("::")
    return f"torch.ops.{space or 'aten'}.{name}" + ("" if "." in name else ".default")


def add_node(call, schema, nodes, outputs):
    """Appends the node of a call, and {output of the program: what it belongs to}."""
    results = []
    for i, result in enumerate(call.results):
        names = [f"c{call.number}_r{i}_{k}" for k in range(len(result))]
        places = {name: (call, i, k) for k, name in enumerate(names)}
        if call.are_lists[i]:
            results.append({"as_tensors": [{"name": n} for n in names]})
        elif isinstance(result[0], torch.Tensor) or result[0] is None:
            results.append({"as_tensor": {"name": names[0]}})
        else:
            # A number is known; its tensor is an output.
            results.append({"as_sym_int": {"as_name": names[0]}})
            places = {names[0] + "_tensor": (call, i, 0)}
        if i in call.compared():
            outputs.update(places)
    nodes.append({"target": get_target(call.case.op), "metadata": {},
                  "name": f"c{call.number}", "outputs": results if schema.returns else [],
                  "inputs": [{"name": n, "arg": pt2_writer.argument(v, name_of)}
                             for n, v in call.arguments.items()]})
    if "as_sym_int" in (results[0] if results else {}):
        name = results[0]["as_sym_int"]["as_name"]
        nodes.append({
            "target": "torch.ops.aten.scalar_tensor.default", "metadata": {},
            "name": name + "_tensor",
            "outputs": [{"as_tensor": {"name": name + "_tensor"}}],
            "inputs": [{"name": "s", "arg": {"as_sym_int": {"as_name": name}}},
                       {"name": "dtype", "arg": {"as_scalar_type": 5}}]})


def name_of(value):
    return value.name if isinstance(value, Named) else None


def write_exported(path, calls, schemas):
    """Writes a program of all calls. Returns its inputs by their names, and for each
    output the call, the result and the element that it is."""
    inputs, constants, nodes, outputs = {}, {}, [], {}
    for call in calls:
        inputs.update(call.inputs)
        constants.update(call.constants)
        add_node(call, schemas[call.case.op], nodes, outputs)

    def tensor(name):
        return {"as_tensor": {"name": name}}
    graph = {"inputs": [tensor(n) for n in [*constants, *inputs]],
             "outputs": [tensor(n) for n in outputs], "nodes": nodes,
             "tensor_values": {n: pt2_writer.meta(t)
                               for n, t in {**inputs, **constants}.items()},
             "sym_int_values": {}, "sym_bool_values": {},
             "is_single_tensor_return": False, "custom_obj_values": {}}
    signature = {
        "input_specs": [{"tensor_constant": {"arg": {"name": n},
                                             "tensor_constant_name": n}}
                        for n in constants] +
                       [{"user_input": {"arg": tensor(n)}} for n in inputs],
        "output_specs": [{"user_output": {"arg": tensor(n)}} for n in outputs]}
    program = {"graph_module": {"graph": graph, "signature": signature,
                                "module_call_graph": []},
               "opset_version": {"aten": 10}, "range_constraints": {},
               "schema_version": pt2_writer.VERSION}
    pt2_writer.save(path, program, {}, constants)
    return inputs, outputs


# --------------------------------------------------------------------------
# TorchScript
# --------------------------------------------------------------------------


class ScriptWriter:
    """A function that returns the results of all calls. `variant`: "in place" has each
    operator change a copy of its first argument; "turned" has the dimensions of tensors
    in reverse order in memory, and returns the strides of results, too."""

    def __init__(self, variant):
        self.graph = torch._C.Graph()
        self.variant = variant
        self.inputs, self.values = {}, {}
        self.results, self.outputs = [], {}

    def add(self, kind, inputs, type_=TENSOR):
        node = self.graph.create(kind, inputs, 1)
        self.graph.insertNode(node)
        node.output().setType(type_)
        return node.output()

    def constant(self, value):
        if isinstance(value, torch.dtype):
            value = SCALAR_TYPES[value]
        elif isinstance(value, torch.memory_format):
            value = MEMORY_FORMATS[value]
        elif isinstance(value, torch.layout):
            value = 0
        return self.graph.insertConstant(value)

    def add_tensor(self, name, tensor):
        value = self.graph.addInput()
        value.setDebugName(name)
        value.setType(TENSOR)
        rank = tensor.dim()
        if self.variant == "turned" and rank > 1:
            order = list(range(rank))[::-1]
            tensor = tensor.permute(order).contiguous()
            value = self.add("aten::permute", [value, self.graph.insertConstant(order)])
        self.inputs[name], self.values[name] = tensor, value

    def argument(self, value, type_text, size=None):
        """`size`: of a list that one number may stand for."""
        if size and isinstance(value, (int, float)):
            value = [value] * size
        if isinstance(value, Named):
            return self.values[value.name]
        if isinstance(value, (list, tuple)):
            if any(isinstance(v, Named) for v in value):
                parts = [self.argument(v, "") for v in value]
                has_none = any(v is None for v in value)
                own = torch._C.OptionalType(TENSOR) if has_none else TENSOR
                return self.add("prim::ListConstruct", parts, torch._C.ListType(own))
            is_real = "float" in type_text
            if not value:
                own = torch._C.FloatType if is_real else torch._C.IntType
                return self.add("prim::ListConstruct", [], torch._C.ListType(own.get()))
            return self.graph.insertConstant([float(v) if is_real else v for v in value])
        if "float" in type_text and isinstance(value, int):
            value = float(value)
        return self.constant(value)

    def add_call(self, call, schema):
        for name, tensor in call.inputs.items():
            self.add_tensor(name, tensor)
        for name, tensor in call.constants.items():
            self.values[name] = self.graph.insertConstant(tensor)
        values = {a.name: call.arguments.get(a.name, a.default_value)
                  for a in schema.arguments}
        if call.case.is_computed:
            for name, value in values.items():
                own, tensor = f"c{call.number}_{name}", torch.tensor(
                    value, dtype=torch.int64 if isinstance(value, int) else torch.float64)
                if name in call.case.constants:
                    self.values[own] = self.graph.insertConstant(tensor)
                else:
                    self.add_tensor(own, tensor)
            arguments = [self.add("aten::item", [self.values[f"c{call.number}_{name}"]],
                                  torch._C.NumberType.get()) for name in values]
        else:
            arguments = [self.argument(values[a.name], str(a.type), a.N)
                         for a in schema.arguments]
        name = call.case.op.split(".")[0]
        kind = name if "::" in name else "aten::" + name
        if self.variant == "in place":
            arguments[0] = self.add("aten::clone", [arguments[0], self.constant(None)])
            kind += "_"
        node = self.graph.create(kind, arguments, len(call.results))
        self.graph.insertNode(node)
        for i, output in enumerate(node.outputs()):
            result = call.results[i]
            if call.are_lists[i]:
                output.setType(torch._C.ListType(TENSOR))
            else:
                output.setType(NUMBERS.get(type(result[0]), TENSOR))
            if i in call.compared():
                self.add_result(output, [(call, i, k) for k in range(len(result))],
                                call.are_lists[i])
                if self.variant == "turned" and call.asks_strides and \
                        isinstance(result[0], torch.Tensor) and not call.are_lists[i]:
                    self.add_strides(output, call, i)

    def add_strides(self, output, call, index):
        for d, extent in enumerate(call.results[index][0].shape):
            # That of one index means nothing.
            if extent != 1:
                stride = self.add("aten::stride", [output, self.constant(d)],
                                  torch._C.IntType.get())
                self.add_result(stride, [(call, index, -1 - d)], False)

    def add_result(self, value, places, is_list):
        name = f"output.{len(self.results)}"
        self.results.append(value)
        for k, place in enumerate(places):
            self.outputs[f"{name}.{k}" if is_list else name] = place

    def save(self, path):
        types = [r.type() for r in self.results]
        result = self.add("prim::TupleConstruct", self.results,
                          torch._C.TupleType(types))
        self.graph.registerOutput(result)
        torch._C._create_function_from_graph("forward", self.graph).save(path)


def write_script(path, calls, schemas, variant=""):
    """As write_exported()."""
    writer = ScriptWriter(variant)
    for call in calls:
        writer.add_call(call, schemas[call.case.op])
    writer.save(path)
    return writer.inputs, writer.outputs

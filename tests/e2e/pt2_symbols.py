"""Writes exported programs (.pt2) whose extents are expressions of symbols.

A program is recorded at several values of its symbols at once: each call of an operator
of ATen runs at all of them, and its results' extents are written as the expressions that
have the extents seen. To be imported; needs PyTorch.
"""

import itertools
import json

import torch

import pt2_writer


class Size:
    """An int that follows from extents: the name of its value in the graph, and what it
    is at each of the recorded values."""

    def __init__(self, recorder, name, values):
        self.recorder, self.name, self.values = recorder, name, values

    def _compute(self, target, other, function):
        others = other.values if isinstance(other, Size) else [other] * len(self.values)
        values = [function(x, y) for x, y in zip(self.values, others)]
        return self.recorder.add_size("_operator." + target, [self, other], values)

    def __add__(self, other):
        return self._compute("add", other, lambda x, y: x + y)

    def __sub__(self, other):
        return self._compute("sub", other, lambda x, y: x - y)

    def __mul__(self, other):
        return self._compute("mul", other, lambda x, y: x * y)

    def __floordiv__(self, other):
        return self._compute("floordiv", other, lambda x, y: x // y)


class Value:
    """A tensor of the graph: its name, and what it is at each of the values."""

    def __init__(self, name, tensors):
        self.name, self.tensors = name, tensors


class Recorder:
    """A program. `ranges`: {symbol: (low, high)}, where high may be None. `points`: the
    values of the symbols, to compute what PyTorch does; such a program isn't written."""

    def __init__(self, ranges, points=None):
        self.ranges = ranges
        self.is_written = points is None
        names = list(ranges)
        # No two of these have the same sum, or multiple of one another.
        rows = [[7 + 4 * i for i in range(len(names))],
                [12 + 7 * i for i in range(len(names))],
                [9 + 13 * i for i in range(len(names))],
                [15 + 2 * i * i for i in range(len(names))],
                [10 + 3 * i * i for i in range(len(names))]]
        self.points = points or [dict(zip(names, row)) for row in rows]
        self.count = 0
        self.nodes, self.tensor_values, self.sizes = [], {}, {}
        self.input_specs, self.graph_inputs, self.weights = [], [], {}
        self.inputs = {}

    # -- Expressions ---------------------------------------------------------

    def describe(self, values):
        """An int, or the expression of the symbols with these values."""
        if len(set(values)) == 1:
            return values[0]
        for name in self.ranges:
            own = [point[name] for point in self.points]
            for divisor in [1, 2, 4]:
                factors = range(1, 65) if divisor == 1 else range(1, 4)
                for factor in factors:
                    for rest in range(-8, 33):
                        if all((factor * n + rest) // divisor == v
                               for n, v in zip(own, values)):
                            return self.write(factor, name, rest, divisor)
        for x, y in itertools.combinations_with_replacement(self.ranges, 2):
            for factor in range(1, 65):
                if all(factor * p[x] * p[y] == v for p, v in zip(self.points, values)):
                    return f"{factor}*{x}*{y}"
                if all(p[x] + p[y] + factor - 9 == v
                       for p, v in zip(self.points, values)):
                    return f"{x} + {y} + {factor - 9}"
        raise ValueError(f"no expression has the values {values}")

    @staticmethod
    def write(factor, name, rest, divisor):
        """As SymPy does; quotients in its other notation."""
        if divisor == 1:
            return name if (factor, rest) == (1, 0) else f"{factor}*{name} + {rest}"
        return ("torch.utils._sympy.functions.FloorDiv(Add(Mul(Integer("
                f"{factor}), Symbol('{name}', positive=True, integer=True)), Integer("
                f"{rest})), Integer({divisor}))")

    def meta(self, tensors):
        stated = pt2_writer.meta(tensors[0])
        for d, values in enumerate(zip(*(t.shape for t in tensors))):
            size = self.describe(list(values))
            if isinstance(size, str):
                stated["sizes"][d] = {"as_expr": {"expr_str": size, "hint": None}}
        return stated

    # -- Values --------------------------------------------------------------

    def add(self, name, tensors):
        if self.is_written:
            self.tensor_values[name] = self.meta(tensors)
        return Value(name, tensors)

    def name(self, base):
        self.count += 1
        return f"{base.replace('.', '_')}_{self.count}"

    def input(self, name, shape, make=torch.randn):
        """An input, of the extents `shape`, where symbols are their names. `make`:
        the tensor of a shape."""
        tensors = [make(*[point.get(n, n) for n in shape]) for point in self.points]
        self.input_specs.append({"user_input": {"arg": {"as_tensor": {"name": name}}}})
        self.graph_inputs.append({"as_tensor": {"name": name}})
        self.inputs[name] = tensors
        return self.add(name, tensors)

    def parameter(self, *shape):
        name = self.name("p_weight")
        torch.manual_seed(self.count)
        tensor = torch.randn(*shape) / max(1, shape[-1]) ** 0.5
        self.weights[name] = tensor
        self.input_specs.insert(len(self.weights) - 1, {
            "parameter": {"arg": {"name": name}, "parameter_name": name}})
        self.graph_inputs.insert(len(self.weights) - 1, {"as_tensor": {"name": name}})
        return self.add(name, [tensor] * len(self.points))

    def size(self, value, dim):
        """An extent of a tensor."""
        name = self.name("sym_size_int")
        self.add_node("torch.ops.aten.sym_size.int",
                      [("self", self.argument(value)), ("dim", {"as_int": dim})],
                      [{"as_sym_int": {"as_name": name}}], name)
        return Size(self, name, [t.shape[dim] for t in value.tensors])

    def add_size(self, target, arguments, values):
        name = self.name("size")
        self.add_node(target, [("ab"[i], self.argument(a))
                               for i, a in enumerate(arguments)],
                      [{"as_sym_int": {"as_name": name}}], name)
        return Size(self, name, values)

    # -- Nodes ---------------------------------------------------------------

    @staticmethod
    def argument(value):
        if isinstance(value, Size):
            return {"as_sym_int": {"as_name": value.name}}
        if isinstance(value, list) and any(isinstance(v, Size) for v in value):
            return {"as_sym_ints": [{"as_name": v.name} if isinstance(v, Size)
                                    else {"as_int": v} for v in value]}
        return pt2_writer.argument(
            value, lambda own: own.name if isinstance(own, Value) else None)

    def add_node(self, target, inputs, outputs, name):
        self.nodes.append({
            "target": target, "outputs": outputs, "metadata": {}, "name": name,
            "is_hop_single_tensor_return": None,
            "inputs": [{"name": n, "arg": a, "kind": 1} for n, a in inputs]})

    def __call__(self, operator, *args, compute=None, **kwargs):
        """Calls an operator, such as "add.Tensor"; `compute` is a function that does the
        same, of what this PyTorch lacks. Returns its results."""
        if compute is None:
            overload = torch.ops.aten
            for part in (operator if "." in operator
                         else operator + ".default").split("."):
                overload = getattr(overload, part)
            compute = overload
            stated = dict(zip([a.name for a in overload._schema.arguments], args))
            stated.update(kwargs)
        else:
            stated = kwargs
        runs = []
        for i in range(len(self.points)):
            with torch.no_grad():
                runs.append(compute(*[at(a, i) for a in args],
                                    **{k: at(a, i) for k, a in kwargs.items()}))
        name = self.name(operator)
        many = not isinstance(runs[0], torch.Tensor)
        columns = list(zip(*runs)) if many else [runs]
        values = [self.add(f"{name}_{i}" if many else name, list(column))
                  for i, column in enumerate(columns)]
        self.add_node("torch.ops.aten." + operator,
                      [(n, self.argument(a)) for n, a in stated.items()],
                      [{"as_tensor": {"name": v.name}} for v in values], name)
        return values if many else values[0]

    def save(self, path, *results):
        """Writes the archive with these results. Returns their names."""
        program = {
            "graph_module": {
                "graph": {
                    "inputs": self.graph_inputs,
                    "outputs": [{"as_tensor": {"name": v.name}} for v in results],
                    "nodes": self.nodes, "tensor_values": self.tensor_values,
                    "sym_int_values": {}, "sym_bool_values": {},
                    "is_single_tensor_return": False, "custom_obj_values": {},
                    "sym_float_values": {}},
                "signature": {
                    "input_specs": self.input_specs,
                    "output_specs": [
                        {"user_output": {"arg": {"as_tensor": {"name": v.name}}}}
                        for v in results]},
                "module_call_graph": [], "metadata": {},
                "treespec_namedtuple_fields": {}},
            "opset_version": {"aten": 10},
            "range_constraints": {name: {"min_val": low, "max_val": high}
                                  for name, (low, high) in self.ranges.items()},
            "schema_version": pt2_writer.VERSION, "verifiers": ["ATEN"],
            "torch_version": "2.8.0", "guards_code": []}
        pt2_writer.save(path, json.loads(json.dumps(program)), self.weights, {})
        return [v.name for v in results]


def at(value, point):
    """What an argument is at a point."""
    if isinstance(value, Size):
        return value.values[point]
    if isinstance(value, Value):
        return value.tensors[point]
    if isinstance(value, (list, tuple)):
        return [at(v, point) for v in value]
    return value

"""Random TorchScript modules whose tensors share memory, for torchscript_fuzz.py.

A program makes views, writes them in place, in branches and loops that depend on
inputs, keeps tensors in lists, dictionaries, tuples and attributes, and returns
some of all that. Shapes are known to the generator; whether PyTorch executes a
program at all (it refuses writes to expanded tensors, for example) shows when it
does.
"""

import random

HEADER = """
from typing import Dict, List, Tuple
import torch
from torch import Tensor


class Program(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.arange(12.0).reshape(3, 4) * 0.5)
        self.register_buffer("b", torch.zeros(2, 3))
        self.register_buffer("c", torch.ones(3))

    def forward(self, x: Tensor, p: Tensor, q: Tensor, i: Tensor, n: Tensor):
"""

# Attributes that a program may set, and their shapes.
ATTRIBUTES = {"a": (3, 4), "b": (2, 3), "c": (3,)}
# p, q: bools; i: an index, 0 to 2; n: how often a loop runs, 0 to 3.
INPUT_SHAPE = (3, 4)


def count(shape):
    total = 1
    for extent in shape:
        total *= extent
    return total


class Scope:
    """The variables that are known in a block."""

    def __init__(self, outer=None):
        self.tensors = dict(outer.tensors) if outer else {}
        self.lists = dict(outer.lists) if outer else {}
        self.dicts = dict(outer.dicts) if outer else {}
        self.depth = outer.depth + 1 if outer else 0
        self.loops = outer.loops if outer else 0
        # In a loop whose trip count is known when the model is compiled, or in none.
        self.is_straight = outer.is_straight if outer else True


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.number = 0

    def emit(self, scope, text):
        self.lines.append("    " * (scope.depth + 2) + text)

    def name(self, prefix):
        self.number += 1
        return f"{prefix}{self.number}"

    def chance(self, probability):
        return self.random.random() < probability

    # -- Expressions -------------------------------------------------------

    def pick(self, scope, shape=None):
        """The name and the shape of a tensor."""
        all_ = [(name, own) for name, own in scope.tensors.items()
                if shape is None or own == shape]
        all_ += [(f"self.{name}", own) for name, own in ATTRIBUTES.items()
                 if shape is None or own == shape]
        return self.random.choice(all_) if all_ else None

    def index(self, extent, name="i"):
        """A number below `extent`, which is computed or known."""
        if extent >= 3 and self.chance(0.25):
            return f"int({name})"
        number = self.random.randrange(extent)
        return str(number - extent if self.chance(0.2) else number)

    def view(self, scope, source=None):
        """An expression of a view of a tensor, and its shape."""
        name, shape = source or self.pick(scope)
        rank = len(shape)
        kinds = ["reshape", "view", "unsqueeze", "same", "flatten"]
        if rank:
            kinds += ["select", "item", "slice", "narrow", "split", "unbind",
                      "select", "item", "slice", "chunk"]
        if rank >= 2:
            kinds += ["transpose", "t", "diagonal", "permute"]
        if rank and 1 in shape:
            kinds += ["squeeze", "expand"]
        kinds += ["strided"] if self.chance(0.3) else []
        kind = self.random.choice(kinds)
        axis = self.random.randrange(rank) if rank else 0
        extent = shape[axis] if rank else 1
        without = shape[:axis] + shape[axis + 1:]

        def resized(size):
            return shape[:axis] + (size,) + shape[axis + 1:]
        if kind == "same":
            form = self.random.choice(["{}.detach()", "{}", "{}.view_as({})",
                                       "{}.contiguous()"])
            return form.format(name, name), shape
        if kind == "select":
            return f"{name}.select({axis}, {self.index(extent)})", without
        if kind == "item":
            return f"{name}[{self.index(shape[0])}]", shape[1:]
        if kind == "slice":
            start = self.random.randrange(extent)
            end = self.random.randint(start + 1, extent)
            step = self.random.choice([1, 1, 1, 2])
            dots = "..., " if axis == rank - 1 and rank > 1 else ":, " * axis
            size = (end - start + step - 1) // step
            text = f"{start}:{end}" + (f":{step}" if step > 1 else "")
            return f"{name}[{dots}{text}]", resized(size)
        if kind == "narrow":
            size = self.random.randint(1, extent)
            start = self.random.randint(0, extent - size)
            return f"{name}.narrow({axis}, {start}, {size})", resized(size)
        if kind == "split":
            size = self.random.randint(1, extent)
            parts = -(-extent // size)
            part = self.random.randrange(parts)
            return (f"{name}.split({size}, {axis})[{part}]",
                    resized(min(size, extent - part * size)))
        if kind == "chunk":
            return (f"{name}.chunk(2, {axis})[0]", resized(-(-extent // 2)))
        if kind == "unbind":
            return (f"{name}.unbind({axis})[{self.random.randrange(extent)}]",
                    without)
        if kind == "transpose":
            other = self.random.randrange(rank)
            swapped = list(shape)
            swapped[axis], swapped[other] = swapped[other], swapped[axis]
            return f"{name}.transpose({axis}, {other})", tuple(swapped)
        if kind == "t" and rank == 2:
            return f"{name}.t()", shape[::-1]
        if kind == "permute":
            order = list(range(rank))
            self.random.shuffle(order)
            return (f"{name}.permute({', '.join(map(str, order))})",
                    tuple(shape[k] for k in order))
        if kind == "diagonal":
            return (f"{name}.diagonal(0, 0, 1)",
                    shape[2:] + (min(shape[0], shape[1]),))
        if kind == "squeeze":
            axis = self.random.choice([k for k in range(rank) if shape[k] == 1])
            return f"{name}.squeeze({axis})", shape[:axis] + shape[axis + 1:]
        if kind == "expand":
            wider = tuple(2 if extent == 1 and self.chance(0.5) else extent
                          for extent in shape)
            return f"{name}.expand({', '.join(map(str, wider))})", wider
        if kind == "strided" and count(shape) >= 4:
            return f"{name}.as_strided([2, 2], [2, 1], 0)", (2, 2)
        if kind == "unsqueeze" and rank < 4:
            axis = self.random.randint(0, rank)
            return f"{name}.unsqueeze({axis})", shape[:axis] + (1,) + shape[axis:]
        if kind == "flatten":
            return f"{name}.flatten()", (count(shape),)
        total = count(shape)
        shapes = [(total,)]
        shapes += [(k, total // k) for k in (2, 3) if total % k == 0]
        wanted = self.random.choice(shapes)
        operator = "view" if kind == "view" else "reshape"
        return f"{name}.{operator}({', '.join(map(str, wanted))})", wanted

    def fresh(self, scope, shape):
        """An expression of a tensor with memory of its own."""
        number = round(self.random.uniform(-2, 2), 2)
        text = ", ".join(map(str, shape))
        found = self.pick(scope, shape)
        if found and self.chance(0.8):
            form = self.random.choice(["{}.clone()", "{} * {n}", "{} + {n}",
                                       "{}.abs() + {n}", "({} - {n})"])
            return form.format(found[0], n=number)
        if self.chance(0.5):
            return f"torch.full([{text}], {number})"
        return f"torch.zeros([{text}]) + x.mean()"

    def value(self, scope, shape):
        """An expression of any tensor of `shape`: a variable, a view or another."""
        for _ in range(6):
            if self.chance(0.7):
                text, own = self.view(scope)
                if own == shape:
                    return text
        found = self.pick(scope, shape)
        if found and self.chance(0.4):
            return found[0]
        return self.fresh(scope, shape)

    # -- Statements --------------------------------------------------------

    def write(self, scope):
        name, shape = self.pick(scope)
        if self.chance(0.35):
            name, shape = self.view(scope, (name, shape))
        number = round(self.random.uniform(-2, 2), 2)
        forms = ["{}.add_({n})", "{}.mul_({n})", "{}.copy_({v})", "{}.add_({v})",
                 "{}.fill_({n})", "{}.zero_()", "{}.copy_({v})"]
        form = self.random.choice(forms)
        value = self.fresh(scope, shape)
        if shape and "[" not in name and "(" not in name and self.chance(0.2):
            part = self.fresh(scope, shape[1:])
            self.emit(scope, f"{name}[{self.index(shape[0])}] = {part}")
            return
        self.emit(scope, form.format(name, n=number, v=value))

    def define(self, scope):
        name = self.name("v")
        if self.chance(0.7):
            text, shape = self.view(scope)
        else:
            shape = self.random.choice([(3, 4), (2, 3), (3,), (4,)])
            text = self.fresh(scope, shape)
        self.emit(scope, f"{name} = {text}")
        scope.tensors[name] = shape

    def assign(self, scope):
        """Another value for a variable that is known, of its shape."""
        if not scope.tensors:
            return
        name, shape = self.random.choice(list(scope.tensors.items()))
        if name == "x":
            return
        self.emit(scope, f"{name} = {self.value(scope, shape)}")

    def set_attribute(self, scope):
        if scope.loops and self.chance(0.8):
            return  # a loop that is a node sets none
        name, shape = self.random.choice(list(ATTRIBUTES.items()))
        value = self.fresh(scope, shape)
        if self.chance(0.4):
            value = self.value(scope, shape)
        self.emit(scope, f"self.{name} = {value}")

    def use_list(self, scope):
        if not scope.lists or self.chance(0.3):
            name = self.name("l")
            shapes = [self.pick(scope)[1] for _ in range(2)]
            values = ", ".join(self.value(scope, shape) for shape in shapes)
            self.emit(scope, f"{name} = [{values}]")
            scope.lists[name] = shapes
            return
        name, shapes = self.random.choice(list(scope.lists.items()))
        index = self.random.randrange(len(shapes))
        kind = self.random.randrange(5)
        if kind == 0 and not scope.loops:
            self.emit(scope, f"{name}[{index}] = "
                      f"{self.value(scope, shapes[index])}")
        elif kind == 1:
            own = self.name("v")
            self.emit(scope, f"{own} = {name}[{index}]")
            scope.tensors[own] = shapes[index]
        elif kind == 2:
            self.emit(scope, f"{name}[{index}].add_(1.5)")
        elif kind == 3 and scope.depth == 0:
            other = self.name("l")
            self.emit(scope, f"{other} = {name}")
            scope.lists[other] = shapes
        elif kind == 4 and scope.depth == 0:
            # Another name of the list is as long as it.
            value, shape = self.view(scope)
            self.emit(scope, f"{name}.append({value})")
            shapes.append(shape)

    def use_dict(self, scope):
        if not scope.dicts or self.chance(0.3):
            name = self.name("d")
            shapes = {key: self.pick(scope)[1] for key in "st"}
            values = ", ".join(f'"{key}": {self.value(scope, shape)}'
                               for key, shape in shapes.items())
            self.emit(scope, f"{name} = {{{values}}}")
            scope.dicts[name] = shapes
            return
        name, shapes = self.random.choice(list(scope.dicts.items()))
        key = self.random.choice("st")
        kind = self.random.randrange(3)
        if kind == 0 and not scope.loops:
            self.emit(scope, f'{name}["{key}"] = '
                      f'{self.value(scope, shapes[key])}')
        elif kind == 1:
            own = self.name("v")
            self.emit(scope, f'{own} = {name}["{key}"]')
            scope.tensors[own] = shapes[key]
        else:
            self.emit(scope, f'{name}["{key}"].mul_(0.5)')

    def use_tuple(self, scope):
        names = [self.name("v"), self.name("v")]
        shapes = [self.pick(scope)[1] for _ in names]
        values = [self.value(scope, shape) for shape in shapes]
        own = self.name("t")
        self.emit(scope, f"{own} = ({', '.join(values)})")
        self.emit(scope, f"{', '.join(names)} = {own}")
        scope.tensors.update(zip(names, shapes))

    def reshape_in_place(self, scope):
        """Only in a straight line: behind a branch the shape is one."""
        if scope.depth or not scope.tensors:
            return
        name, shape = self.random.choice(list(scope.tensors.items()))
        if name == "x":
            return
        # Another variable may be the same tensor: its shape would change, too.
        own = self.name("v")
        self.emit(scope, f"{own} = {name}.view_as({name})")
        if len(shape) == 2 and self.chance(0.6):
            self.emit(scope, f"{own}.t_()")
            scope.tensors[own] = shape[::-1]
        else:
            self.emit(scope, f"{own}.unsqueeze_(0)")
            scope.tensors[own] = (1,) + shape

    def condition(self, scope):
        if self.chance(0.6):
            return self.random.choice(["bool(p)", "bool(q)", "int(i) > 1",
                                       "not bool(p)"])
        name, _ = self.pick(scope)
        return f"bool({name}.sum() > {round(self.random.uniform(-3, 9), 1)})"

    def branch(self, scope):
        self.emit(scope, f"if {self.condition(scope)}:")
        # Variables that both sides define are known behind them.
        shape = self.random.choice([(3,), (4,), (3, 4), (2, 3)])
        name = self.name("v") if self.chance(0.6) else None
        for side in range(2):
            inner = Scope(scope)
            start = len(self.lines)
            self.block(inner, self.random.randint(0, 3))
            if name:
                self.emit(inner, f"{name} = {self.value(inner, shape)}")
            if len(self.lines) == start:
                if side:
                    self.emit(inner, "pass")
                else:
                    self.write(inner)
            if side == 0:
                self.emit(scope, "else:")
        if name:
            scope.tensors[name] = shape

    def loop(self, scope):
        number = self.name("k")
        kind = self.random.randrange(4)
        inner = Scope(scope)
        inner.loops += 1
        if kind == 0:
            self.emit(scope, f"for {number} in range(2):")
        elif kind == 1:
            self.emit(scope, f"for {number} in range(int(n)):")
        else:
            condition = self.condition(scope)
            self.emit(scope, f"{number} = 0")
            self.emit(scope, f"while {number} < 3 and {condition}:")
        self.block(inner, self.random.randint(1, 3))
        if kind > 1:
            self.emit(inner, f"{number} += 1")
        else:
            self.emit(inner, f"x = x + 0.5")

    def long_loop(self, scope):
        """So many iterations that they are imported once, which append to a list."""
        rows, made, number = self.name("l"), self.name("l"), self.name("k")
        source, shape = self.pick(scope, self.random.choice([(3, 4), (2, 3)]))
        axis = self.random.randrange(2)
        self.emit(scope, f"{rows} = list({source}.unbind({axis}))")
        element = shape[1 - axis:2 - axis]
        self.emit(scope, f"{made}: List[Tensor] = []")
        inner = Scope(scope)
        inner.loops += 1
        inner.lists = {}
        self.emit(scope, f"for {number} in range(40):")
        name = self.name("v")
        self.emit(inner, f"{name} = {rows}[{number} % {shape[axis]}]")
        inner.tensors[name] = element
        self.emit(inner, "x = x * 0.5 + 0.25")
        self.block(inner, self.random.randint(1, 3))
        kept, own = self.random.choice(
            [item for item in inner.tensors.items() if item[1] != ()])
        value = self.random.choice([kept, f"{kept} * 0.5", f"{kept}.clone()"])
        self.emit(inner, f"{made}.append({value})")
        if self.chance(0.3):
            self.emit(inner, f"{name}.mul_(0.9)")
        scope.lists[rows] = [element] * shape[axis]
        scope.lists[made] = [own] * 40
        result = self.name("v")
        dim = self.random.randint(0, len(own))
        self.emit(scope, f"{result} = torch.stack({made}, {dim})")
        scope.tensors[result] = own[:dim] + (40,) + own[dim:]

    def block(self, scope, length):
        statements = [(self.define, 4), (self.write, 5), (self.assign, 3),
                      (self.use_list, 2), (self.use_dict, 1),
                      (self.use_tuple, 1), (self.set_attribute, 1),
                      (self.reshape_in_place, 0.5)]
        if scope.depth < 2:
            statements.append((self.branch, 3))
        if scope.depth < 2 and scope.loops == 0:
            statements.append((self.loop, 1.2))
        if scope.depth == 0:
            statements.append((self.long_loop, 0.4))
        for _ in range(length):
            functions, weights = zip(*statements)
            self.random.choices(functions, weights)[0](scope)

    def generate(self):
        scope = Scope()
        scope.tensors["x"] = INPUT_SHAPE
        self.emit(scope, "y = x.clone()")
        scope.tensors["y"] = INPUT_SHAPE
        self.block(scope, self.random.randint(4, 9))
        results = list(scope.tensors)
        self.random.shuffle(results)
        results = ["y"] + [name for name in results if name != "y"][:3]
        results += [f"{name}[0]" for name in list(scope.lists)[:1]]
        results += [f'{name}["s"]' for name in list(scope.dicts)[:1]]
        results += [f"self.{name} * 1" for name in ATTRIBUTES if self.chance(0.5)]
        self.emit(scope, f"return ({', '.join(results)},)")
        return HEADER + "\n".join(self.lines) + "\n"


def generate(seed):
    """The source of a module called Program."""
    return Generator(seed).generate()

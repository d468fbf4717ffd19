#!/usr/bin/python3
"""aten_arguments.py [--all [--every N]] [-v] [OPERATOR...]: each overload of ATen that has a
translation, with all kinds of arguments, against PyTorch.

The functions in aten_cases_*.py yield arguments for each overload that `model-compiler
-list-operators=aten` lists: all element kinds and pairs of them, NaN, infinities, ties,
empty extents and those of 1, negative dimensions, what is left out. They are called in

- exported programs (.pt2),
- TorchScript,
- TorchScript, in place, where PyTorch has the operator so,
- TorchScript on tensors whose dimensions are in reverse order in memory, and with
  the strides of the results,

of many calls each, on both back ends. Results are PyTorch's: integers bit by bit, floats
to what TOLERANCES states (and aten_cases.py, for sums), NaN and infinities where they
are; zeros of both signs are equal. What this PyTorch doesn't have is compared with a
definition beside the cases.

What is refused is listed in aten_refused.py, with a part of each message, and why; so
are overloads without cases. An overload that has neither cases nor a reason is an error,
and so is a reason that nothing needs (with --all).

Without --all a few of the cases of each overload run; with --every only each N-th one.
OPERATOR: regular expressions of
overloads; only these, with all of their cases. -v: also what is wrong or refused as
it comes, and what PyTorch refuses.
$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if something is wrong,
77 without PyTorch."""

import argparse
import collections
import functools
import os
import pickle
import re
import sys
import tempfile
import traceback

from pytorch_or_skip import torch
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

import aten_cases  # noqa: E402
import aten_programs  # noqa: E402
import aten_refused  # noqa: E402
from comparison import Tolerance, describe_difference, report  # noqa: E402
from model_runs import BACKENDS, BIN, Outputs, Run, glowish, run_tool  # noqa: E402

# Of one element: relative, and a tenth of it relative to the largest magnitude up to 1.
TOLERANCES = {torch.float32: 2e-6, torch.float64: 1e-12, torch.float16: 2e-3,
              torch.bfloat16: 1.6e-2}
HALVES = (torch.float16, torch.bfloat16)
NAMES = {torch.float32: "float", torch.float64: "double"}
FORMS = ["pt2", "script", "in place", "turned"]
# Calls in a program, and cases of an overload without --all.
MOST_CALLS, FEW_CASES = 100, 4
ERRORS = (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError,
          ZeroDivisionError)


def read_schemas():
    """The overloads that have a translation, with their schemas."""
    code, text = run_tool("model-compiler", "-list-operators=aten")
    assert code == 0, text
    schemas = {}
    for line in re.findall(r"^- `(.*)`$", text, re.M):
        name = line.split("(")[0]
        schemas[name] = torch._C.parse_schema(line if "::" in name else "aten::" + line)
    return schemas


# --------------------------------------------------------------------------
# What PyTorch computes
# --------------------------------------------------------------------------


def find_operator(op, suffix=""):
    space, _, name = op.rpartition("::")
    name, _, overload = name.partition(".")
    try:
        packet = getattr(getattr(torch.ops, space or "aten"), name + suffix)
        return getattr(packet, overload or "default")._op
    except (AttributeError, RuntimeError):
        return None


@functools.cache
def find_script_schema(op):
    """The schema of an overload in TorchScript of this PyTorch, whose defaults are not
    always those of the translation's; None if it has no such overload."""
    name, _, overload = (op if "::" in op else "aten::" + op).partition(".")
    return next((schema for schema in torch._C._jit_get_schemas_for_operator(name)
                 if schema.overload_name == overload), None)


def is_scriptable(case):
    """Whether TorchScript of this PyTorch has a call."""
    schema = find_script_schema(case.op)
    if schema is None:
        return False
    types = {a.name: str(a.type) for a in schema.arguments}
    # It has no bool where a number is wanted.
    return all(name in types and not ("number" in types[name] and
                                      isinstance(value, bool))
               for name, value in case.arguments.items())


def convert_tensors(value, convert):
    if isinstance(value, torch.Tensor):
        return convert(value)
    if isinstance(value, dict):
        return {k: convert_tensors(v, convert) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(convert_tensors(v, convert) for v in value)
    return value


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for own in value for tensor in tensors_in(own)]
    return []


def turn(tensor):
    """The same with its dimensions in reverse order in memory."""
    if tensor.dim() < 2:
        return tensor.clone()
    order = list(range(tensor.dim()))[::-1]
    return tensor.permute(order).contiguous().permute(order)


def evaluate(case, form):
    """What PyTorch returns, or why it returns nothing."""
    function = case.reference or find_operator(case.op)
    if form == "in place":
        function = find_operator(case.op, "_") if not case.reference else None
    if function is None:
        return None, "there is no such operator"
    convert = turn if form == "turned" else torch.clone

    def call(convert):
        with torch.no_grad():
            return function(**convert_tensors(case.arguments, convert))
    try:
        return call(convert), ""
    except ERRORS as error:
        text = str(error).split("\n")[0]
    halves = [t for t in tensors_in(case.arguments) if t.dtype in HALVES]
    if halves and not case.reference and form != "in place" and re.search(
            "not implemented for|not supported", text):
        # This PyTorch has no half precision of it: in float.
        kind = torch.result_type(halves[0], halves[-1])
        try:
            result = call(lambda t: convert(t.float() if t.dtype in HALVES else t))
            return convert_tensors(result, lambda t: t.to(kind) if t.dtype ==
                                   torch.float32 else t), ""
        except ERRORS as error:
            text = str(error).split("\n")[0]
    return None, text


# --------------------------------------------------------------------------
# Running programs
# --------------------------------------------------------------------------


def to_array(tensor):
    tensor = tensor.contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(np.uint16)
    return tensor.numpy()


def describe_run(path, backend, inputs):
    """A run whose inputs have types that those of their arrays do not state."""
    types = []
    for name, tensor in inputs.items():
        kind = NAMES.get(tensor.dtype, str(tensor.dtype).replace("torch.", ""))
        types.append(f"-model-input={name},{kind},[{','.join(map(str, tensor.shape))}]")
    return Run([path], {name: to_array(t) for name, t in inputs.items()}, backend, types,
               {name for name, t in inputs.items() if t.dtype == torch.bfloat16})


def start(run):
    """Starts a program in a process of its own, whose results finish() has."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    os.close(reader)
    try:
        types = [option.partition("=")[2] for option in run.options]
        model = glowish.load(run.paths[0], backend=run.backend, model_input=types)
        result = model.run(run.inputs)
    except glowish.Error as error:
        result = str(error)
    except BaseException:  # of this test
        result = "crash: " + traceback.format_exc()
    with os.fdopen(writer, "wb") as file:
        pickle.dump(result, file)
    os._exit(0)


def finish(child, reader):
    """{output: array}, a message, or that of a crash."""
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(data) if status == 0 and data else f"crash: status {status}"


def run_backends(path, inputs):
    """By back end: outputs, or a message."""
    runs = [describe_run(path, backend, inputs) for backend in BACKENDS]
    results = [finish(*child) for child in [start(run) for run in runs]]
    return {run.backend: result if isinstance(result, str) else Outputs(result, run)
            for run, result in zip(runs, results)}


def as_tensor(value):
    kinds = {bool: torch.bool, int: torch.int64, float: torch.float64}
    return value.detach() if isinstance(value, torch.Tensor) else \
        torch.tensor(value, dtype=kinds[type(value)])


def get_tolerance(expected, slack):
    share = slack * TOLERANCES.get(expected.dtype, 0)
    finite = expected.double().abs()[expected.double().isfinite()]
    largest = min(1.0, float(finite.max()) if finite.numel() else 0)
    return Tolerance(relative=share, absolute=0.1 * share * largest)


def differs(array, expected, slack):
    """What is wrong with an array; empty if nothing is."""
    expected = as_tensor(expected).resolve_conj().resolve_neg()
    tolerance = get_tolerance(expected, slack)
    if expected.dtype != torch.bfloat16:
        return describe_difference(np.asarray(array), expected.numpy(), tolerance)
    if array.dtype != np.uint16:
        return f"{array.dtype}, not the bits of bfloat16"
    actual = torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return describe_difference(actual.float().numpy(), expected.float().numpy(), tolerance)


class Runner:
    """Runs calls of one form, and keeps what came of them."""

    def __init__(self, schemas, work, is_verbose):
        self.schemas, self.work, self.is_verbose = schemas, work, is_verbose
        self.right = collections.Counter()
        # {overload: [(form, case, problem)]}
        self.wrong = collections.defaultdict(list)
        self.refused = collections.defaultdict(list)
        # Overloads with results whose strides are not known.
        self.without_strides = set(aten_refused.STRIDES)

    def run(self, form, calls):
        """Runs all calls in one program; without those that are refused, or in halves,
        if it is."""
        if not calls:
            return
        for call in calls:
            call.asks_strides &= call.case.op not in self.without_strides
        try:
            path, inputs, outputs = self.write(form, calls)
            results = run_backends(path, inputs)
        except ERRORS as error:  # of PyTorch
            results = {"": f"crash: {str(error).strip()[:400]}"}
        messages = [r for r in results.values() if isinstance(r, str)]
        if not messages:
            for backend, arrays in results.items():
                self.compare(f"{form}, {backend}", outputs, arrays)
            return
        culprit = re.search(r"node '?c(\d+)'? ", messages[0])
        number = int(culprit[1]) if culprit else None
        known = [c for c in calls if c.number == number]
        if len(calls) == 1 or known:
            call = known[0] if known else calls[0]
            if call.asks_strides and re.search("strides? .*not known", messages[0]):
                self.without_strides.add(call.case.op)
                self.run(form, calls)
                return
            self.note_message(form, call, messages[0])
            self.run(form, [c for c in calls if c is not call])
            return
        middle = len(calls) // 2
        self.run(form, calls[:middle])
        self.run(form, calls[middle:])

    def write(self, form, calls):
        if form == "pt2":
            path = os.path.join(self.work, "calls.pt2")
            return path, *aten_programs.write_exported(path, calls, self.schemas)
        path = os.path.join(self.work, "calls.pt")
        schemas = {c.case.op: find_script_schema(c.case.op) for c in calls}
        return path, *aten_programs.write_script(path, calls, schemas, form)

    def note_message(self, form, call, message):
        if message.startswith("crash"):
            self.note(self.wrong, form, call.case, message)
        else:
            self.note(self.refused, form, call.case, message)

    def note(self, kind, form, case, message):
        kind[case.op].append((form, case, message))
        if self.is_verbose:
            print(f"{case.op}: {form}: {case.describe()}: {message}", flush=True)

    def compare(self, form, outputs, arrays):
        problems, calls, wrong = {}, {}, {}
        for name, (call, i, k) in outputs.items():
            expected = call.results[i][k] if k >= 0 else \
                call.results[i][0].stride()[-1 - k]
            what = f"result {i}: " if k >= 0 else f"stride {-1 - k} of result {i}: "
            problem = differs(arrays[name], expected, call.case.slack) \
                if name in arrays else "there is no such output"
            calls[call.number] = call
            if problem:
                problems.setdefault(call.number, what + problem)
            if problem and name in arrays:
                wrong[name] = problem, as_tensor(expected), call.case.slack
        if wrong:
            self.keep(arrays, wrong)
        for number, call in calls.items():
            if number in problems:
                self.note(self.wrong, form, call.case, problems[number])
            else:
                self.right[call.case.op] += 1


    @staticmethod
    def keep(arrays, wrong):
        """Names the archive of a program with wrong outputs."""
        arrays.run.bfloats |= {name for name, (_, value, _) in wrong.items()
                               if value.dtype == torch.bfloat16}
        text = report(arrays, {name: to_array(value) for name, (_, value, _) in wrong.items()},
                      {name: problem for name, (problem, _, _) in wrong.items()},
                      min((get_tolerance(*own) for _, *own in wrong.values()),
                          key=lambda tolerance: tolerance.relative))
        print(text, flush=True)


# --------------------------------------------------------------------------
# All cases
# --------------------------------------------------------------------------


def choose(cases, is_all, every):
    """All, each of a number, or some from the first to the last one."""
    if is_all or len(cases) <= FEW_CASES:
        return cases[::every]
    return [cases[i * (len(cases) - 1) // (FEW_CASES - 1)] for i in range(FEW_CASES)]


class Pending:
    """Calls of one form that wait for a program to be in."""

    def __init__(self, form, runner):
        self.form, self.runner, self.calls = form, runner, []

    def add(self, call):
        self.calls.append(call)
        if len(self.calls) == MOST_CALLS:
            self.flush()

    def flush(self):
        self.runner.run(self.form, self.calls)
        self.calls = []


def forms_of(case, position, is_all):
    """The forms that a case is called in: with --all some of them for some cases."""
    for i, form in enumerate(FORMS):
        is_few = form in ("in place", "turned")
        if ("pt2" if form == "pt2" else "script") in case.without or \
                form != "pt2" and not is_scriptable(case):
            continue
        if not is_few or is_all and position % 5 == i:
            yield form
        elif is_few and not is_all and position == 1:
            yield form


def run_all(schemas, wanted, is_all, every, runner):
    """Runs the cases of some overloads: what PyTorch refuses, by overload."""
    pending = {form: Pending(form, runner) for form in FORMS}
    declined = collections.defaultdict(collections.Counter)
    number = 0
    for op in wanted:
        cases = choose(list(aten_cases.generate(op)), is_all, every)
        for position, case in enumerate(cases):
            for form in forms_of(case, position, is_all):
                result, error = evaluate(case, form)
                if error and form in ("pt2", "script"):
                    declined[op][error] += 1
                if error:
                    continue
                pending[form].add(aten_programs.Call(number, case, result))
                number += 1
    for form in pending.values():
        form.flush()
    return declined


def check_refusals(runner, op, is_all):
    """What is refused without being listed, and what is listed and isn't refused."""
    patterns = {pattern: 0 for pattern in aten_refused.REFUSED.get(op, {})}
    for form, case, message in runner.refused.get(op, []):
        own = [p for p in patterns if re.search(p, message)]
        for pattern in own:
            patterns[pattern] += 1
        if not own:
            yield f"{form}: {case.describe()} is refused: {message}"
    for pattern, count in patterns.items():
        if is_all and count == 0:
            yield f"nothing is refused with {pattern!r}, which aten_refused.py lists"
    if is_all and not runner.right[op] and op in aten_cases.GENERATORS:
        yield "no case was compared"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(BIN, "../lib/glowish/libglowish-torch.so")):
        FORMS[1:] = []
        print("TorchScript is left out: this build does not read it")
    if glowish is None:
        print("skipped: the Python module is not built (scripts/install-deps.sh "
              "--python)")
        return 77
    torch.set_num_threads(1)
    aten_cases.load()
    schemas = read_schemas()
    is_all = arguments.all or bool(arguments.operators)
    wanted = [op for op in schemas if not arguments.operators or
              any(re.fullmatch(p, op) for p in arguments.operators)]
    problems = collections.defaultdict(list)
    for op in wanted:
        if (op in aten_cases.GENERATORS) == (op in aten_refused.NO_CASES):
            problems[op].append("it has cases and a reason for having none"
                                if op in aten_cases.GENERATORS else
                                "it has neither cases (aten_cases_*.py) nor a reason "
                                "for having none (aten_refused.py)")
    for op in [*aten_cases.GENERATORS, *aten_refused.NO_CASES, *aten_refused.REFUSED]:
        if op not in schemas:
            problems[op].append("it is no overload with a translation")
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(schemas, work, arguments.v)
        declined = run_all(schemas, wanted, is_all, arguments.every, runner)
    for op in wanted:
        problems[op] += [f"{form}: {case.describe()}: {problem}"
                         for form, case, problem in runner.wrong.get(op, [])]
        problems[op] += check_refusals(runner, op, is_all and arguments.every == 1)
        if op in runner.without_strides and op not in aten_refused.STRIDES:
            problems[op].append("the strides of its results are not known, and "
                                "aten_refused.py doesn't list it")
    for op, own in sorted(problems.items()):
        for problem in own[:4]:
            print(f"{op}: {problem}")
        if len(own) > 4:
            print(f"{op}: {len(own) - 4} more")
    if arguments.v:
        for op, texts in declined.items():
            for text, count in texts.items():
                print(f"PyTorch refuses {count} of {op}: {text}")
        print("strides are not known of", *sorted(runner.without_strides))
    wrong = [op for op, own in problems.items() if own]
    print(f"{len(wanted)} overloads, {sum(op in aten_cases.GENERATORS for op in wanted)} "
          f"with cases: {sum(runner.right.values())} calls are right, "
          f"{sum(map(len, runner.refused.values()))} refused, strides of "
          f"{len(runner.without_strides)} overloads are not known, "
          f"{len(wrong)} overloads are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

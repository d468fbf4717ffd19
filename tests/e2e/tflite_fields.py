#!/usr/bin/python3
"""tflite_fields.py [--verbose]: Fields of TensorFlow Lite files change something.

Of the models of the test data ($GLOWISH_TEST_DATA, default ../shared/data) that
are small, each field of the schema (lib/Importer/TFLite/tflite.fbs) that is not
marked as ignored is set to another value: fields of the options of operators,
and of all other tables. The import must fail then or give another graph, for one
model and one value at least; what is set and changes nothing is a field that
nothing reads. A field that is marked as ignored must change nothing. Of options
that no model has, the sources must read each field.
--verbose: prints what each field did. $GLOWISH_BIN: the programs (default
build/release/bin). Exits 1 if a field changes nothing, 77 without data or flatc."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.abspath(os.environ.get("GLOWISH_TEST_DATA",
                                      os.path.join(ROOT, "../shared/data")))
BIN = os.path.abspath(os.environ.get("GLOWISH_BIN",
                                     os.path.join(ROOT, "build/release/bin")))
SCHEMA = os.path.join(ROOT, "lib/Importer/TFLite/tflite.fbs")
LARGEST = 60000
# Models that are tried for each type of a table, and of the elements beside it.
MODELS = 3
# Fields that matter where no small model of the test data has them, and what
# tests them instead.
TESTED = {
    "FullyConnectedOptions.keep_num_dims": "TFLiteImporter.FullyConnectedInt16",
    "AddOptions.pot_scale_int16": "TFLiteInt16.SumsOfPowersOfTwo",
    "SubOptions.pot_scale_int16": "TFLiteInt16.SumsOfPowersOfTwo",
    "ReshapeOptions.new_shape": "TFLiteFields.ShapesOfOldModels",
    "Buffer.size": "TFLiteFields.BuffersLieInTheFile",
    "Operator.builtin_options_2": "TFLiteSubgraphs.CompositesAreTheirDecompositions",
    "QuantizationParameters.quantized_dimension":
        "TFLiteBlocks.IntegersTakeOneScalePerChannel",
}
NUMBERS = ("byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong")


@dataclass
class Field:
    name: str
    type: str
    marks: str


@dataclass
class Schema:
    tables: dict = field(default_factory=dict)
    enums: dict = field(default_factory=dict)
    unions: dict = field(default_factory=dict)


def read_schema():
    """Tables with their fields, and the names of enumerations and unions."""
    with open(SCHEMA, encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    schema = Schema()
    for kind, name, body in re.findall(
            r"\b(table|enum|union)\s+(\w+)[^{]*\{([^}]*)\}", text):
        if kind == "table":
            schema.tables[name] = [
                Field(*match) for match in re.findall(
                    r"(\w+)\s*:\s*(\[?\w+\]?)[^;(]*(\([^)]*\))?\s*;", body)]
        else:
            names = re.findall(r"(\w+)(?:\s*=\s*\d+)?\s*(?:,|$)", body.strip())
            (schema.enums if kind == "enum" else schema.unions)[name] = names
    return schema


def get_values(schema, kind, old):
    """Other values of a field."""
    if kind == "bool":
        return [not old]
    if kind in NUMBERS:
        number = old if isinstance(old, int) else 0
        return [number + 1, number + 2, 1, -1, 7, 0]
    if kind == "float":
        return [(old or 0) + 0.5, 3.0]
    if kind == "string":
        return ["other"]
    if kind in schema.enums:
        return [*schema.enums[kind], 100]
    if kind.startswith("["):
        inner = kind[1:-1]
        if inner in schema.tables:
            return [[{}], []]
        return [[True], []] if inner == "bool" else [[1], [0], [2, 1], []]
    if kind == "QuantizationParameters":
        return [{"scale": [0.5], "zero_point": [1]}]
    return [{}]


class Importer:
    """Graphs of models in JSON."""

    def __init__(self, folder):
        self.folder = folder

    def read(self, path):
        """A model as JSON; None if flatc can't tell."""
        subprocess.run(["flatc", "--json", "--raw-binary", "--strict-json",
                        "-o", self.folder, SCHEMA, "--", path],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)
        name = os.path.splitext(os.path.basename(path))[0] + ".json"
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def get_graph(self, model):
        """What the importer makes of it: its message, or the text of the graph and
        the weights. None if the model can't be written."""
        path = os.path.join(self.folder, "model.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(model, file)
        written = os.path.join(self.folder, "model.tflite")
        if os.path.exists(written):
            os.remove(written)
        subprocess.run(["flatc", "--binary", "-o", self.folder, SCHEMA, path],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)
        if os.path.exists(os.path.join(self.folder, "model.bin")):
            os.rename(os.path.join(self.folder, "model.bin"), written)
        if not os.path.exists(written):
            return None
        graph = os.path.join(self.folder, "model.graph")
        done = subprocess.run(
            [os.path.join(BIN, "glowish-opt"), written, "-o", graph], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False)
        if done.returncode not in (0, 1):
            return f"crashed: {done.returncode}".encode()
        if done.returncode:
            return done.stdout
        parts = b""
        for file in sorted(glob.glob(graph + "*")):
            with open(file, "rb") as part:
                parts += part.read()
            os.remove(file)
        return parts


@dataclass
class Place:
    """A table of a model, and how to come to it: keys and numbers."""
    model: dict
    path: tuple
    graph: bytes

    def with_value(self, name, value):
        changed = json.loads(json.dumps(self.model))
        table = changed
        for key in self.path:
            table = table[key]
        table[name] = value
        return changed

    def get(self, name):
        table = self.model
        for key in self.path:
            table = table[key]
        return table.get(name)


def list_places(model):
    """Tables of a model: the names of their types, what they are about, and how
    to come to them."""
    yield "Model", "", ()
    for g, graph in enumerate(model["subgraphs"]):
        here = ("subgraphs", g)
        tensors = graph.get("tensors", [])
        yield "SubGraph", "", here
        for t, tensor in enumerate(tensors):
            kind = tensor.get("type", "FLOAT32")
            scales = tensor.get("quantization", {}).get("scale", [])
            yield "Tensor", kind, (*here, "tensors", t)
            if scales:
                yield ("QuantizationParameters", len(scales) > 1,
                       (*here, "tensors", t, "quantization"))
        for o, op in enumerate(graph.get("operators", [])):
            kinds = [tensors[i].get("type", "FLOAT32")
                     for i in op.get("inputs", []) if i >= 0]
            where = (*here, "operators", o)
            yield "Operator", "", where
            if "builtin_options" in op:
                yield (op["builtin_options_type"], kinds[0] if kinds else "",
                       (*where, "builtin_options"))
    for c, code in enumerate(model["operator_codes"]):
        yield "OperatorCode", "custom_code" in code, ("operator_codes", c)
    for b in range(1, len(model["buffers"])):
        yield "Buffer", "data" in model["buffers"][b], ("buffers", b)


def find_places(importer):
    """Places of tables in small models, a few of each type."""
    places, counts = {}, {}
    paths = [path for path in glob.glob(os.path.join(DATA, "**", "*.tflite"),
                                        recursive=True)
             if os.path.getsize(path) < LARGEST]
    for path in sorted(paths, key=lambda p: (os.path.getsize(p), p)):
        model = importer.read(path)
        if model is None:
            continue
        found = {}
        for *kind, where in list_places(model):
            found.setdefault(tuple(kind), where)
        new = {kind: where for kind, where in found.items()
               if counts.get(kind, 0) < MODELS}
        if not new:
            continue
        graph = importer.get_graph(model)
        if graph is None or not graph.startswith(b"module"):
            continue
        for kind, where in new.items():
            counts[kind] = counts.get(kind, 0) + 1
            places.setdefault(kind[0], []).append(Place(model, where, graph))
    return places


def try_field(importer, schema, places, entry):
    """What another value of the field did, or None if it changed nothing."""
    if entry.type in schema.unions:
        for place in places:
            if place.get(entry.name) is not None:
                continue
            for kind in schema.unions[entry.type]:
                # A table in which nothing is set may change nothing.
                inner = schema.tables[kind][:1]
                value = {f.name: get_values(schema, f.type, None)[-1]
                         for f in inner}
                changed = place.with_value(entry.name, value)
                table = changed
                for key in place.path:
                    table = table[key]
                table[entry.name + "_type"] = kind
                graph = importer.get_graph(changed)
                if graph not in (None, place.graph):
                    return graph
        return None
    for place in places:
        old = place.get(entry.name)
        for value in get_values(schema, entry.type, old):
            # A number that no enumeration has is an error of any field.
            is_unknown = value == 100 and "ignored" in entry.marks
            if value == old or is_unknown:
                continue
            graph = importer.get_graph(place.with_value(entry.name, value))
            if graph not in (None, place.graph):
                return graph
    return None


def read_sources():
    """The importer's sources."""
    text = ""
    for path in glob.glob(os.path.join(ROOT, "lib/Importer/TFLite/**/*.cpp"),
                          recursive=True):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return text


def main():
    if not os.path.isdir(DATA) or not shutil.which("flatc"):
        print("skipped: there is no test data, or no flatc")
        return 77
    verbose = "--verbose" in sys.argv[1:]
    schema = read_schema()
    sources = read_sources()
    problems, tried, untried = [], 0, []
    with tempfile.TemporaryDirectory() as folder:
        importer = Importer(folder)
        places = find_places(importer)
        for table, fields in schema.tables.items():
            for entry in fields:
                name = f"{table}.{entry.name}"
                if "deprecated" in entry.marks or name in TESTED:
                    continue
                if table not in places:
                    untried.append(name)
                    reads = (f'get<"{entry.name}">', f".{entry.name}()")
                    if not entry.marks and not any(r in sources for r in reads):
                        problems.append(f"{name}: no source reads it")
                    continue
                tried += 1
                graph = try_field(importer, schema, places[table], entry)
                text = "changes nothing" if graph is None else \
                    "changes the graph" if graph.startswith(b"module") else \
                    graph.decode(errors="replace").strip()
                if verbose:
                    print(f"{name} {entry.marks}: {text}")
                if text.startswith("crashed") or \
                        ("ignored" in entry.marks) != (graph is None):
                    problems.append(f"{name} {entry.marks}: {text}")
    print("\n".join(problems))
    print(f"{tried} fields, {len(problems)} not as expected; not tried, as no "
          f"model has the table: {', '.join(untried) or 'none'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""ONNX models with operators of a domain, in protobuf text, for operators.py."""

KINDS = {"float32": 1, "uint8": 2, "int8": 3, "int16": 5, "int32": 6, "int64": 7,
         "bool": 9, "float16": 10, "float64": 11}


def attribute(name, value):
    """An attribute of an ONNX node in protobuf text."""
    one = {int: ("INT", "i: %d"), float: ("FLOAT", "f: %r"), str: ("STRING", 's: "%s"')}
    several = {int: ("INTS", "ints: %d"), float: ("FLOATS", "floats: %r"),
               str: ("STRINGS", 'strings: "%s"')}
    if isinstance(value, list):
        kind, form = several[type(value[0])] if value else ("INTS", "")
        content = " ".join(form % element for element in value)
    else:
        kind, form = one[type(value)]
        content = form % value
    return f'attribute {{ name: "{name}" type: {kind} {content} }}'


def node(kind, inputs, outputs, attributes=None, domain="test"):
    """A node in protobuf text. `attributes`: {name: value}."""
    attributes = attributes or {}
    return " ".join(
        [f'node {{ op_type: "{kind}" domain: "{domain}"'] +
        [f'input: "{name}"' for name in inputs] +
        [f'output: "{name}"' for name in outputs] +
        [attribute(*item) for item in attributes.items()] + ["}"])


def value_info(name, kind, shape):
    dims = " ".join(f"dim {{ dim_value: {d} }}" for d in shape)
    return (f'{{ name: "{name}" type {{ tensor_type {{ elem_type: {KINDS[kind]} '
            f"shape {{ {dims} }} }} }} }}")


def write_model(path, inputs, nodes, outputs, constants="", version=2):
    """A file whose nodes may be of version `version` of the domain "test".
    `inputs`: {name: array}, of whose types the model's are."""
    lines = ["ir_version: 8", "opset_import { version: 17 }",
             f'opset_import {{ domain: "test" version: {version} }}', 'graph { name: "m"']
    lines += ["input " + value_info(name, str(x.dtype), x.shape)
              for name, x in inputs.items()]
    lines += [constants, *nodes]
    lines += [f'output {{ name: "{name}" }}' for name in outputs] + ["}"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return path

"""What the header of a bundle says."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import numpy as np

from . import _glowish
from ._errors import ArgumentError
from ._values import Dim, Value

KINDS: Dict[str, np.dtype] = _glowish.list_kinds()
INPUT, OUTPUT = 1, 2

_DEFINE = re.compile(r"^#define (\w+) (.*)$", re.M)
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_ACTUAL = re.compile(r"/\* DIMS are the largest extents\.\s+(?:\* )?The actual ones"
                     r"\s+(?:\* )?are\s+(?:\* )?(\[[^\]]*\])")
_STATED = re.compile(r"/\* Each call reads the extent '(.*)' here, which is from")
# "input 'x': float<1x3>" in the first comment.
_VALUE = re.compile(r"^ \* (input|output|state|input and output) '(.*)': "
                    r"(\w+)<([0-9x]*)[,>]", re.M)


# Those of outputs in a header of the dynamic API, which has no other macros of them.
_CLASSES = re.compile(r"^/\* The names of the classes that '(.*)' numbers\. \*/\n"
                      r"#define \w+_CLASSES (.*)$", re.M)


@dataclass
class Symbol:
    """A placeholder: where it is in its region, and what it is."""

    name: str
    offset: int
    region: int
    direction: int
    kind: str
    shape: Tuple[int, ...]
    scales: Tuple[float, ...] = ()
    offsets: Tuple[int, ...] = ()
    # The offset of the actual extents of an output, in the same region.
    extents: Optional[int] = None
    # The symbol of which an input is the extent, and its bounds.
    stated: str = ""
    bounds: Optional[Tuple[int, int]] = None
    # The actual extents of an input, as expressions.
    dims: Tuple[str, ...] = ()
    classes: Tuple[str, ...] = ()

    @property
    def dtype(self) -> np.dtype:
        return KINDS[self.kind]

    def describe(self) -> Value:
        shape: Tuple[Dim, ...] = self.shape
        if self.extents is not None:
            shape = tuple(None for _ in shape)
        if self.dims:
            shape = tuple(extent if dim.isdigit() else dim
                          for extent, dim in zip(self.shape, self.dims))
        return Value(self.name, self.dtype, shape, self.kind, self.scales,
                     self.offsets, self.direction == INPUT | OUTPUT, self.classes)


@dataclass
class Header:
    """A header of a bundle with one program; of the dynamic API, without symbols."""

    entry: str
    checksum: int
    constant_size: int = 0
    mutable_size: int = 0
    activations_size: int = 0
    alignment: int = 64
    has_embedded_weights: bool = False
    symbols: List[Symbol] = field(default_factory=list)
    # The name of the symbol with the configuration, in the dynamic API.
    config: Optional[str] = None
    # Of its outputs in the dynamic API, whose configuration has no names of classes.
    classes: Dict[str, Tuple[str, ...]] = field(default_factory=dict)


def _integer(text: str) -> int:
    match = re.match(r"(?:UINT64_C\()?(0x[0-9A-Fa-f]+|-?\d+)", text)
    if not match:
        raise ValueError(text)
    return int(match.group(1), 0)


def _string(text: str) -> str:
    """A string literal of C, which has UTF-8 in octal numbers."""
    return re.sub(
        rb"\\([0-7]{3}|.)",
        lambda match: bytes([int(match[1], 8)]) if len(match[1]) == 3 else match[1],
        text.strip()[1:-1].encode("utf-8")).decode("utf-8", "replace")


def _strings(text: str) -> Tuple[str, ...]:
    """The string literals in the text."""
    return tuple(map(_string, _LITERAL.findall(text)))


def _list(text: str) -> List[str]:
    return [part.strip() for part in text.strip().strip("{}").split(",")
            if part.strip()]


def _read_symbol(macro: str, defines: Dict[str, str], text: str) -> Symbol:
    def get(suffix: str) -> Optional[str]:
        return defines.get(macro + suffix)

    region = {"GLOWISH_REGION_MUTABLE": 0, "GLOWISH_REGION_ACTIVATIONS": 1}.get(
        (get("_REGION") or "").strip())
    if region is None:
        raise ArgumentError("the bundle has activations in several regions "
                            "(-memory-regions), which Python does not call")
    symbol = Symbol(
        name=_string(defines[macro + "_NAME"]), offset=_integer(defines[macro]),
        region=region, direction=_integer(defines[macro + "_DIRECTION"]),
        kind=defines[macro + "_TYPE"].strip()[len("GLOWISH_"):].lower(),
        shape=tuple(map(_integer, _list(defines[macro + "_DIMS"]))))
    if symbol.shape == (0,) and _integer(defines[macro + "_RANK"]) == 0:
        symbol.shape = ()
    symbol.shape = symbol.shape[:_integer(defines[macro + "_RANK"])]
    if get("_SCALE"):
        symbol.scales = tuple(float(part.rstrip("f"))
                              for part in _list(defines[macro + "_SCALE"]))
        symbol.offsets = tuple(map(_integer, _list(defines[macro + "_OFFSET"])))
    if get("_EXTENTS"):
        symbol.extents = _integer(defines[defines[macro + "_EXTENTS"].strip()])
    if get("_LEAST"):
        symbol.bounds = (_integer(defines[macro + "_LEAST"]),
                         _integer(defines[macro + "_MOST"]))
    symbol.classes = _strings(get("_CLASSES") or "")
    # Comments come before the macros.
    end = text.index(f"#define {macro} ")
    begin = text.rindex("\n\n", 0, end)
    actual = _ACTUAL.search(text[begin:end])
    stated = _STATED.search(text[begin:end])
    symbol.stated = stated.group(1) if stated else ""
    if actual:
        dims = re.sub(r"\s+\*?\s*", " ", actual.group(1))[1:-1]
        symbol.dims = tuple(part.strip() for part in dims.split(","))
    return symbol


def read_header(path: Path) -> Header:
    """Reads a header. Raises ArgumentError for what Python does not call."""
    text = path.read_text(encoding="utf-8")
    defines = dict(_DEFINE.findall(text))
    if "GLOWISH_BUNDLE_COMMON_DEFS" not in text:
        raise ArgumentError(f"'{path}' is no header of a bundle")
    entries = re.findall(r"^int (\w+)\(const uint8_t \*constantWeight", text, re.M)
    learns = re.search(r"^int \w+_train_step\(", text, re.M)
    if len(entries) != 1:
        what = "learns" if learns else "has several functions" if entries else \
            "has several values of a dimension"
        raise ArgumentError(f"'{path}': the bundle {what}; accepted: bundles with "
                            "one program for inference")
    checksum = next(value for name, value in defines.items()
                    if name.endswith("_WEIGHTS_CHECKSUM"))
    header = Header(entries[0], _integer(checksum))
    header.has_embedded_weights = bool(
        re.search(r"^extern const uint8_t \w+_weights\[\];", text, re.M))
    config = re.search(r"^extern const BundleConfig (\w+);", text, re.M)
    if config:
        header.config = config.group(1)
        header.classes = {name: _strings(names)
                          for name, names in _CLASSES.findall(text)}
        return header

    def size(suffix: str) -> int:
        return next(_integer(value) for name, value in defines.items()
                    if name.endswith(suffix))

    header.constant_size = size("_CONSTANT_MEM_SIZE")
    header.mutable_size = size("_MUTABLE_MEM_SIZE")
    header.activations_size = size("_ACTIVATIONS_MEM_SIZE")
    header.alignment = size("_MEM_ALIGN")
    macros = [name[:-len("_DIRECTION")] for name in defines
              if name.endswith("_DIRECTION")
              and name[:-len("_DIRECTION")] + "_RANK" in defines]
    header.symbols = [_read_symbol(macro, defines, text) for macro in macros]
    return header


def read_values(path: Path) -> Tuple[List[Value], List[Value]]:
    """The inputs and outputs that a header lists, of any target and API; none of a
    bundle with several programs."""
    try:
        header = read_header(path)
    except ArgumentError:
        return [], []
    if header.symbols:
        return split(header.symbols)
    text = path.read_text(encoding="utf-8")
    inputs, outputs = [], []
    for direction, name, kind, shape in _VALUE.findall(text[:text.index("*/")]):
        value = Value(name, KINDS[kind],
                      tuple(int(extent) for extent in shape.split("x") if extent),
                      kind, is_state=direction in ("state", "input and output"),
                      classes=header.classes.get(name, ()))
        if "input" in direction:
            inputs.append(value)
        if direction == "output":
            outputs.append(value)
    return inputs, outputs


def split(symbols: List[Symbol]) -> Tuple[List[Value], List[Value]]:
    """The values of the inputs and of the outputs. Extents are no values."""
    extents = {symbol.extents for symbol in symbols}
    inputs = [symbol.describe() for symbol in symbols
              if symbol.direction & INPUT and not symbol.bounds]
    outputs = [symbol.describe() for symbol in symbols
               if symbol.direction == OUTPUT and symbol.offset not in extents]
    return inputs, outputs

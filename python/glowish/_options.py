"""The compiler's settings as keywords."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from . import _glowish
from ._errors import ArgumentError, ArgumentTypeError


class Option(NamedTuple):
    """A setting of the compiler, which is a keyword of compile() and others.

    name: the keyword; the command line's option has '-' in the place of '_'.
    group: "model", "target", "quantization", ...
    form: "switch" takes True or False, "value" one value, "list" a list of values,
        "comma-list" a list or a text with commas.
    value_name: stands for the value: "N", "file".
    choices: the values that are accepted, each with a description; none where
        others are.
    uses: of "compile", "load" and "train", the functions that take it.
    """

    name: str
    group: str
    description: str
    form: str
    value_name: str
    choices: Tuple[Tuple[str, str], ...]
    uses: Tuple[str, ...]

    def __str__(self) -> str:
        values = {"switch": "True|False"}.get(
            self.form, "|".join(name for name, _ in self.choices)
            or self.value_name or "value")
        if self.form == "list":
            values = f"[{values}]"
        return f"{self.name}={values}\n    {self.description}"


class Options(Tuple[Option, ...]):
    """All settings; printed, a page of them."""

    def __str__(self) -> str:
        groups: Dict[str, List[str]] = {}
        for option in self:
            groups.setdefault(option.group, []).append(str(option))
        return "\n\n".join(f"{group}:\n" + "\n".join(lines)
                           for group, lines in groups.items())

    __repr__ = __str__


def options(use: Optional[str] = None) -> Options:
    """The settings that can be stated, with descriptions and choices.

    use: "compile", "load" or "train": those of one function.
    """
    known = ("compile", "load", "train")
    if use is not None and use not in known:
        raise ArgumentError(f"use={use!r}: accepted: {', '.join(known)}")
    return Options(option for option in map(Option._make, _glowish.list_options())
                   if use is None or use in option.uses)


def _format(name: str, value: Any) -> str:
    """The text of one value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if hasattr(value, "__fspath__"):
        return os.fspath(value)
    if hasattr(value, "item"):  # a number of NumPy's
        return _format(name, value.item())
    raise ArgumentTypeError(f"{name}={value!r}: accepted: a text, a number, True, "
                            "False, or a list of them")


def format_options(keywords: Dict[str, Any]) -> List[Tuple[str, str]]:
    """Pairs of a name and a text for the compiler."""
    pairs = []
    for name, value in keywords.items():
        if value is None:
            continue
        several = isinstance(value, Iterable) and not isinstance(value, str) \
            and not hasattr(value, "__fspath__") and not hasattr(value, "item")
        for each in value if several else [value]:
            pairs.append((name, _format(name, each)))
    return pairs


_WEIGHTS = ("int8", "uint8", "int4", "uint4")


def quantize_options(quantize: Any) -> Dict[str, Any]:
    """What quantize= stands for."""
    if quantize is None or quantize is False:
        return {}
    if quantize == "dynamic":
        return {"quantize_dynamic": True}
    if quantize in ("float16", "fp16"):
        return {"convert_to_fp16": True}
    if quantize == "bfloat16":
        return {"convert_to_fp16": True, "fp16_format": "bfloat16"}
    if quantize in _WEIGHTS:
        return {"quantize_weights": quantize}
    if hasattr(quantize, "__fspath__") or isinstance(quantize, str) and \
            os.path.exists(quantize):
        return {"load_profile": os.fspath(quantize)}
    raise ArgumentError(f"quantize={quantize!r}: accepted: 'dynamic', 'float16', "
                        f"'bfloat16', {', '.join(map(repr, _WEIGHTS))} (weights), or "
                        "the path of a profile")


def _format_extent(name: str, extent: Any) -> str:
    """The text of a value or a range of the symbol `name`."""
    if not isinstance(extent, range):
        return str(extent)
    if extent.step != 1 or len(extent) < 2:
        raise ArgumentError(f"symbols: {name}={extent}: accepted: a range of two values "
                            "or more, with the step 1")
    return f"{extent.start}..{extent.stop - 1}"


def symbol_options(symbols: Optional[Dict[str, Any]]) -> Iterator[str]:
    """What symbols= stands for: a value, a range, or a list of these."""
    for name, value in (symbols or {}).items():
        extents = value if isinstance(value, (list, tuple)) else [value]
        yield ",".join([name, *(_format_extent(name, each) for each in extents)])


def shape_options(path: str, shapes: Optional[Dict[str, Any]]) -> Iterator[str]:
    """What shapes= stands for: extents, or a dtype and extents."""
    declared: Optional[Dict[str, Any]] = None
    for name, shape in (shapes or {}).items():
        kind: Any = None
        if len(shape) == 2 and not isinstance(shape[1], int):
            kind, shape = shape
        if kind is None:
            if declared is None:
                declared = {value.name: value.kind
                            for value in _glowish.declared_inputs(path)}
            if declared and name not in declared:
                raise ArgumentError(
                    f"shapes: the model has no input {name!r}; it has "
                    + ", ".join(map(repr, declared)))
            kind = declared.get(name) or "float"
        kind = _KINDS.get(str(kind), str(kind))
        try:
            extents = ",".join(str(int(extent)) for extent in shape)
        except (TypeError, ValueError):
            raise ArgumentError(f"shapes: {name}={shape!r}: accepted: integers, as "
                                "(1, 3, 224, 224)") from None
        yield f"{name},{kind},[{extents}]"


_KINDS = {"float32": "float", "float64": "double"}


def merge_options(path: str, shapes: Optional[Dict[str, Any]],
                  symbols: Optional[Dict[str, Any]], quantize: Any,
                  keywords: Dict[str, Any]) -> List[Tuple[str, str]]:
    """All that is stated of a compilation, as pairs of a name and a text."""
    pairs = [("define_symbol", text) for text in symbol_options(symbols)]
    pairs += [("model_input", text) for text in shape_options(path, shapes)]
    return pairs + format_options({**quantize_options(quantize), **keywords})

"""What is known of inputs and outputs."""
from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

Dim = Union[int, str, None]


class Value(NamedTuple):
    """An input or output of a model.

    name: as the model has it.
    dtype: of the arrays; of bfloat16 and of kinds of low precision, that of the
        bits. None where the model states it nowhere.
    shape: an extent, the name or expression of a symbolic dimension, or None for
        each dimension; None where not even the rank is known.
    kind: the element type as the compiler calls it: "float", "bfloat16", "int8q".
    scales, offsets: of quantized kinds, value = (integer - offset) * scale.
    is_state: whether it is kept from a call to the next.
    classes: the names of the classes that its integers number from 0 on.
    """

    name: str
    dtype: Optional[np.dtype]
    shape: Optional[Tuple[Dim, ...]]
    kind: Optional[str] = None
    scales: Tuple[float, ...] = ()
    offsets: Tuple[int, ...] = ()
    is_state: bool = False
    classes: Tuple[str, ...] = ()


# A symbol whose name is no identifier stands between ' and '.
_NAME = re.compile(r"'([^']*)'|([A-Za-z_][\w.]*)")


def list_symbols(dim: str, values: Dict[str, int]) -> List[str]:
    """The symbols in the expression `dim`, or `dim` itself if it is one of `values`."""
    if dim in values:
        return [dim]
    return list(dict.fromkeys(quoted or name for quoted, name in _NAME.findall(dim)))


def evaluate(dim: str, values: Dict[str, int]) -> int:
    """The value of an expression of symbols and integers with + - * // and
    parentheses, or of one of `values`."""
    if dim in values:
        return values[dim]
    text = _NAME.sub(lambda match: str(values[match[1] or match[2]]), dim)
    assert re.fullmatch(r"[-+*/()\d\s]+", text), dim
    return int(eval(text))  # pylint: disable=eval-used

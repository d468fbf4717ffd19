"""The page about a compilation."""
from __future__ import annotations

import html
import os
from typing import Any, Dict, Optional, Sequence

from . import _glowish
from ._options import merge_options
from ._progress import make_progress
from ._source import Source


class Report:
    """A page (HTML) about a compilation: graph, passes, memory, costs, sizes.

    A notebook shows it; save() writes it to a file, which needs no other one.
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that its styles are not the notebook's."""
        return (f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; '
                'height: 40em; border: 1px solid #888" '
                'title="Report of a compilation"></iframe>')

    def __repr__(self) -> str:
        return f"<glowish.Report, {len(self.html)} characters>"


def report(model: Any, *,
           shapes: Optional[Dict[str, Sequence[int]]] = None,
           symbols: Optional[Dict[str, Any]] = None,
           quantize: Any = None,
           times: bool = True,
           progress: Any = False,
           **options: Any) -> Report:
    """Compiles a model for the page about it, and writes no bundle.

    The arguments are those of glowish.compile(). times: whether the page tells how
    long passes took; without, the same model makes the same page.
    """
    source = Source(model)
    pairs = merge_options(source.path, shapes, symbols, quantize, options)
    _, page = _glowish.make_bundle(
        paths=source.paths, folder="", options=pairs,
        types={}, report=True, report_times=times,
        progress=make_progress(progress))
    return Report(page)

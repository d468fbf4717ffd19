"""How far a compilation is."""
from __future__ import annotations

import sys
from typing import Any, Callable, Optional

Progress = Callable[[str, float], Any]


class _Line:
    """A line on stderr that is written again and again, and erased at the end."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, step: str, done: float) -> None:
        text = "" if done >= 1 else f"glowish: {step} {done:.0%}"
        print("\r" + text.ljust(self._width), end="\r" if done >= 1 else "",
              file=sys.stderr, flush=True)
        self._width = len(text)


class _Bar:
    """A bar of tqdm's, which notebooks show, too."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, step: str, done: float) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=100, bar_format="{l_bar}{bar}| {elapsed}",
                                   leave=False)
        self._bar.set_description(f"glowish: {step}")
        self._bar.update(100 * done - self._bar.n)
        if done >= 1:
            self._bar.close()
            self._bar = None


def make_progress(progress: Any) -> Optional[Progress]:
    """What progress= stands for: a function, True or False."""
    if callable(progress):
        return progress
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm)

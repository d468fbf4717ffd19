"""The compiler's log, as lines of logging's logger "glowish"."""
from __future__ import annotations

import logging

# Nothing is printed unless the program has handlers: also none of the warnings.
logger = logging.getLogger("glowish")
logger.addHandler(logging.NullHandler())

# By the verbosity of a line; warnings have none.
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG, logging.DEBUG - 5)


def get_verbosity() -> int:
    """The verbosity of the lines that the logger takes; -1 if it takes no warnings."""
    return sum(logger.isEnabledFor(level) for level in _LEVELS) - 1


def log(verbosity: int, file: str, number: int, text: str) -> None:
    """Hands a line to the logger; `file` is the compiler's source file."""
    level = _LEVELS[verbosity]
    if logger.isEnabledFor(level):
        logger.handle(logger.makeRecord(logger.name, level, file, number, text, (), None))

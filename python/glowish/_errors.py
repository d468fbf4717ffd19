"""The exceptions of the module."""


class Error(RuntimeError):
    """What the compiler refuses: one line that says what is wrong."""


class ArgumentError(Error, ValueError):
    """An argument has a value that is not accepted."""


class ArgumentTypeError(Error, TypeError):
    """An argument is not known, is missing, or has a type that is not accepted."""

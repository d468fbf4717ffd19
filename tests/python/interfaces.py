"""The three interfaces of the compiler, as functions that return what they refuse."""
import ctypes
import os
import re
import subprocess

import glowish

BIN = os.environ["GLOWISH_BIN"]
NAMES = sorted((option.name for option in glowish.options()), key=len, reverse=True)
# A setting as an interface spells it: -name=value, name='value', name=value.
_SPELLED = re.compile(
    r"(?<![\w-])-?(" + "|".join(name.replace("_", "[-_]") for name in NAMES)
    + r")(?![\w-])(?:='([^']*)'|=\"([^\"]*)\")?")


def normalize(message):
    """The message with all settings spelled name=value."""
    def spell(match):
        name = match[1].replace("-", "_")
        value = match[2] if match[2] is not None else match[3]
        return name if value is None else f"{name}={value}"
    assert "«" not in message, message
    return _SPELLED.sub(spell, message)


def _run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return None
    assert done.returncode == 1, (arguments, done)
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, (arguments, done.stderr)
    return normalize(lines[0][len("error: "):])


def _flags(settings):
    return [f"-{name.replace('_', '-')}={value}" for name, value in settings]


def compile_by_tool(model, folder, settings):
    """What model-compiler refuses; None where it writes the bundle."""
    return _run([BIN + "/model-compiler", f"-model={model}", f"-emit-bundle={folder}",
                 *_flags(settings)])


def run_by_tool(model, inputs, settings):
    """What model-runner refuses, given the flags `inputs`."""
    return _run([BIN + "/model-runner", f"-model={model}", *inputs, *_flags(settings)])


def _keywords(settings):
    keywords = {}
    for name, value in settings:
        keywords.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values
            for name, values in keywords.items()}


def compile_by_python(model, folder, settings):
    """The same of glowish.compile()."""
    try:
        glowish.compile(model, folder, **_keywords(settings))
    except glowish.Error as error:
        return normalize(str(error))
    return None


def load_by_python(model, settings):
    try:
        glowish.load(model, **_keywords(settings))
    except glowish.Error as error:
        return normalize(str(error))
    return None


class CInterface:
    """libglowish as C has it."""

    _WARNING = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
    _STEP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double)

    def __init__(self):
        self.lib = ctypes.CDLL(os.path.join(BIN, "../lib/libglowish.so"))
        for name in ("options_create", "job_create", "error_message", "options_set",
                     "model_open", "compile_bundle", "compile"):
            getattr(self.lib, "glowish_" + name).restype = ctypes.c_void_p
        self.lib.glowish_options_name.restype = ctypes.c_char_p
        self.lib.glowish_options_count.restype = ctypes.c_size_t

    def names(self):
        options = ctypes.c_void_p(self.lib.glowish_options_create())
        count = self.lib.glowish_options_count(options)
        names = [self.lib.glowish_options_name(options, ctypes.c_size_t(i)).decode()
                 for i in range(count)]
        self.lib.glowish_options_free(options)
        return [name.replace("-", "_") for name in names]

    def _take(self, error):
        if not error:
            return None
        error = ctypes.c_void_p(error)
        message = ctypes.cast(ctypes.c_void_p(self.lib.glowish_error_message(error)),
                              ctypes.c_char_p).value.decode()
        self.lib.glowish_error_free(error)
        return normalize(message)

    def _set_all(self, options, settings):
        for name, value in settings:
            refused = self._take(self.lib.glowish_options_set(
                options, name.replace("_", "-").encode(), value.encode()))
            if refused is not None:
                return refused
        return None

    def _with_model(self, model, settings, function):
        options = ctypes.c_void_p(self.lib.glowish_options_create())
        opened = ctypes.c_void_p()
        assert self._take(self.lib.glowish_model_open(
            str(model).encode(), ctypes.byref(opened))) is None
        refused = self._set_all(options, settings)
        if refused is None:
            refused = function(opened, options)
        self.lib.glowish_model_free(opened)
        self.lib.glowish_options_free(options)
        return refused

    def compile_bundle(self, model, folder, settings, warnings=None):
        """The same of glowish_compile_bundle(); what it warns of goes to `warnings`."""
        job = ctypes.c_void_p(self.lib.glowish_job_create())

        @self._WARNING
        def warn(_, line):
            warnings.append(line.decode())

        if warnings is not None:
            self.lib.glowish_job_on_warning(job, warn, None)
        refused = self._with_model(
            model, settings, lambda opened, options: self._take(
                self.lib.glowish_compile_bundle(opened, options, str(folder).encode(),
                                                job)))
        self.lib.glowish_job_free(job)
        return refused

    def compile(self, model, settings):
        program = ctypes.c_void_p()

        def make(opened, options):
            refused = self._take(self.lib.glowish_compile(opened, options, None,
                                                          ctypes.byref(program)))
            self.lib.glowish_program_free(program)
            return refused

        return self._with_model(model, settings, make)

    def prepare_bundle(self, model, folder, settings):
        """What compile_bundle() refuses before it generates code."""
        job = ctypes.c_void_p(self.lib.glowish_job_create())

        @self._STEP
        def step(context, name, share):
            if name == b"generate code":
                self.lib.glowish_job_cancel(job)

        self.lib.glowish_job_on_progress(job, step, None)
        refused = self._with_model(
            model, settings, lambda opened, options: self._take(
                self.lib.glowish_compile_bundle(opened, options, str(folder).encode(),
                                                job)))
        self.lib.glowish_job_free(job)
        return None if refused == "cancelled" else refused

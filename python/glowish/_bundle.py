"""Bundles that run in this process."""
from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _glowish
from ._errors import ArgumentError, ArgumentTypeError, Error
from ._header import INPUT, OUTPUT, Header, Symbol, read_header, read_values as \
    _read_values, split
from ._values import Value, evaluate, list_symbols

Array = np.ndarray

_ERRORS = {
    1: "a region is null", 2: "a region is not aligned",
    5: "the code is not for this processor or system",
    6: "an extent is out of its bounds",
    8: "a loop would have gone on after its largest number of iterations",
    9: "a function that the network calls failed"}


class _SymbolStruct(ctypes.Structure):
    """GlowishSymbol of the headers."""

    _fields_ = [("name", ctypes.c_char_p), ("offset", ctypes.c_uint64),
                ("size", ctypes.c_uint64), ("bytes", ctypes.c_uint64),
                ("direction", ctypes.c_uint8), ("elementType", ctypes.c_uint8),
                ("rank", ctypes.c_uint8), ("region", ctypes.c_uint8),
                ("quantAxis", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_uint64)),
                ("numQuantParams", ctypes.c_uint64),
                ("scales", ctypes.POINTER(ctypes.c_float)),
                ("quantOffsets", ctypes.POINTER(ctypes.c_int32)),
                ("extents", ctypes.c_int64)]


class _ConfigStruct(ctypes.Structure):
    """BundleConfig of the headers."""

    _fields_ = [("constantSize", ctypes.c_uint64), ("mutableSize", ctypes.c_uint64),
                ("activationsSize", ctypes.c_uint64),
                ("alignment", ctypes.c_uint64), ("numSymbols", ctypes.c_uint64),
                ("symbolTable", ctypes.c_void_p),
                ("symbols", ctypes.POINTER(_SymbolStruct)),
                ("abiVersion", ctypes.c_uint64), ("modelHash", ctypes.c_uint64),
                ("weightsChecksum", ctypes.c_uint64)]


def read_values(header: Optional[Path],
                code: Optional[Path]) -> Tuple[Tuple[Value, ...], Tuple[Value, ...]]:
    """The inputs and outputs that the header of a bundle with an object lists."""
    if header is None or code is None:
        return (), ()
    inputs, outputs = _read_values(header)
    return tuple(inputs), tuple(outputs)


def _find_linker() -> List[str]:
    """The command that links a shared object."""
    for program in ("cc", "gcc", "clang", "clang-19", "ld.lld", "ld.lld-19", "ld"):
        path = shutil.which(program)
        if path:
            return [path, "-shared"]
    raise Error("there is no linker to load the bundle with; accepted: cc, gcc, "
                "clang, ld.lld or ld on PATH")


def _link(code: Path) -> ctypes.CDLL:
    """Links an object to a shared one, and loads it. Functions of the application
    are found among those of this process; libglowish has the threads."""
    with tempfile.TemporaryDirectory(prefix="glowish-") as folder:
        library = os.path.join(folder, code.stem + ".so")
        result = subprocess.run([*_find_linker(), "-o", library, str(code)],
                                capture_output=True, text=True, check=False)
        if result.returncode:
            lines = result.stderr.strip().splitlines() or ["no message"]
            raise Error(f"'{code}' was not linked: {lines[0]}")
        _export_threads()
        try:
            return ctypes.CDLL(library)
        except OSError as error:
            raise Error(f"'{code}' was not loaded: {error}") from None


def _export_threads() -> None:
    """Lets bundles find glowish_parallel_for in libglowish."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.split(None, 5)[-1].strip()
            if re.search(r"/libglowish[^/]*\.so[^/]*$", path):
                ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
                return


def _allocate(size: int, alignment: int) -> Array:
    """Bytes that are 0, aligned."""
    memory = np.zeros(size + alignment, np.uint8)
    begin = -memory.ctypes.data % alignment
    return memory[begin:begin + size]


def _read_config(config: _ConfigStruct) -> Header:
    """What the object itself says, in the dynamic API."""
    kinds = list(_glowish.list_kinds())
    header = Header("", config.weightsChecksum, config.constantSize,
                    config.mutableSize, config.activationsSize, config.alignment)
    structs = [config.symbols[i] for i in range(config.numSymbols)]
    for each in structs:
        header.symbols.append(Symbol(
            name=each.name.decode(), offset=each.offset, region=each.region,
            direction=each.direction, kind=kinds[each.elementType],
            shape=tuple(each.dims[d] for d in range(each.rank)),
            scales=tuple(each.scales[i] for i in range(each.numQuantParams)),
            offsets=tuple(each.quantOffsets[i] for i in range(each.numQuantParams)),
            extents=structs[each.extents].offset if each.extents >= 0 else None))
    return header


class Bundle:
    """A bundle that is loaded into this process; glowish.bundle() makes one.

    Called as a glowish.Model is. A bundle has its inputs and outputs in its own
    memory, so that they are copied. States are kept from a call to the next. Several
    threads may call it; its calls run one after the other.
    """

    def __init__(self, code: "str | os.PathLike[str]",
                 weights: "str | os.PathLike[str] | None" = None) -> None:
        path = Path(code)
        if not path.exists():
            raise ArgumentError(f"'{path}': there is no such file")
        header_path = path.with_suffix(".h")
        if not header_path.exists():
            raise ArgumentError(f"'{header_path}': there is no such file; a bundle's "
                                "header says where its inputs are")
        header = read_header(header_path)
        self.name = path.stem
        self._lock = threading.Lock()
        self._library = _link(path)
        self._entry = getattr(self._library, header.entry)
        self._entry.argtypes = [ctypes.c_void_p] * 3
        self._entry.restype = ctypes.c_int
        if header.config:
            header = self._add_config(header)
        self._read_weights(header, Path(weights) if weights is not None else
                           path.with_suffix(".weights.bin"))
        self._regions = [_allocate(size, header.alignment) for size in
                         (header.mutable_size, header.activations_size)]
        self._arguments = [self._weights_address,
                           *(region.ctypes.data for region in self._regions)]
        self._symbols = header.symbols
        self._views = {symbol.name: self._view(symbol) for symbol in header.symbols}
        self._by_name = {symbol.name: symbol for symbol in header.symbols}
        inputs, outputs = split(header.symbols)
        self.inputs: Tuple[Value, ...] = tuple(inputs)
        self.outputs: Tuple[Value, ...] = tuple(outputs)

    def _add_config(self, header: Header) -> Header:
        assert header.config
        full = _read_config(_ConfigStruct.in_dll(self._library, header.config))
        full.has_embedded_weights = header.has_embedded_weights
        for symbol in full.symbols:
            symbol.classes = header.classes.get(symbol.name, ())
        return full

    def _read_weights(self, header: Header, path: Path) -> None:
        if header.has_embedded_weights:
            symbol = ctypes.c_uint8.in_dll(self._library, self.name + "_weights")
            self._weights_address = ctypes.addressof(symbol)
            return
        self._weights_address = 0
        if not header.constant_size:
            return
        if not path.exists():
            raise ArgumentError(f"'{path}': there is no such file; it has the weights")
        self._weights = np.memmap(path, np.uint8, mode="r")
        if self._weights.size != header.constant_size or \
                _glowish.checksum(self._weights) != header.checksum:
            raise ArgumentError(f"'{path}': these are not the weights of the bundle")
        self._weights_address = self._weights.ctypes.data

    def _view(self, symbol: Symbol) -> Array:
        """The elements of a placeholder, as an array."""
        size = int(np.prod(symbol.shape, dtype=np.int64)) * symbol.dtype.itemsize
        region = self._regions[symbol.region]
        return region[symbol.offset:symbol.offset + size].view(symbol.dtype) \
            .reshape(symbol.shape)

    def _convert(self, symbol: Symbol, value: Any) -> Array:
        """An input as an array that fits its placeholder."""
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            value = np.from_dlpack(value)
        array = value if isinstance(value, np.ndarray) else \
            np.asarray(value, None if hasattr(value, "__array__") else symbol.dtype)
        if str(array.dtype) == "bfloat16" and symbol.kind == "bfloat16":
            array = array.view(np.uint16)
        if array.dtype != symbol.dtype:
            raise ArgumentTypeError(f"input '{symbol.name}' is {array.dtype}; "
                                    f"accepted: {symbol.dtype}")
        dims = symbol.dims or map(str, symbol.shape)
        if array.ndim != len(symbol.shape) or any(
                given > most or dim.isdigit() and given != most
                for dim, given, most in zip(dims, array.shape, symbol.shape)):
            most = f", at most {symbol.shape}" if symbol.dims else ""
            raise ArgumentError(f"input '{symbol.name}' has the shape {array.shape}; "
                                f"accepted: {symbol.describe().shape}{most}")
        return array

    def _state_extents(self, arrays: Dict[str, Array]) -> Dict[str, Array]:
        """The inputs that are extents, as the other inputs state them; an error where
        these are out of bounds or contradict each other."""
        states = {symbol.stated: symbol for symbol in self._symbols if symbol.stated}
        extents = [(symbol, d, dim, extent) for symbol in self._symbols
                   if symbol.name in arrays
                   for d, (dim, extent) in enumerate(zip(symbol.dims,
                                                         arrays[symbol.name].shape))
                   if not dim.isdigit()]
        origins: Dict[str, str] = {}
        values = {name: int(arrays.get(symbol.name, self._views[symbol.name]))
                  for name, symbol in states.items()}

        def refuse(symbol: Symbol, d: int, text: str) -> None:
            raise ArgumentError(
                f"input '{symbol.name}' has the shape {arrays[symbol.name].shape}: "
                f"dimension {d} is {symbol.dims[d]}, {text}")

        for symbol, d, dim, extent in extents:
            if dim not in states or dim in origins or states[dim].name in arrays:
                continue
            origins[dim], values[dim] = symbol.name, extent
            least, most = states[dim].bounds or (extent, extent)
            if not least <= extent <= most:
                refuse(symbol, d, f"which is {least} to {most}")
        for symbol, d, dim, extent in extents:
            if evaluate(dim, values) != extent:
                refuse(symbol, d, "and " + ", ".join(
                    f"{name} is {values[name]}" +
                    (f" in input '{origins[name]}'" if name in origins else "")
                    for name in list_symbols(dim, values)))
        return {states[name].name: np.asarray(values[name], np.int64)
                for name in origins}

    def _write(self, name: str, array: Array) -> None:
        self._views[name][tuple(slice(extent) for extent in array.shape)] = array

    def _bind(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        names = [value.name for value in self.inputs]
        if len(args) > len(names):
            raise ArgumentTypeError(f"the bundle has {len(names)} inputs, and "
                                    f"{len(args)} are given")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name in given:
                raise ArgumentTypeError(f"the input '{name}' is given twice")
            symbol = self._by_name.get(name)
            if symbol is None or not symbol.direction & INPUT:
                raise ArgumentTypeError(
                    f"the bundle has no input '{name}'; it has "
                    + ", ".join(repr(each) for each in names))
            given[name] = value
        return given

    def _run(self, given: Dict[str, Any]) -> List[Array]:
        arrays: Dict[str, Array] = {}
        with self._lock:
            for symbol in self._symbols:
                if not symbol.direction & INPUT:
                    continue
                if symbol.name in given:
                    arrays[symbol.name] = self._convert(symbol, given[symbol.name])
                elif not symbol.bounds and symbol.direction == INPUT:
                    raise ArgumentTypeError(f"the input '{symbol.name}' is not given")
            arrays.update(self._state_extents(arrays))
            for name, array in arrays.items():
                self._write(name, array)
            code = self._entry(*self._arguments)
            if code:
                raise Error(f"the entry returned {code}: "
                            + _ERRORS.get(code, "an error"))
            return [self._read_output(self._by_name[value.name])
                    for value in self.outputs]

    def _read_output(self, symbol: Symbol) -> Array:
        view = self._views[symbol.name]
        if symbol.extents is None:
            return view.copy()
        region = self._regions[symbol.region]
        end = symbol.extents + 8 * len(symbol.shape)
        extents = region[symbol.extents:end].view(np.int64)
        return view[tuple(slice(int(extent)) for extent in extents)].copy()

    def __call__(self, *args: Any, **kwargs: Any) -> Union[Array, Tuple[Array, ...]]:
        outputs = self._run(self._bind(args, kwargs))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, inputs: Dict[str, Any]) -> Dict[str, Array]:
        """The outputs by their names."""
        outputs = self._run(self._bind((), inputs))
        return {value.name: array for value, array in zip(self.outputs, outputs)}

    def _find_state(self, name: str) -> Symbol:
        symbol = self._by_name.get(name)
        if symbol is None or symbol.direction != INPUT | OUTPUT:
            raise ArgumentError(f"there is no state '{name}'")
        return symbol

    def get_state(self, name: str) -> Array:
        """A copy of what a state has now."""
        with self._lock:
            return self._views[self._find_state(name).name].copy()

    def set_state(self, name: str, value: Any) -> None:
        """Replaces what a state has: zeros begin anew."""
        with self._lock:
            symbol = self._find_state(name)
            self._write(name, self._convert(symbol, value))

    def __repr__(self) -> str:
        return f"<glowish.Bundle '{self.name}'>"


def bundle(code: "str | os.PathLike[str]",
           weights: "str | os.PathLike[str] | None" = None) -> Bundle:
    """Loads the object of a bundle into this process.

    code: NAME.o, beside its header NAME.h; it is linked by cc, clang or lld.
    weights: NAME.weights.bin, where it is not beside the object.
    """
    return Bundle(code, weights)

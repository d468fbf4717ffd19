"""Writes TorchScript archives without PyTorch, for tests of what reads them.

    write_archive("net.pt", code, {"scale": [1.0, 2.0], "steps": 3})

`code` is that of the class Net, as torch.jit.save() writes it. Attributes are
numbers, strings, lists of numbers within a tuple, and lists of floats, which are
tensors. As a program: torchscript_archive.py FILE CODE writes an archive of the
code in the file CODE, without attributes."""

import io
import pickle
import struct
import sys
import types
import zipfile


def _define(module, name, cls):
    """Makes pickles refer to `cls` by a name that Python doesn't have here."""
    cls.__module__, cls.__name__, cls.__qualname__ = module, name, name
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        path = ".".join(parts[:end])
        sys.modules.setdefault(path, types.ModuleType(path))
    setattr(sys.modules[module], name, cls)
    return cls


class _Tensor:
    """A tensor of floats, which is pickled as a call."""
    def __init__(self, values, key, is_parameter):
        self.values, self.key, self.is_parameter = values, key, is_parameter

    def __reduce__(self):
        storage = _Storage(self.key, len(self.values))
        size = (len(self.values),)
        return _rebuild, (storage, 0, size, (1,), self.is_parameter, _ordered())


class _Storage:
    def __init__(self, key, count):
        self.key, self.count = key, count


class _FloatStorage:
    pass


def _rebuild(*arguments):
    return arguments


def _ordered():
    from collections import OrderedDict
    return OrderedDict()


class _Pickler(pickle._Pickler):
    """Refers to storages by their files."""
    def persistent_id(self, obj):
        if isinstance(obj, _Storage):
            return ("storage", _FloatStorage, obj.key, "cpu", obj.count)
        return None

    def _batch_setitems(self, items, *_):
        items = list(items)
        if not items:
            return
        # PyTorch doesn't know the operation for one item.
        self.write(pickle.MARK)
        for key, value in items:
            self.save(key)
            self.save(value)
        self.write(pickle.SETITEMS)


def _pickle(value):
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=2).dump(value)
    return buffer.getvalue()


def write_archive(path, code, attributes=None, parameters=()):
    """Writes the archive of a module of the class Net. Those of its attributes that
    `parameters` names require gradients."""
    net = _define("__torch__", "Net", type("Net", (), {}))
    _define("torch", "FloatStorage", _FloatStorage)
    _define("torch._utils", "_rebuild_tensor_v2", _rebuild)
    module, storages = net(), []
    module.training = False
    for name, value in (attributes or {}).items():
        if isinstance(value, list):
            storages.append(struct.pack(f"<{len(value)}f", *value))
            value = _Tensor(value, str(len(storages) - 1), name in parameters)
        setattr(module, name, value)
    with zipfile.ZipFile(path, "w") as archive:
        def add(name, data):
            # The same bytes whenever it is written.
            archive.writestr(zipfile.ZipInfo("net/" + name), data)
        add("data.pkl", _pickle(module))
        add("code/__torch__.py", code)
        add("constants.pkl", _pickle(()))
        for key, data in enumerate(storages):
            add(f"data/{key}", data)
        add("version", "3\n")


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as source:
        write_archive(sys.argv[1], source.read())

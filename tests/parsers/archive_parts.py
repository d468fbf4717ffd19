#!/usr/bin/python3
"""archive_parts.py ARCHIVE [INPUT...] > SEED: a seed of the fuzzers pt2 and torchscript.

Writes the entries of an archive as the fuzzers read them (Inputs.h): a line
`=== NAME` and the contents. Each INPUT is a type of an input as -model-input takes it.
The seeds in corpus/ are of tests/e2e/pt2_writer.py and tests/common/torchscript_archive.py:

    archive_parts.py --pt2 FOLDER            writes seeds of small modules (PyTorch)
    archive_parts.py --torchscript FOLDER    writes seeds of small pieces of code
"""

import os
import sys
import tempfile
import zipfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Bodies of TorchScript's forward(), with the types of its inputs.
CODES = {
    "loop": ("""  def forward(self: __torch__.Net, x: Tensor) -> Tensor:
    y = torch.add(x, self.scale)
    for i in range(self.steps):
      y = torch.mul(y, 2)
    return y
""", ["x,float,[2]"]),
    "branch": ("""  def forward(self: __torch__.Net, x: Tensor) -> List[Tensor]:
    n = torch.size(x, 0)
    if torch.gt(n, 1):
      y = torch.relu(x)
    else:
      y = torch.neg(x)
    parts = torch.split(y, 1, 0)
    return [torch.cat(parts, 0), torch.sum(y)]
""", ["x,float,[2,3]"]),
    "views": ("""  def forward(self: __torch__.Net, x: Tensor) -> Tuple[Tensor, Tensor]:
    v = torch.slice(x, 1, 0, 2)
    w = torch.view(torch.contiguous(v), [-1])
    _0 = torch.add_(v, 1)
    d = {"a": w}
    return (torch.unsqueeze(d["a"], 0), torch.softmax(x, -1))
""", ["x,float,[2,4]"]),
}


def write_parts(archive, inputs, out):
    """Writes the parts of the file `archive` to the binary file `out`."""
    parts = [("inputs", "\n".join(inputs).encode())] if inputs else []
    with zipfile.ZipFile(archive) as file:
        parts += [(info.filename, file.read(info)) for info in file.infolist()]
    out.write(b"\n".join(b"=== " + name.encode() + b"\n" + contents
                         for name, contents in parts))


def make_torchscript(folder):
    sys.path.insert(0, os.path.join(TESTS, "common"))
    import torchscript_archive
    for name, (body, inputs) in CODES.items():
        code = ("class Net(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                "  scale : Tensor\n  steps : int\n" + body)
        path = os.path.join(folder, name)
        with tempfile.NamedTemporaryFile(suffix=".pt") as archive:
            torchscript_archive.write_archive(
                archive.name, code, {"scale": [1.0, 2.0], "steps": 3})
            with open(path, "wb") as out:
                write_parts(archive.name, inputs, out)


def small_modules():
    """(name, module, inputs): a few operators each, as inputs are to be small."""
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch_modules import Function as f
    x, image = torch.ones(2, 3), torch.ones(1, 2, 4, 4)
    yield "arithmetic", f(lambda a: [(a + 2) * a, a.sum(1)]), (x,)
    yield "linear", nn.Linear(3, 2), (x,)
    yield "convolution", nn.Conv2d(2, 2, 3, padding=1), (image,)
    yield "pool", f(lambda a: [F.max_pool2d(a, 2), F.avg_pool2d(a, 2)]), (image,)
    yield "norm", nn.BatchNorm2d(2), (image,)
    yield "layer-norm", nn.LayerNorm(3), (x,)
    yield "views", f(lambda a: [a.view(3, 2).t(), a[:, 1:], a.unsqueeze(0)]), (x,)
    yield "split", f(lambda a: list(a.split(1)) + [torch.cat([a, a], 1)]), (x,)
    yield "index", f(lambda a: [a[torch.tensor([1, 0])], a.gather(
        1, torch.zeros(2, 1, dtype=torch.int64))]), (x,)
    yield "reductions", f(lambda a: [a.mean(0), a.max(1)[0], a.argmax()]), (x,)
    yield "softmax", f(lambda a: [F.softmax(a, -1), a.log_softmax(0)]), (x,)
    yield "resize", f(lambda a: F.interpolate(a, scale_factor=2.0)), (image,)
    yield "embedding", nn.Embedding(4, 2), (torch.tensor([1, 3]),)
    yield "where", f(lambda a: [torch.where(a > 0, a, -a), a.clamp(0, 1)]), (x,)
    yield "matmul", f(lambda a: [a @ a.t(), torch.einsum("ij,kj->ik", a, a)]), (x,)


def make_pt2(folder):
    sys.path.insert(0, os.path.join(TESTS, "e2e"))
    import pt2_writer
    import torch_modules
    for name, module, inputs in small_modules():
        with tempfile.TemporaryDirectory() as temporary:
            archive = os.path.join(temporary, "m.pt2")
            module, inputs = torch_modules.built(name, module, inputs)
            for parameter in module.parameters():
                parameter.requires_grad_(True)
            pt2_writer.write(archive, module, inputs)
            with open(os.path.join(folder, name), "wb") as out:
                write_parts(archive, [], out)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    if sys.argv[1] == "--pt2":
        make_pt2(sys.argv[2])
    elif sys.argv[1] == "--torchscript":
        make_torchscript(sys.argv[2])
    else:
        write_parts(sys.argv[1], sys.argv[2:], sys.stdout.buffer)


if __name__ == "__main__":
    main()

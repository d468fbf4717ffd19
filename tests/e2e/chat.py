#!/usr/bin/python3
"""examples/chat, compiled and linked by its run.sh: the same text however a prompt
is divided, that of the interpreter without chance, what it remembers, wrong input,
and the reference text of another model, which is skipped where there is no test
data ($GLOWISH_TEST_DATA, default ../shared/data). $GLOWISH_BIN: the programs
(default build/release/bin). Exits with 77 where there is no NumPy."""

import ctypes
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(ROOT)
sys.path[:0] = ["tests/e2e", "examples/chat"]

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

import make_model  # noqa: E402
import tokenizer  # noqa: E402
from model_runs import BIN, run_model  # noqa: E402

STORIES = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"),
                       "llm/stories260K")
PIECES = "examples/chat/chat.tok"
LINES = ["Hello!", "My name is Nora.", "Tell me a story about a fox.",
         "What was the fox called?", "What is my name?", "Count to seven."]
CHUNKS = ["0", "1", "3", "7"]  # 0: as many as a call takes
wrong = 0


def check(is_right, what, *shown):
    global wrong
    if not is_right:
        wrong += 1
        print("WRONG " + what, *shown)


class Chat:
    """A model in a folder of its own, with its tokenizer."""

    def __init__(self, work, pieces=PIECES, model=None):
        self.work, self.pieces = work, pieces
        environment = dict(os.environ, GLOWISH_BIN=BIN, WORK=work,
                           TOKENIZER=pieces)
        if model:
            environment["MODEL"] = model
        done = subprocess.run(["examples/chat/run.sh", "-count", "1", "-p", "Hi!"],
                              env=environment, capture_output=True, check=False)
        check(done.returncode == 0 and done.stdout, "run.sh", done.stderr.decode())

    def run(self, *options, lines=(), weights=None, pieces=None):
        """Exit code, text, and what was said about it."""
        done = subprocess.run(
            [os.path.join(self.work, "chat"), *options,
             weights or os.path.join(self.work, "model.weights.bin"),
             pieces or self.pieces], input="".join(f"{line}\n" for line in lines),
            capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


def check_conversation(chat):
    """Answers with chance: equal for all chunks, others with other seeds."""
    code, text, errors = chat.run(lines=LINES)
    answers = text.splitlines()
    check(code == 0 and len(answers) == len(LINES), "conversation", text, errors)
    check("wrote" in errors and "a second" in errors, "rate", errors)
    for chunk in CHUNKS:
        check(chat.run("-chunk", chunk, lines=LINES)[1] == text, "chunk", chunk)
    check("Nora" in answers[4], "name", answers[4])
    check(answers[3] in answers[2] and "called" in answers[3], "name of the fox",
          answers[3])
    stories = {chat.run("-seed", str(seed), "-p", LINES[2])[1]
               for seed in range(1, 6)}
    check(len(stories) == 5, "stories of five seeds", stories)
    best = {chat.run("-seed", str(seed), option, value, "-p", LINES[2])[1]
            for seed in (1, 2) for option, value in
            (("-temperature", "0"), ("-top-k", "1"), ("-top-p", "0"))}
    check(len(best) == 1, "the best tokens", best)
    # A new conversation does not know what was said before.
    text = chat.run("-temperature", "0", lines=[LINES[1], "/new", LINES[4]])[1]
    check("Nora" not in text.splitlines()[-1], "/new", text)
    code, text, errors = chat.run(lines=["Tell me a story."] * 12)
    check(code == 0 and text.count("\n") == 12 and
          "a new conversation begins" in errors, "full context", text, errors)


def check_interpreter(chat, work):
    """The best tokens are those of the model on the interpreter, which gets all of
    the text in one call."""
    pieces = tokenizer.Tokenizer(tokenizer.read(PIECES))
    text = chat.run("-temperature", "0", "-p", LINES[2])[1]
    ids = ([tokenizer.START] + pieces.encode(LINES[2]) +
           [tokenizer.FIRST_BYTE + ord("\n")])
    first = len(ids)
    ids += pieces.encode(text.rstrip("\n")) + [tokenizer.END]
    past = np.zeros((1, make_model.KEY_HEADS, 0, make_model.HEAD), np.float32)
    inputs = {"input_ids": np.array([ids[:-1]], np.int64),
              "position_ids": np.arange(len(ids) - 1, dtype=np.int64)[None]}
    for layer in range(make_model.LAYERS):
        inputs[f"past.{layer}.key"] = inputs[f"past.{layer}.value"] = past
    outputs, printed = run_model(["examples/chat/chat.onnx"], inputs, "Interpreter",
                                 os.path.join(work, "interpreter"))
    if outputs is None:
        check(False, "model-runner", printed)
        return
    best = outputs["logits"][0].argmax(axis=1)[first - 1:]
    check(best.tolist() == ids[first:], "interpreter", best, ids[first:])


class CTokenizer(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int32), ("pieces", ctypes.c_void_p),
                ("sorted", ctypes.c_void_p), ("ids", ctypes.c_int32 * 256)]


def check_encoders(work):
    """tokenizer.c encodes as tokenizer.py does, with which the model was trained."""
    library = os.path.join(work, "tokenizer.so")
    subprocess.run(["clang-19", "-std=c11", "-shared", "-fPIC",
                    "examples/chat/tokenizer.c", "-lm", "-o", library], check=True)
    code = ctypes.CDLL(library)
    code.parseTokenizer.restype = ctypes.c_char_p
    with open(PIECES, "rb") as file:
        data = file.read()
    c = CTokenizer()
    message = code.parseTokenizer(ctypes.byref(c), data, ctypes.c_size_t(len(data)))
    check(message is None, "parseTokenizer", message)
    python = tokenizer.Tokenizer(tokenizer.read(PIECES))

    def encode(text):
        ids = (ctypes.c_int32 * (2 * len(text) + 4))()
        return ids[:code.encode(ctypes.byref(c), text, ids)]

    lines = LINES + ["I am Zzyzx.", "a  b", 'He said: "Hello, hello!"', "...",
                     "aé\u20ac\U0001f600\x07"]
    for line in lines:
        check(encode(line.encode()) == python.encode(line), "encode", line)
    check(encode(b"") == [], "nothing", encode(b""))


def check_errors(chat, work):
    with open(PIECES, "rb") as file:
        data = file.read()
    contents = {
        "missing": None, "empty": b"", "cut": data[:-3], "number": data[:7],
        "few": data[:4 + 8 + len("<unk>")],
        "length": data[:8] + b"\xff\xff\xff\x7f" + data[12:],
        "negative": data[:8] + b"\xff\xff\xff\xff" + data[12:],
        "score": data[:4] + b"\xff\xff\xff\xff" + data[8:]}
    for name, content in contents.items():
        path = os.path.join(work, name + ".tok")
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        check_error(name, path, *chat.run("-p", "Hi!", pieces=path))
    check_error("weights", "weights", *chat.run("-p", "Hi!", weights=PIECES))
    check_error("long prompt", "the context 512", *chat.run("-p", "a b c " * 400))
    check_error("long line", "the context 512", *chat.run(lines=["a b c " * 400]))
    check_error("number", "-top-p takes", *chat.run("-top-p", "1.5"))
    code, text, errors = chat.run("-unknown")
    check(code == 1 and not text and errors.startswith("usage"), "usage", errors)


def check_error(name, part, code, text, errors):
    """One line, beside those about reading, which has a part."""
    lines = [line for line in errors.replace("\r", "\n").splitlines()
             if line.strip("> ") and not line.startswith("reading ")]
    check(code == 1 and not text and len(lines) == 1 and part in lines[0], name,
          code, text, errors)


def check_stories(work):
    """A model with as many heads of its own, without a dialogue."""
    if not os.path.isdir(STORIES):
        print(f"stories260K: skipped, there is no {STORIES}")
        return
    chat = Chat(os.path.join(work, "stories"), os.path.join(STORIES, "tok512.bin"),
                os.path.join(STORIES, "attention/model.onnx"))
    with open(os.path.join(STORIES, "reference/greedy.txt"),
              encoding="utf-8") as file:
        expected = file.read()
    options = ["-continue", "-temperature", "0"]
    text = chat.run(*options, "-count", "300", "-p", "")[1]
    check(text == expected + "\n", "stories260K", text)
    # Sentences that the text begins with, as prompts.
    for end in ("time", "park.", "too high.", 'find it."'):
        prompt = expected[:expected.index(end) + len(end)]
        for chunk in CHUNKS:
            text = chat.run(*options, "-chunk", chunk, "-p", prompt)[1]
            check(text.startswith(expected), "stories260K", chunk, prompt, text)


def main():
    with tempfile.TemporaryDirectory() as work:
        chat = Chat(os.path.join(work, "chat"))
        check_encoders(work)
        if not wrong:
            check_conversation(chat)
            check_interpreter(chat, work)
            check_errors(chat, work)
        check_stories(work)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

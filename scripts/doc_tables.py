"""Tables of figures in the documents, each between the marks of the program that
measures it."""
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def split(document, program):
    """What comes before, between and after the mark `<!-- PROGRAM -->` and the next
    `<!-- end -->` of the document, a file in docs/."""
    with open(os.path.join(ROOT, "docs", document)) as file:
        before, rest = file.read().split(f"<!-- {program} -->\n")
    text, after = rest.split("\n<!-- end -->", 1)
    return before, text, after


def read(document, program):
    """The text between the marks of the program."""
    return split(document, program)[1]


def replace(document, program, text):
    """Puts the text between the marks of the program."""
    before, _, after = split(document, program)
    path = os.path.join(ROOT, "docs", document)
    with open(path + ".new", "w") as file:
        file.write(f"{before}<!-- {program} -->\n{text}\n<!-- end -->{after}")
    os.rename(path + ".new", path)

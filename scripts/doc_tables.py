"""Tables of figures in the documents, each between the marks of the program that
measures it."""
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def replace(document, program, text):
    """Puts the text between `<!-- PROGRAM -->` and the next `<!-- end -->` of the
    document, a file in docs/."""
    path = os.path.join(ROOT, "docs", document)
    with open(path) as file:
        old = file.read()
    begin, end = f"<!-- {program} -->\n", "<!-- end -->"
    before, rest = old.split(begin)
    with open(path + ".new", "w") as file:
        file.write(before + begin + text + "\n" + end + rest.split(end, 1)[1])
    os.rename(path + ".new", path)

#!/usr/bin/env python3
"""man_page.py TOOL PAGE: writes the man page of a tool, from what it prints for
--help and --version. The same tool gives the same page."""
import os
import re
import subprocess
import sys


def escape(text):
    """Text in roff, where lines must not begin with a dot or an apostrophe."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def read_options(lines):
    """The lines of roff for the options under their titles."""
    for line in lines:
        option = re.match(r"  (-\S.*?) +- (.*)", line)
        value = re.match(r"    (=\S*) +- +(.*)", line)
        if option:
            yield from (".TP", "\\fB" + escape(option[1]) + "\\fR",
                        escape(option[2]))
        elif value:
            yield from (".RS", ".TP", "\\fB" + escape(value[1]) + "\\fR",
                        escape(value[2]), ".RE")
        elif line.endswith(":"):
            yield ".SS " + escape(line.rstrip(":"))
        elif line.strip():
            raise ValueError("no line of options: " + line)


def make_page(name, help_text, version):
    overview = re.search(r"^OVERVIEW: (.*?)\n\nUSAGE: ", help_text, re.S)[1]
    overview = " ".join(overview.split())
    usage = re.search(r"^USAGE: \S+ (.*)$", help_text, re.M)[1]
    options = help_text.split("\nOPTIONS:\n", 1)[1].splitlines()
    summary = re.split(r"[.:](?: |$)", overview)[0]
    lines = [f'.TH {name.upper()} 1 "" "{escape(version)}"',
             ".SH NAME",
             f"{escape(name)} \\- {escape(summary[0].lower() + summary[1:])}",
             ".SH SYNOPSIS", f"\\fB{escape(name)}\\fR {escape(usage)}",
             ".SH DESCRIPTION", escape(overview),
             ".PP", "One dash in front of an option is as good as two.",
             ".SH OPTIONS", *read_options(options),
             ".SH EXIT STATUS",
             "0; 1 where the model, an option or a file is not accepted, with one "
             "line on the standard error that says what would be."]
    return "\n".join(lines) + "\n"


def main():
    tool, page = sys.argv[1:]

    def ask(option):
        return subprocess.run([tool, option], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    text = make_page(os.path.basename(tool), ask("--help"),
                     ask("--version").split(",")[0].strip())
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()

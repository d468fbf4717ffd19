"""Builds libglowish with all mutants in it, beside a build folder of the project.

The objects of the mutated folders are compiled again with the plugin, by the commands of
the build folder, and linked with the other objects that are there: the test programs of
the build folder then run with this library instead of theirs.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess

FOLDERS = ["lib/Optimizer", "lib/IR", "lib/IRGen", "lib/Ops", "lib/Backends/CPU",
           "lib/Backends/Interpreter"]
LIBRARY = "libglowish.so"


class Mutant:
    """A row of the tables that the plugin writes."""

    def __init__(self, row):
        (self.id, self.file, line, column, self.kind, self.detail,
         self.function) = row.rstrip("\n").split("\t")
        self.line, self.column = int(line), int(column)

    @property
    def layer(self):
        """The folder that it is in, as tables have it."""
        parts = self.file.split("/")
        return parts[2] if parts[1] == "Backends" else parts[1]


def compile_object(command, folder, output, table, root, plugin):
    """Compiles one object with its mutants, and writes their table."""
    words = [word for word in shlex.split(command) if word != "-Werror"]
    words[words.index("-o") + 1] = output
    words += ["-gline-tables-only", "-fno-discard-value-names", f"-fpass-plugin={plugin}",
              "-w"]
    os.makedirs(os.path.dirname(output), exist_ok=True)
    environment = dict(os.environ, GLOWISH_MUTATION_ROOT=root,
                       GLOWISH_MUTATION_FOLDERS=":".join(FOLDERS),
                       GLOWISH_MUTATION_TABLE=table)
    # A plugin is no part of what ccache compares.
    words = words[1:] if os.path.basename(words[0]) == "ccache" else words
    return subprocess.run(words, cwd=folder, env=environment, check=False,
                          capture_output=True, text=True)


def build(build_folder, work, root, plugin, runtime, jobs, keep):
    """Compiles and links the library of mutants; with `keep` objects that are there are
    kept."""
    with open(f"{build_folder}/compile_commands.json", encoding="utf-8") as file:
        commands = json.load(file)
    objects = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = []
        for entry in commands:
            match = re.search(r" -o (\S+)", entry["command"])
            output = match and match[1]
            if not output or output.endswith(".c.o") or not any(
                    output.startswith(f"{each}/CMakeFiles/") for each in FOLDERS):
                continue
            objects[output] = f"{work}/{output}"
            table = f"{work}/{output}.tsv"
            if keep and os.path.exists(objects[output]):
                continue
            runs.append((output, pool.submit(
                compile_object, entry["command"], entry["directory"], objects[output],
                table, root, plugin)))
        for number, (output, run) in enumerate(runs):
            result = run.result()
            if result.returncode != 0:
                raise SystemExit(f"mutate.py: {output} does not compile:\n{result.stderr}")
            print(f"[{number + 1}/{len(runs)}] {output}", flush=True)
    link(build_folder, work, objects, runtime)


def link(build_folder, work, objects, runtime):
    """Links the library from mutated objects and the others of the build folder."""
    listing = subprocess.run(
        ["ninja", "-C", build_folder, "-t", "commands", f"lib/{LIBRARY}"], check=True,
        capture_output=True, text=True).stdout
    line = next(each for each in listing.splitlines()
                if re.search(rf"-shared .*-o lib/{LIBRARY}", each))
    words = [objects.get(word, word) for word in shlex.split(line)]
    words = words[words.index("&&") + 1:]
    words = words[:words.index("&&")]
    output = words[words.index("-o") + 1]
    words[words.index("-o") + 1] = f"{work}/{output}"
    os.makedirs(f"{work}/lib", exist_ok=True)
    subprocess.run(words + [runtime], cwd=build_folder, check=True)
    # The names that programs ask for, and the libraries that are loaded beside it.
    for name in os.listdir(f"{build_folder}/lib"):
        path, target = f"{build_folder}/lib/{name}", f"{work}/lib/{name}"
        if os.path.lexists(target) and os.path.islink(target):
            os.remove(target)
        if os.path.islink(path):
            os.symlink(os.readlink(path), target)
        elif name == "glowish":
            os.symlink(os.path.abspath(path), target)


def read_mutants(work):
    """All mutants by their ids, and the ids of each unit in the order of its numbers."""
    mutants, units = {}, {}
    for folder, _, files in sorted(os.walk(work)):
        for name in sorted(files):
            if not name.endswith(".o.tsv"):
                continue
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                unit = next(file).rstrip("\n").split("\t")[1]
                rows = [Mutant(row) for row in file]
            units[int(unit, 16)] = [row.id for row in rows]
            for row in rows:
                mutants.setdefault(row.id, row)
    return mutants, units

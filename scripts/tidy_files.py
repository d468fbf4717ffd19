#!/usr/bin/env python3
"""tidy_files.py BUILD CACHE PATH...: what scripts/tidy.sh does once the build
folder is there."""
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path

WARNING = re.compile(r'^(?P<file>[^:\n]+):\d+:\d+: (?:warning|error): '
                     r'.* \[(?P<checks>[^\]\s]+)\]$', re.MULTILINE)
ROOT = Path.cwd()


def get_commands(build, paths):
    """The compile commands of the files below `paths`, by file."""
    commands = {}
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        file = Path(entry['directory'], entry['file']).resolve()
        if any(file.is_relative_to(path) for path in paths):
            commands[file] = entry
    return commands


def hash_input(entry, settings):
    """A hash of all that the result depends on: the preprocessed file with its
    comments, and the settings."""
    command = shlex.split(entry['command'])
    output = command.index('-o')
    del command[output:output + 2]
    command.remove('-c')
    result = subprocess.run([*command, '-E', '-C'], cwd=entry['directory'],
                            capture_output=True, check=False)
    if result.returncode:
        sys.exit(result.stderr.decode())
    return hashlib.sha256(settings + result.stdout).hexdigest()


def tidy(file, entry, build, cache, settings):
    """What clang-tidy says of a file, and the seconds that it took."""
    start = time.monotonic()
    kept = cache / hash_input(entry, settings)
    if kept.exists():
        return kept.read_text(), 0.0
    result = subprocess.run(['clang-tidy-19', '--quiet', '-p', build, file],
                            capture_output=True, text=True, check=False)
    if result.returncode and not WARNING.search(result.stdout):
        sys.exit(f'{file}: {result.stderr}')
    # Atomic, as another process may do the same.
    part = kept.with_suffix(f'.{os.getpid()}')
    part.write_text(result.stdout)
    part.rename(kept)
    return result.stdout, time.monotonic() - start


def split_warnings(text):
    """The warnings of a file, each with the lines that explain it."""
    starts = [match.start() for match in WARNING.finditer(text)]
    for begin, end in zip(starts, starts[1:] + [len(text)]):
        yield text[begin:end].rstrip()


def get_folder(warning):
    path = Path(os.path.relpath(WARNING.match(warning)['file'], ROOT))
    return '/'.join(path.parts[:-1][:3])


def main():
    build, cache = Path(sys.argv[1]), Path(sys.argv[2])
    paths = [Path(path).resolve() for path in sys.argv[3:]]
    commands = get_commands(build, paths)
    if not commands:
        sys.exit(f'tidy.sh: no source file of {build} is below '
                 f"{', '.join(sys.argv[3:])}")
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(['clang-tidy-19', '--version'], check=True,
                             capture_output=True).stdout
    settings = version + Path('.clang-tidy').read_bytes()

    jobs = int(os.environ.get('JOBS') or os.cpu_count() or 1)
    found, start, num_run = {}, time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = pool.map(
            lambda item: tidy(*item, build, cache, settings), commands.items())
        for text, took in results:
            num_run += took > 0
            # Those in headers are found with each file that includes them.
            for warning in split_warnings(text):
                if warning not in found:
                    found[warning] = None
                    print(warning.replace(f'{ROOT}/', ''), flush=True)
    seconds = time.monotonic() - start

    for title, key in (('folder', get_folder),
                       ('check', lambda w: WARNING.match(w)['checks'])):
        counts = collections.Counter(map(key, found))
        print(f'\nBy {title}:')
        for name, count in counts.most_common():
            print(f'{count:6} {name}')
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f'\n{len(found)} warnings in {len(commands)} files, {num_run} of which '
          f'had changed; {seconds:.0f} s, of a processor '
          f'{usage.ru_utime + usage.ru_stime:.0f} s')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""retired_words.py [--counts] [--update] [FOLDER]: no name, comment, message or
page of the project (or of FOLDER) has a word that was retired.

RETIRED lists each with the term to use. Where `remaining` is stated, the word is
not enforced yet: it had that many uses, and may not get more. To enforce it,
delete `remaining`; the test demands that when no use is left. --counts prints the
uses of all words; --update lowers what `remaining` states to what there is.
"""
import argparse
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Optional

MAX_LINES = 20  # that are printed for a word

SUFFIXES = {'.c', '.cc', '.cmake', '.cpp', '.css', '.def', '.h', '.html', '.in',
            '.js', '.md', '.mjs', '.py', '.sh', '.td', '.test', '.yml'}
SKIPPED_FOLDERS = {'.git', '__pycache__', 'build', 'node_modules'}
# They have the words in them to list or to test them.
SKIPPED_FILES = {'tests/retired_words.py',
                 'tests/lit/tools/check_retired_words.py'}


@dataclass
class Word:
    name: str
    regex: str
    instead: str
    # How many uses there were when this was last looked at; without it there may
    # be none.
    remaining: Optional[int] = None
    # Paths (of files or folders) with uses that stay, and why.
    allowed: Dict[str, str] = field(default_factory=dict)
    # The folders in which the word has the meaning that was retired.
    within: tuple = ('',)


RETIRED = [
    # The layers and how errors are returned.
    Word('room', r'\brooms?\b', 'layer (of code), memory, space'),
    Word('GLOWISH_CHECK', r'\bGLOWISH_CHECK\b', 'GLOWISH_RETURN_IF_ERROR'),
    Word('GLOWISH_TRY', r'\bGLOWISH_TRY\b', 'GLOWISH_ASSIGN_OR_RETURN'),

    # Graph and importer.
    Word('MergeSteps', r'\b[mM]erge-?[sS]teps\b', 'batch sequence matmuls'),
    Word('JoinSlices', r'\b[jJ]oin-?[sS]lices\b', 'hoist over slices'),
    Word('MergeProducts', r'\b[mM]erge-?[pP]roducts\b', 'merge matmuls'),
    Word('SimplifyProducts', r'\b[sS]implify-?[pP]roducts\b',
         'simplify matmuls'),
    Word('Sized', r'Sized[A-Z]\w*', 'extent, open dimension'),
    Word('file names of operators', r'\b(Found|Removed|Blocks)\.(cpp|h)\b',
         'the name of the operator: NonZero, Deprecated, DepthToSpace'),
    Word('Windows', r'\bWindows\.(cpp|h)\b', 'Pooling, NdPooling, SlidingWindow'),
    Word('written out', r'\bwritten out\b', 'unrolled (a loop), inlined (a body)'),

    # A multiplication of matrices. What stays: products of numbers, named as the
    # field does ('dot product', 'sum of products') or followed by what is
    # multiplied ('the product of the extents').
    Word('product',
         r'(?<![mM]atrix )(?<!inner )(?<!outer )(?<!partial )(?<!Partial)'
         r'(?<![dD]ot)(?<!dot )(?<!dot_)(?<!um of )(?<!ums of )(?<!ums and )'
         # Names that are words of their own, above.
         r'(?<![mM]erge-)(?<![mM]erge)(?<![sS]implify-)(?<![sS]implify)'
         r'([pP]roducts?|PRODUCTS?)(?![a-z])'
         r'(?! of (?!(\w+ )?(network|layer|step|matri|weight|activation)))',
         'matmul, GEMM, matrix product; product of ...'),

    # IR and memory.
    Word('LoneLoop', r'LoneLoop|FusionObstacle',
         'missed fusion, unfused loop'),
    Word('Region', r'\bRegions?\b', 'StridedLayout, strided view',
         within=('include/glowish/IR', 'lib/IR', 'lib/IRGen')),
    Word('NestConcats', r'\b[nN]est-?[cC]oncats\b', 'coalesce concats'),
    Word('PlaceLifetimes', r'\b[pP]lace-?[lL]ifetimes\b', 'insert lifetimes'),
    Word('PlaceholderLives', r'\bPlaceholderLives\b', 'PlaceholderLiveness'),
    Word('PlanReplay', r'PlanReplay|\breplayPlan\b',
         'shadow-memory verifier'),
    Word('lives', r'\blives\b', 'is live; lifetime, live range'),
    Word('Recompute', r'\bRecompute\w*|\b(set|schedule)Recomput\w+'
         r'|(?<=[\s`])-recompute\b', 'rematerialize'),
    Word('way back', r'\bway back\b', 'backward pass'),
    Word('what flows back', r'\bflow(s|ed|ing)? back\b',
         'adjoint, upstream gradient'),

    # The CPU back end.
    Word('digit', r'\b(num|high|low)?[dD]igits?\b', 'int8 slice',
         within=('lib/Backends/CPU/Kernels',),
         allowed={'lib/Backends/CPU/Kernels/AMX/SlicedAlgorithm.cpp': 'an alias',
                  'lib/Backends/CPU/Kernels/Math/SquareRoot.cpp':
                  'digits of a square root'}),
    Word('Split', r'\bSplit(Image|Stage|Plan|Filter|Weights|Convolution)\w*',
         'Sliced*, Slice*'),
    Word('MatrixUnit', r'\bMatrixUnit\w*', 'AmxTile'),
    Word('Anchors', r'\bAnchors\.(cpp|h)\b', 'KernelSelection'),
    Word('way to compute', r'\bways? to compute\b|\bgetWays\b|\bisSameWay\b',
         'candidate, algorithm'),
    Word('turned', r'\bis\w*Turned\b|\bturned\b', 'transposed, column-major',
         within=('lib/Backends', 'include/glowish/Backends')),
    Word('flat', r'\b(is)?[fF]lat\b|\bareOneRow\b|\bjoinRows\b',
         'contiguous; collapse dimensions',
         within=('lib/Backends', 'include/glowish/Backends')),
    Word('staged', r'\bstaged\b|Stages?\b', 'packed; packing buffer',
         within=('lib/Backends/CPU',)),
    Word('made ready', r'\bmade ready\b', 'selected, packed'),
    Word('Levels', r'\bLevels\.(cpp|h)\b', 'function multiversioning'),

    # Tests.
    Word('Knowledge', r'Knowledge|Worsen|isDelicate|\bworsen',
         'reference evaluation, rounding perturbation'),
    Word('learn', r'\blearn(s|ed|ing)?\b', 'evaluate', within=('tests/fuzz',)),
    Word('Proposals', r'\bProposals?\b', 'operand generator'),
    Word('Campaign', r'\b[cC]ampaigns?\b', 'fuzz session'),
    Word('Setting', r'\b[sS]ettings?\b', 'compile config',
         within=('tests/fuzz',)),
    Word('hostile', r'\b[hH]ostile\b|\bGLOWISH_HOSTILE\w*',
         'malformed, robustness'),
    Word('odd', r'\b[oO]dd (model|shape|file|input|value)s?\b|\bOdd and\b'
         r'|\bodd\[', 'malformed (of models), unusual (of shapes, values)'),
    Word('damage', r'\b[dD]amage(s|d)?\b|\b[dD]amaging\b',
         'corrupt, mutate; malformed'),
    Word('picture', r'[pP]ictures?(?![a-z])|\b[pP]hotographs?\b', 'image'),

    # Programs are no persons.
    Word('somebody', r'\b([sS]ome|[nN]o|[aA]ny|[eE]very)(body|one)\b',
         'the thing that does it: a pass, a kernel, a caller, a user',
         allowed={'tests/lit/bundle/static.test': 'a test vector of XXH64',
                  'tests/unit/SupportTest.cpp': 'a test vector of XXH64'}),
    Word('who', r'\b[wW]ho\b|\b[wW]hom\b|\b[wW]hoever\b',
         'the thing that does it: a pass, a kernel, a caller, a user'),
    Word('a person', r'\bpersons?\b', 'user'),
]


def read_files(root: Path):
    """The lines of all texts below root, by their paths."""
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            key = path.relative_to(root).as_posix()
            if key in SKIPPED_FILES or (path.suffix not in SUFFIXES and
                                        name != 'CMakeLists.txt'):
                continue
            files[key] = path.read_text(encoding='utf-8').split('\n')
    return files


def is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(folder + '/')


def find_uses(word: Word, files, texts):
    """The uses of a word: (place, text), in texts and in names of files."""
    regex = re.compile(word.regex)
    for path, lines in files.items():
        if not any(is_below(path, folder) for folder in word.within):
            continue
        if any(is_below(path, allowed) for allowed in word.allowed):
            continue
        for match in regex.finditer(path):
            yield path, match.group()
        if not regex.search(texts[path]):
            continue
        for number, line in enumerate(lines, 1):
            for match in regex.finditer(line):
                yield f'{path}:{number}', match.group()


def check(word: Word, uses) -> Optional[str]:
    """What is wrong with the uses of a word, or None."""
    if word.remaining is None:
        if not uses:
            return None
        wrong = f"'{word.name}' was retired; use: {word.instead}"
    elif not uses:
        return (f"'{word.name}' has no use any more: delete its `remaining` in "
                'tests/retired_words.py')
    elif len(uses) > word.remaining:
        wrong = (f"'{word.name}' was retired and has {len(uses)} uses, "
                 f'{word.remaining} before; use: {word.instead}')
    else:
        return None
    lines = [f'  {place}: {text}' for place, text in uses[:MAX_LINES]]
    if len(uses) > MAX_LINES:
        lines.append(f'  and {len(uses) - MAX_LINES} more')
    return '\n'.join([wrong, *lines])


def update(counts):
    """Lowers `remaining` in this file to the uses that there are."""
    path = Path(__file__)
    source = path.read_text(encoding='utf-8')
    for word in RETIRED:
        if word.remaining is None or counts[word.name] >= word.remaining:
            continue
        # The next `remaining` after the word's beginning is its own.
        start = source.index(f"    Word({word.name!r},")
        head, tail = source[:start], source[start:]
        tail = re.sub(r'remaining=\d+', f'remaining={counts[word.name]}', tail,
                      count=1)
        source = head + tail
    path.write_text(source, encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--counts', action='store_true')
    parser.add_argument('--update', action='store_true')
    parser.add_argument('folder', nargs='?', type=Path,
                        default=Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    files = read_files(args.folder)
    texts = {path: '\n'.join(lines) for path, lines in files.items()}
    uses = {word.name: list(find_uses(word, files, texts)) for word in RETIRED}
    counts = {name: len(found) for name, found in uses.items()}
    if args.counts:
        for word in RETIRED:
            note = '' if word.remaining is None else f' (of {word.remaining})'
            print(f'{counts[word.name]:5} {word.name}{note}')
        return 0
    if args.update:
        update(counts)
        return 0
    problems = [problem for word in RETIRED
                if (problem := check(word, uses[word.name]))]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())

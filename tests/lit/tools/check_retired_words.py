"""check_retired_words.py TESTS FOLDER: tests/retired_words.py, with tables of
words and with files that are made up here."""
import subprocess
import sys
from pathlib import Path

tests, folder = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(tests))
from retired_words import RETIRED, Word, check, find_uses, read_files  # noqa: E402

FILES = {'lib/A.cpp': ['// Nobody reads it.', 'int roomy = room;'],
         'lib/sub/Rooms.h': ['', '// rooms and rooms'],
         'docs/a.md': ['A room.']}


def judge(**fields):
    word = Word('room', r'\b[rR]ooms?\b', 'layer', **fields)
    texts = {path: '\n'.join(lines) for path, lines in FILES.items()}
    uses = list(find_uses(word, FILES, texts))
    return [place for place, _ in uses], check(word, uses)


def expect(actual, expected):
    assert actual == expected, f'{actual!r} instead of {expected!r}'


ALL = ['lib/A.cpp:2', 'lib/sub/Rooms.h', 'lib/sub/Rooms.h:2',
       'lib/sub/Rooms.h:2', 'docs/a.md:1']
places, problem = judge()
expect(places, ALL)
assert problem.startswith("'room' was retired; use: layer\n  lib/A.cpp:2: room\n")

# One that is not enforced may stay and not grow, and is enforced when it is gone.
expect(judge(remaining=5), (ALL, None))
expect(judge(remaining=6), (ALL, None))
places, problem = judge(remaining=4)
assert problem.startswith("'room' was retired and has 5 uses, 4 before; use")
expect(check(Word('room', 'room', 'layer', remaining=4), []),
       "'room' has no use any more: delete its `remaining` in "
       'tests/retired_words.py')

# Paths that may have it, and folders outside of which it has another meaning.
expect(judge(allowed={'lib/sub': 'R', 'docs/a.md': 'R'})[0], ALL[:1])
expect(judge(allowed={'lib/su': 'no folder of this name'})[0], ALL)
expect(judge(within=('docs', 'lib/sub'))[0], ALL[1:])
expect(judge(within=('include',)), ([], None))

# The command, on files of which some are none of the sources.
(folder / 'lib' / 'B.h').write_text('// GLOWISH_TRY\n')
(folder / 'lib' / 'b.bin').write_bytes(b'\xff GLOWISH_TRY')
(folder / 'build' / 'B.h').write_text('// GLOWISH_TRY\n')
expect(list(read_files(folder)), ['lib/B.h'])
result = subprocess.run([sys.executable, tests / 'retired_words.py', folder],
                        capture_output=True, text=True, check=False)
expect(result.returncode, 1)
assert ("'GLOWISH_TRY' was retired; use: GLOWISH_ASSIGN_OR_RETURN\n"
        '  lib/B.h:1: GLOWISH_TRY\n') in result.stdout

# Every exception has a reason, every word its own name.
for retired in RETIRED:
    assert all(retired.allowed.values()) and retired.instead
expect(len({retired.name for retired in RETIRED}), len(RETIRED))

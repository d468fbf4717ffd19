// What reports say of the machine, and where they go.

import {readFileSync, writeFileSync} from 'node:fs';

export function getMachine() {
  const info = readFileSync('/proc/cpuinfo', 'utf8');
  return /model name\s*: (.*)/.exec(info)?.[1] ?? process.arch;
}

// Replaces what stands between the markers of `program` in
// docs/performance.md.
export function updateDocument(program, text) {
  const path = 'docs/performance.md';
  const [begin, end] =
      ['begin', 'end'].map((what) => `<!-- ${program}: ${what} -->`);
  const document = readFileSync(path, 'utf8');
  const [before, rest] = document.split(begin + '\n');
  if (rest === undefined)
    throw new Error(`${path} has no line '${begin}'`);
  writeFileSync(path, `${before}${begin}\n\n${text}\n\n` +
                          rest.slice(rest.indexOf(end)));
}

// Prints how many milliseconds V8 takes to compile a WebAssembly module: all of it,
// by its first compiler, as before the first call of a function. (Its second one
// compiles in the background what runs often.)
//
//   node --no-wasm-lazy-compilation web_compile.mjs MODULE.wasm

import {readFileSync} from 'node:fs';
import {median} from './report.mjs';

const bytes = readFileSync(process.argv[2]);
const times = [];
for (let i = 0; i < 7; ++i) {
  // V8 finds modules again that it has compiled: a section of its own makes each
  // another one.
  const section = Uint8Array.of(0, 2, 1, 0x61 + i);
  const start = performance.now();
  new WebAssembly.Module(Buffer.concat([bytes, section]));
  times.push(performance.now() - start);
}
console.log(median(times));

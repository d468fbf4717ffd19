// Loads a bundle with the module of failing_task.ll in the place of its own:
// web_threads.py calls it.
//
//   node run_failing_task.mjs BUNDLE.mjs MODULE.wasm
//
// Prints the errors of two runs, which must not hang.

import {pathToFileURL} from 'node:url';

const [bundle, wasm] = process.argv.slice(2);
const {load} = await import(pathToFileURL(bundle));
const network = await load({wasm, threads: 2});
for (let run = 0; run < 2; ++run)
  try {
    network.run();
    console.log('no error');
  } catch ({message}) {
    console.log(message);
  }

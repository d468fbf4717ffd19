// Checks a bundle that is compiled with -threads=4; web_threads.py calls it.
//
//   node run_threads.mjs BUNDLE.mjs ONE_THREAD.mjs OTHER.mjs RUNS
//
// ONE_THREAD is the same network without -threads, and OTHER another network with it.
// All three have -reproducible. Prints what is wrong; the process ends by itself,
// though not all networks are closed.

import {pathToFileURL} from 'node:url';
import {runOften, runOnce} from './runs.mjs';

const [bundle, oneThread, other, runs] = process.argv.slice(2);
const {load} = await import(pathToFileURL(bundle));
const {load: loadOneThread} = await import(pathToFileURL(oneThread));
const {load: loadOther} = await import(pathToFileURL(other));

function check(condition, what) {
  if (condition)
    return;
  console.log(`WRONG: ${what}`);
  process.exitCode = 1;
}

const plain = await loadOneThread();
const expected = runOften(plain, Number(runs));
check(plain.threads === 1, `${plain.threads} threads without -threads`);

async function checkBits() {
  for (const threads of [1, 2, 3, 4]) {
    const network = await load({threads});
    check(network.threads === threads, `${network.threads} threads, not ${threads}`);
    const hashes = runOften(network, expected.length);
    const wrong = hashes.filter((hash, run) => hash !== expected[run]).length;
    check(!wrong, `${threads} threads: ${wrong} of ${runs} runs have other bits`);
    network.close();
    check(network.threads === 1, `${network.threads} threads after close()`);
    check(runOften(network, 1)[0] === expected[0], 'a run after close() differs');
    network.close();
  }
}

// Runs of two networks, in turns, each with workers of its own.
async function checkTwoNetworks() {
  const first = await load({threads: 3}), second = await loadOther({threads: 2});
  const alone = runOften(await loadOther({threads: 1}), expected.length);
  for (const network of [first, second])
    for (const state of Object.values(network.states))
      state.fill(0);
  for (let run = 0; run < expected.length; ++run) {
    check(runOnce(first, run) === expected[run], 'the first of two networks differs');
    check(runOnce(second, run) === alone[run], 'the second of two networks differs');
  }
  first.close();
}

async function checkOptions() {
  for (const threads of [0, 5, 1.5, '2', null]) {
    const error = await load({threads}).then(() => undefined, (error) => error);
    check(error instanceof RangeError &&
              error.message.endsWith(`threads is ${threads}; accepted: 1 ... 4`),
          `threads: ${threads} gives ${error}`);
  }
  const error = await loadOneThread({threads: 2}).then(() => 0, (error) => error);
  check(error instanceof RangeError &&
            error.message.endsWith('threads is 2; accepted: 1'),
        `threads without -threads give ${error}`);
  check((await load()).threads >= 1, 'no thread by default');
}

await checkBits();
await checkTwoNetworks();
await checkOptions();

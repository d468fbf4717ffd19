// The page by which web_threads.py checks threads in a browser: it writes what is
// wrong, or "passed", into an element. With the name `worker` it is a worker of that
// page, whose network has workers of its own.

import {load} from './network/network.mjs';
import {load as loadOneThread} from './one-thread/network.mjs';
import {runOften} from './runs.mjs';

const runs = 20;

async function findWrong() {
  const wrong = [];
  const check = (condition, what) => condition || wrong.push(what);
  const expected = runOften(await loadOneThread(), runs).join();
  const checkBits = async (options, threads) => {
    const network = await load(options);
    check(network.threads === threads,
          `${network.threads} threads, not ${threads}`);
    check(runOften(network, runs).join() === expected,
          `${network.threads} threads have other bits`);
    network.close();
  };
  if (crossOriginIsolated) {
    for (const threads of [1, 2, 3, 4])
      await checkBits({threads}, threads);
    await checkBits({}, Math.min(navigator.hardwareConcurrency, 4));
    return wrong;
  }
  await checkBits({}, 1);
  await checkBits({threads: 1}, 1);
  const error = await load({threads: 2}).then(() => 'none', (error) => error);
  check(String(error).includes('"Cross-Origin-Opener-Policy: same-origin"'),
        `two threads give the error: ${error}`);
  return wrong;
}

const find = () => findWrong().catch((error) => [String(error.stack)]);

// What is wrong in a worker.
const findInWorker = () => new Promise((resolve) => {
  const worker = new Worker('threads_page.mjs', {type: 'module', name: 'worker'});
  worker.onmessage = ({data}) => resolve(data);
  worker.onerror = ({message}) => resolve([message ?? 'the worker does not start']);
});

if (globalThis.name === 'worker') {
  postMessage(await find());
  close();
} else {
  const wrong = [...await find(), ...(await findInWorker()).map(
      (each) => `in a worker: ${each}`)];
  document.getElementById('result').textContent = wrong.join('; ') || 'passed';
  await fetch('/done');
}

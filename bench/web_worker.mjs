// Times a network as a WebAssembly bundle and in ONNX Runtime Web, in turns in one
// process:
//
//   node web_worker.mjs FOLDER ROUNDS MILLISECONDS THREADS BUNDLE.mjs
//     [ONE_THREAD.mjs]
//
// FOLDER has model.onnx, input_K.npy and output_K.npy. ONE_THREAD is a bundle for one
// thread that is timed, too. Prints a line of JSON: {errors, times}, by the names of
// the engines; errors are shares of the largest magnitude, and times are medians of
// turns, in milliseconds. A turn takes about MILLISECONDS, and at least one run. All
// run 40 times before.

import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import ort from 'onnxruntime-web';
import {largestError} from './npy.mjs';
import {load as loadOrt, readTensors} from './ort_network.mjs';
import {median} from './report.mjs';

const [folder, rounds, milliseconds, threads, bundle, oneThread] =
    process.argv.slice(2);
const warmups = 40;

// {run, getError} of a bundle.
async function prepareGlowish(path, threads, {inputs, outputs}) {
  const {load} = await import(pathToFileURL(path));
  const network = await load({threads});
  Object.values(network.inputs).forEach(
      (place, i) => place.set(inputs[i].data));
  return {
    run: () => network.run(),
    getError: () => Math.max(...Object.values(network.outputs).map(
        (data, i) => largestError(data, outputs[i] ?? []))),
  };
}

async function prepareOrt(tensors) {
  ort.env.wasm.numThreads = Number(threads);
  const {session, feeds, expected} = await loadOrt(
      readFileSync(`${folder}/model.onnx`), tensors,
      {executionProviders: ['wasm'], graphOptimizationLevel: 'all'}, ort);
  let results;
  return {
    run: async () => { results = await session.run(feeds); },
    getError: () => Math.max(...session.outputNames.map(
        (name, i) => largestError(results[name].data, expected[i]))),
  };
}

async function timeTurn({run}) {
  const times = [], end = performance.now() + Number(milliseconds);
  do {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  } while (performance.now() < end);
  return median(times);
}

const tensors = readTensors(folder, ort);
const engines = {
  'glowish': await prepareGlowish(bundle, Number(threads), tensors),
  ...(oneThread && {'one thread': await prepareGlowish(oneThread, 1, tensors)}),
  'ONNX Runtime Web': await prepareOrt(tensors),
};
const result = {errors: {}, times: {}};
for (const [name, engine] of Object.entries(engines)) {
  for (let i = 0; i < warmups; ++i)
    await engine.run();
  result.errors[name] = engine.getError();
  result.times[name] = [];
}
for (let round = 0; round < Number(rounds); ++round)
  for (const [name, engine] of Object.entries(engines))
    result.times[name].push(await timeTurn(engine));
console.log(JSON.stringify(result));
process.exit(0);

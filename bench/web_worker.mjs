// Times a network as a WebAssembly bundle and in ONNX Runtime Web, one thread
// each, in turns in one process:
//
//   node web_worker.mjs BUNDLE.mjs FOLDER ROUNDS MILLISECONDS
//
// FOLDER has model.onnx, input_K.npy and output_K.npy. Prints a line of JSON:
// {errors, times}, by the names of the engines; errors are shares of the largest
// magnitude, and times are medians of turns, in milliseconds. A turn takes about
// MILLISECONDS, and at least one run. Both run 40 times before.

import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import ort from 'onnxruntime-web';
import {largestError} from './npy.mjs';
import {load as loadOrt, readTensors} from './ort_network.mjs';
import {median} from './report.mjs';

const [bundle, folder, rounds, milliseconds] = process.argv.slice(2);
const warmups = 40;

// {run, getError} of the bundle.
async function prepareGlowish({inputs, outputs}) {
  const {load} = await import(pathToFileURL(bundle));
  const network = await load();
  Object.values(network.inputs).forEach(
      (place, i) => place.set(inputs[i].data));
  return {
    run: () => network.run(),
    getError: () => Math.max(...Object.values(network.outputs).map(
        (data, i) => largestError(data, outputs[i] ?? []))),
  };
}

async function prepareOrt(tensors) {
  ort.env.wasm.numThreads = 1;
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
  'glowish': await prepareGlowish(tensors),
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

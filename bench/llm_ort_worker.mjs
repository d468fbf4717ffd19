// The same as llm_worker.c with ONNX Runtime: a program that bench/llm.mjs asks
// for times.
//
//   node llm_ort_worker.mjs MODEL THREADS
//
// The cache that a call leaves is an input of the next one, as it is: the arrays
// of an output are not copied here.

import {writeFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import ort from 'onnxruntime-node';

const [model, threads] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model, {
  graphOptimizationLevel: 'all',
  executionMode: 'sequential',
  intraOpNumThreads: Number(threads),
  interOpNumThreads: 1,
});
const {inputNames, inputMetadata} = session;

function emptyCache() {
  const cache = {};
  inputMetadata.forEach(({name, shape}) => {
    if (name.startsWith('past.'))
      cache[name] = new ort.Tensor('float32', new Float32Array(0),
                                   [1, shape[1], 0, shape[3]]);
  });
  return cache;
}

// The inputs of `count` tokens behind `past`, apart from the cache.
function makeFeeds(past, count) {
  const rows = (f) => BigInt64Array.from(
      {length: count}, (_, i) => BigInt(f(past + i)));
  const all = {
    input_ids: ['int64', rows((i) => i * 37 % 1000), [1, count]],
    position_ids: ['int64', rows((i) => i), [1, count]],
    seqlens_k: ['int32', Int32Array.of(past + count - 1), [1]],
    total_sequence_length: ['int32', Int32Array.of(past + count), []],
  };
  return Object.fromEntries(
      Object.entries(all).filter(([name]) => inputNames.includes(name)).map(
          ([name, parts]) => [name, new ort.Tensor(...parts)]));
}

// One call: {milliseconds, logits, cache}.
async function append(cache, past, count) {
  const feeds = {...makeFeeds(past, count), ...cache};
  const start = performance.now();
  const outputs = await session.run(feeds);
  const milliseconds = performance.now() - start;
  const next = Object.entries(outputs)
      .filter(([name]) => name.startsWith('present.'))
      .map(([name, tensor]) => [name.replace('present', 'past'), tensor]);
  return {milliseconds, logits: outputs.logits,
          cache: Object.fromEntries(next)};
}

async function run(prompt, count) {
  const first = await append(emptyCache(), 0, prompt);
  const times = [];
  let {cache} = first;
  for (let i = 0; i < count; ++i) {
    const result = await append(cache, prompt + i, 1);
    ({cache} = result);
    times.push(result.milliseconds);
  }
  times.sort((a, b) => a - b);
  console.log(`${first.milliseconds} ${times[count >> 1]}`);
}

async function writeLogits(prompt, file) {
  const {logits} = await append(emptyCache(), 0, prompt);
  writeFileSync(file, logits.data.slice(-logits.dims[2]));
  console.log('written');
}

console.log('ready {}');
for await (const line of createInterface({input: process.stdin})) {
  const [what, prompt, argument] = line.split(' ');
  if (what === 'run')
    await run(Number(prompt), Number(argument));
  else
    await writeLogits(Number(prompt), argument);
}

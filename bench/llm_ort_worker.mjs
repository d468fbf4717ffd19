// The same as llm_worker.c with ONNX Runtime: a program that bench/llm.mjs asks
// for times and logits.
//
//   node llm_ort_worker.mjs MODEL THREADS
//
// The cache that a call leaves is an input of the next one, as it is: the arrays
// of an output are not copied here.

import {
  closeSync, openSync, readFileSync, writeFileSync, writeSync,
} from 'node:fs';
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

// The tokens from `past` on of those that "run" and "logits" take.
const makeIds = (past, count) => BigInt64Array.from(
    {length: count}, (_, i) => BigInt((past + i) * 37 % 1000));

// The inputs of tokens behind `past`, apart from the cache.
function makeFeeds(past, ids) {
  const count = ids.length;
  const positions = BigInt64Array.from(
      {length: count}, (_, i) => BigInt(past + i));
  const all = {
    input_ids: ['int64', ids, [1, count]],
    position_ids: ['int64', positions, [1, count]],
    seqlens_k: ['int32', Int32Array.of(past + count - 1), [1]],
    total_sequence_length: ['int32', Int32Array.of(past + count), []],
  };
  return Object.fromEntries(
      Object.entries(all).filter(([name]) => inputNames.includes(name)).map(
          ([name, parts]) => [name, new ort.Tensor(...parts)]));
}

// One call: {milliseconds, logits, cache}.
async function append(cache, past, ids) {
  const feeds = {...makeFeeds(past, ids), ...cache};
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
  const first = await append(emptyCache(), 0, makeIds(0, prompt));
  const times = [];
  let {cache} = first;
  for (let i = 0; i < count; ++i) {
    const result = await append(cache, prompt + i, makeIds(prompt + i, 1));
    ({cache} = result);
    times.push(result.milliseconds);
  }
  times.sort((a, b) => a - b);
  console.log(`${first.milliseconds} ${times[count >> 1]}`);
}

async function writeLogits(prompt, file) {
  const {logits} = await append(emptyCache(), 0, makeIds(0, prompt));
  writeFileSync(file, logits.data.slice(-logits.dims[2]));
  console.log('written');
}

// The index of the largest of the last `words` logits.
function pick(logits, words) {
  const row = logits.slice(-words);
  let best = 0;
  for (let i = 1; i < words; ++i)
    if (row[i] > row[best])
      best = i;
  return best;
}

async function takeText(text, chunk, count, file) {
  const ids = Array.from(new BigInt64Array(
      new Uint8Array(readFileSync(text)).buffer));
  const length = ids.length, output = openSync(file, 'w');
  let cache = emptyCache();
  for (let done = 0; done < length + count;) {
    const size = Math.max(1, Math.min(chunk, length - done));
    const result = await append(
        cache, done, BigInt64Array.from(ids.slice(done, done + size)));
    ({cache} = result);
    writeSync(output, result.logits.data);
    done += size;
    if (done === ids.length)
      ids.push(BigInt(pick(result.logits.data, result.logits.dims[2])));
  }
  closeSync(output);
  console.log('written');
}

console.log('ready {}');
for await (const line of createInterface({input: process.stdin})) {
  const [what, ...rest] = line.split(' ');
  if (what === 'run')
    await run(Number(rest[0]), Number(rest[1]));
  else if (what === 'text')
    await takeText(rest[0], Number(rest[1]), Number(rest[2]), rest[3]);
  else
    await writeLogits(Number(rest[0]), rest[1]);
}

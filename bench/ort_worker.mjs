// Times ONNX Runtime on a network; see workers.mjs for the protocol.
//
//   node ort_worker.mjs FOLDER THREADS    model.onnx, input_K.npy, output_K.npy
//   node ort_worker.mjs --identity        one node on one number: what a call
//                                         costs
//
// All optimisations. "ready" also has "memory", the bytes by which loading the
// model and running it once made the process grow.

import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {largestError} from './npy.mjs';
import {identityModel} from './onnx_wire.mjs';
import {identityTensors, load, readTensors} from './ort_network.mjs';

const options = {
  graphOptimizationLevel: 'all',
  executionMode: 'sequential',
  intraOpNumThreads: Number(process.argv[3] ?? 1),
  interOpNumThreads: 1,
};

// The bytes of this process that are in memory.
function getResident() {
  const [, kilobytes] = /VmRSS:\s*(\d+) kB/.exec(
      readFileSync('/proc/self/status', 'utf8'));
  return 1024 * Number(kilobytes);
}

const [folder] = process.argv.slice(2);
const tensors = folder === '--identity'
    ? identityTensors() : readTensors(folder);
const idle = getResident();
const {session, feeds, expected} = await load(
    folder === '--identity' ? identityModel() : `${folder}/model.onnx`,
    tensors, options);
const outputs = await session.run(feeds);
const memory = getResident() - idle;
const error = Math.max(...session.outputNames.map(
    (name, i) => largestError(outputs[name].data, expected[i])));
for (let i = 0; i < 3; ++i)
  await session.run(feeds);
console.log(`ready ${JSON.stringify({error, memory})}`);

for await (const line of createInterface({input: process.stdin})) {
  const times = [];
  let last = performance.now();
  const end = last + Number(line.split(' ')[1]);
  while (times.length < 3 || last < end) {
    await session.run(feeds);
    const time = performance.now();
    times.push(time - last);
    last = time;
  }
  times.sort((a, b) => a - b);
  console.log(times[times.length >> 1].toFixed(6));
}

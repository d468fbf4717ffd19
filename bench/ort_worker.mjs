// Times ONNX Runtime on a network; see workers.mjs for the protocol.
//
//   node ort_worker.mjs FOLDER        model.onnx, input_K.npy, output_K.npy
//   node ort_worker.mjs --identity    one node on one number: what a call costs
//
// One thread, all optimisations.

import {createInterface} from 'node:readline';
import {largestError} from './npy.mjs';
import {loadIdentity, loadNetwork} from './ort_network.mjs';

const options = {
  graphOptimizationLevel: 'all',
  executionMode: 'sequential',
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
};

const {session, feeds, expected} = process.argv[2] === '--identity'
    ? await loadIdentity(options) : await loadNetwork(process.argv[2], options);
const outputs = await session.run(feeds);
const error = Math.max(...session.outputNames.map(
    (name, i) => largestError(outputs[name].data, expected[i])));
for (let i = 0; i < 3; ++i)
  await session.run(feeds);
console.log(`ready ${JSON.stringify({error})}`);

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

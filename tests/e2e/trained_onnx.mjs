// trained_onnx.mjs MODEL FOLDER: runs MODEL in ONNX Runtime on
// FOLDER/input_0.npy. Prints the largest difference of its first output from
// FOLDER/output_0.npy, as a share of that one's largest magnitude.

import {readTensors, load} from '../../bench/ort_network.mjs';
import {largestError} from '../../bench/npy.mjs';

const [model, folder] = process.argv.slice(2);
const {session, feeds, expected} = await load(
    model, readTensors(folder),
    {graphOptimizationLevel: 'all', intraOpNumThreads: 1});
const {data} = (await session.run(feeds))[session.outputNames[0]];
if (data.length !== expected[0].length)
  throw new Error(`${model}: ${data.length} elements, not ` +
                  `${expected[0].length}`);
console.log(largestError(data, expected[0]).toExponential(1));

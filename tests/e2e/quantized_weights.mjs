// quantized_weights.mjs FOLDER MODEL: runs MODEL in ONNX Runtime on
// FOLDER/input_K.npy and prints the largest difference of an output from
// FOLDER/output_K.npy, as a share of its largest magnitude.

import {readTensors, load} from '../../bench/ort_network.mjs';
import {largestError} from '../../bench/npy.mjs';

const [folder, model] = process.argv.slice(2);
const {session, feeds, expected} = await load(model, readTensors(folder), {});
const outputs = await session.run(feeds);
const errors = session.outputNames.map(
    (name, i) => largestError(outputs[name].data, expected[i]));
console.log(Math.max(...errors));

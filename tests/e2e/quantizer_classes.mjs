// quantizer_classes.mjs MODEL: runs MODEL in ONNX Runtime on each of the .npy
// files that stdin names, one a line. Prints the class of each: the index of
// the first output's largest element.

import {readFileSync} from 'node:fs';
import ort from '../../bench/node_modules/onnxruntime-node/dist/index.js';
import {readNpy} from '../../bench/npy.mjs';

// Without the fusions of quantized operators, which saturate on processors
// without VNNI.
const session = await ort.InferenceSession.create(
    process.argv[2], {graphOptimizationLevel: 'basic', intraOpNumThreads: 1});
const [input] = session.inputNames, [output] = session.outputNames;
for (const path of readFileSync(0, 'utf8').trim().split('\n')) {
  const {type, data, dims} = readNpy(path);
  const scores = (await session.run(
      {[input]: new ort.Tensor(type, data, dims)}))[output].data;
  console.log(scores.indexOf(scores.reduce((a, b) => Math.max(a, b))));
}

// onnx_writer.mjs ORIGINAL INPUTS WRITTEN...: runs the model ORIGINAL and each
// of WRITTEN in ONNX Runtime on INPUTS/input_K.npy. Prints the largest
// difference of each from ORIGINAL, as a share of the output's largest
// magnitude; fails if the outputs have other names or shapes.

import {readTensors, load} from '../../bench/ort_network.mjs';
import {largestError} from '../../bench/npy.mjs';

const [original, inputs, ...written] = process.argv.slice(2);
const tensors = readTensors(inputs);
const options = {graphOptimizationLevel: 'all', intraOpNumThreads: 1};

async function run(model) {
  const {session, feeds} = await load(model, tensors, options);
  const outputs = await session.run(feeds);
  return session.outputNames.map((name) => ({name, ...pick(outputs[name])}));
}
function pick({type, dims, data}) {
  return {type, dims: dims.join('x'), data};
}

const expected = await run(original);
for (const model of written) {
  const actual = await run(model);
  let error = 0;
  if (actual.length !== expected.length)
    throw new Error(`${model} has ${actual.length} outputs`);
  expected.forEach((output, i) => {
    for (const key of ['name', 'type', 'dims'])
      if (actual[i][key] !== output[key])
        throw new Error(`${model}: output ${i} has ${key} ${actual[i][key]}, ` +
                        `not ${output[key]}`);
    error = Math.max(error, largestError(actual[i].data, output.data));
  });
  console.log(error.toExponential(1));
}

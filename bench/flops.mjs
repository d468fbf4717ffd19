// Counts the floating-point operations of a network: two for each
// multiply-add of its convolutions and matrix multiplies. The shapes come from
// ONNX Runtime's profile of one run of the file as it is, not optimised.
//
//   node flops.mjs FOLDER    prints the number

import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {load, readTensors} from './ort_network.mjs';

const sizeOf = (dims) => dims.reduce((a, b) => a * b, 1);

// Multiply-adds from the shapes of a node's inputs and its first output.
const multiplyAdds = {
  Conv: ([, filter], output) => sizeOf(output) * sizeOf(filter.slice(1)),
  ConvTranspose: ([input, filter]) =>
      sizeOf(input) * sizeOf(filter.slice(1)),
  MatMul: ([left], output) => sizeOf(output) * left.at(-1),
  // A is [m, k] or [k, m]; the output is [m, n].
  Gemm: ([left], output) => sizeOf(output) * sizeOf(left) / output[0],
  // W is [directions, gates * hidden, input], R [directions, ..., hidden].
  LSTM: ([input, w, r]) => sizeOf(input.slice(0, 2)) *
      (sizeOf(w) + sizeOf(r)),
};
multiplyAdds.GRU = multiplyAdds.RNN = multiplyAdds.LSTM;

function countNode({op_name: operator, input_type_shape: inputs,
                    output_type_shape: outputs}) {
  const rule = multiplyAdds[operator];
  if (!rule)
    return 0;
  const shapes = (list) => list.map((entry) => Object.values(entry)[0]);
  return 2 * rule(shapes(inputs), shapes(outputs)[0]);
}

const folder = mkdtempSync(join(tmpdir(), 'flops-'));
try {
  const [network] = process.argv.slice(2);
  const {session, feeds} = await load(`${network}/model.onnx`,
                                      readTensors(network), {
    graphOptimizationLevel: 'disabled',
    enableProfiling: true,
    profileFilePrefix: join(folder, 'profile'),
    // Weights that were packed before are missing in the profile.
    extra: {session: {disable_prepacking: '1'}},
  });
  await session.run(feeds);
  session.endProfiling();
  const [file] = readdirSync(folder);
  const events = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  console.log(events.filter(({args}) => args?.op_name)
      .reduce((sum, {args}) => sum + countNode(args), 0));
} finally {
  rmSync(folder, {recursive: true});
}

// run_onnx.mjs MODEL FOLDER all|disabled: runs an ONNX model in ONNX Runtime with
// all or none of its optimizations. FOLDER/run.json has the names, types and
// shapes of the inputs and the names of the outputs, FOLDER/input_K.bin the
// elements. Writes FOLDER/output_K.bin and FOLDER/result.json with the types and
// shapes of the outputs, or with "refusal" where a kernel is missing.

import {readFileSync, writeFileSync} from 'node:fs';
import ort from '../../../bench/node_modules/onnxruntime-node/dist/index.js';

const [model, folder, level] = process.argv.slice(2);
const wanted = JSON.parse(readFileSync(`${folder}/run.json`));
const arrays = {
  float16: Uint16Array, float32: Float32Array, float64: Float64Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
  uint64: BigUint64Array, bool: Uint8Array,
};

function readInput({type, dims}, i) {
  const bytes = readFileSync(`${folder}/input_${i}.bin`);
  const buffer = bytes.buffer.slice(bytes.byteOffset,
                                    bytes.byteOffset + bytes.length);
  return new ort.Tensor(type, new arrays[type](buffer), dims);
}

// "node 'add' (Add): ..." where a kernel is missing, or this binding has no
// tensors of a type; else null.
function findRefusal(message) {
  if (/Unsupported data type/.test(message))
    return `an output '' (Placeholder): ${message} in Node.js`;
  const missing =
      /Could not find an implementation for (\w+)\(\d+\) node with name '([^']*)'/
          .exec(message);
  return missing &&
      `node '${missing[2]}' (${missing[1]}): ONNX Runtime has no kernel`;
}

async function run() {
  const session = await ort.InferenceSession.create(model, {
    graphOptimizationLevel: level, intraOpNumThreads: 1, interOpNumThreads: 1,
    // Errors are thrown, too.
    logSeverityLevel: 4,
  });
  const feeds = Object.fromEntries(
      wanted.inputs.map((input, i) => [input.name, readInput(input, i)]));
  const results = await session.run(feeds);
  return wanted.outputs.map((name, i) => {
    const {type, dims, data} = results[name];
    writeFileSync(`${folder}/output_${i}.bin`, new Uint8Array(
        data.buffer, data.byteOffset, data.byteLength));
    return {type, dims};
  });
}

try {
  const outputs = await run();
  writeFileSync(`${folder}/result.json`, JSON.stringify({outputs}));
} catch (error) {
  const refusal = findRefusal(error.message);
  if (!refusal) {
    console.log(error.message);
    process.exit(1);
  }
  writeFileSync(`${folder}/result.json`, JSON.stringify({refusal}));
}

// machine_learning.mjs FOLDER: runs the models that machine_learning.py --write
// put into FOLDER in ONNX Runtime, and prints a JSON object with the outputs of
// each: {NAME: {OUTPUT: [element, ...]}}. A model that is refused has the message.

import {readFileSync, readdirSync} from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(process.env.ORT_MODULES ?? import.meta.url);
const ort = require('onnxruntime-node');
const folder = process.argv[2];
const arrays = {float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array};

// JSON has neither NaN nor infinities, and integers may have more than 53 bits.
function print(element) {
  if (typeof element === 'string')
    return element;
  return typeof element === 'bigint' || !Number.isFinite(element) ? String(element)
                                                                  : Number(element.toPrecision(8));
}

async function run(name) {
  const inputs = JSON.parse(readFileSync(`${folder}/${name}.json`));
  const feeds = {};
  for (const [key, {type, dims, data}] of Object.entries(inputs)) {
    const elements = data.map(type === 'int64' ? BigInt : Number);
    feeds[key] = new ort.Tensor(type, arrays[type].from(elements), dims);
  }
  const session = await ort.InferenceSession.create(
      `${folder}/${name}.onnx`, {graphOptimizationLevel: 'disabled', logSeverityLevel: 4});
  const outputs = await session.run(feeds);
  return Object.fromEntries(
      session.outputNames.map((key) => [key, Array.from(outputs[key].data, print)]));
}

const results = {};
for (const file of readdirSync(folder).filter((each) => each.endsWith('.onnx')).sort()) {
  const name = file.slice(0, -'.onnx'.length);
  try {
    results[name] = await run(name);
  } catch (error) {
    results[name] = error.message;
  }
}
console.log('{\n' + Object.entries(results)
                         .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
                         .join(',\n') + '\n}');

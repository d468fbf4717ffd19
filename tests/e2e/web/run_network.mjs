// Runs a bundle for JavaScript and compares its outputs; web.py calls it.
//
//   node run_network.mjs CASE.json
//
// CASE.json: {bundle, inputs, expected, tolerance, fromBytes}. `inputs` and
// `expected` are .npy files by the names of placeholders; `tolerance` is a share of
// the largest magnitude (0: the same bits); `fromBytes`: load files as bytes, and
// not by the names that the module has for them. The network runs twice: the second
// run must give what the first one did. Prints the largest error, or what is wrong.

import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const types = {
  '<f4': Float32Array, '<f8': Float64Array, '<f2': Uint16Array,
  '|i1': Int8Array, '|u1': Uint8Array, '|b1': Uint8Array,
  '<i2': Int16Array, '<u2': Uint16Array, '<i4': Int32Array,
  '<u4': Uint32Array, '<i8': BigInt64Array, '<u8': BigUint64Array,
};

// The elements of a .npy file, as a typed array.
function readElements(path) {
  const file = readFileSync(path);
  const start = 10 + file.readUInt16LE(8);
  const [, kind] = /'descr': '([^']+)'/.exec(file.toString('latin1', 10, start));
  if (!types[kind])
    throw new Error(`${path}: elements ${kind} are not read`);
  return new types[kind](file.buffer.slice(file.byteOffset + start,
                                           file.byteOffset + file.length));
}

// The number that bits of half precision stand for.
function fromHalf(bits) {
  const exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31)
    return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15)
                          : fraction * 2 ** -24);
}

function getError(type, actual, expected) {
  if (actual.length !== expected.length)
    throw new Error(`${actual.length} elements, not ${expected.length}`);
  const toNumber = type === 'float16' ? fromHalf : Number;
  let error = 0, magnitude = 0;
  for (let i = 0; i < expected.length; ++i) {
    const a = toNumber(actual[i]), b = toNumber(expected[i]);
    if (Object.is(a, b) || a === b || (Number.isNaN(a) && Number.isNaN(b))) {
      magnitude = Math.max(magnitude, Number.isFinite(b) ? Math.abs(b) : 0);
      continue;
    }
    const difference = Math.abs(a - b);
    error = Number.isNaN(difference) ? Infinity : Math.max(error, difference);
    magnitude = Math.max(magnitude, Math.abs(b));
  }
  return error === 0 ? 0 : error / magnitude;
}

const {bundle, inputs, expected, tolerance, fromBytes} =
    JSON.parse(readFileSync(process.argv[2], 'utf8'));
const {load} = await import(pathToFileURL(bundle));
const stem = bundle.slice(0, -'.mjs'.length);
const network = await load(fromBytes ? {
  wasm: readFileSync(`${stem}.wasm`),
  weights: readFileSync(`${stem}.weights.bin`),
} : {});
const wrong = [];
let largest = 0;
const first = {};
for (const run of [1, 2]) {
  for (const [name, path] of Object.entries(inputs))
    network.inputs[name].set(readElements(path));
  network.run();
  for (const [name, path] of Object.entries(expected)) {
    const data = network.outputs[name];
    if (run === 2) {
      if (!Buffer.from(first[name].buffer).equals(Buffer.from(data.slice().buffer)))
        wrong.push(`${name}: a second run gives something else`);
      continue;
    }
    first[name] = data.slice();
    const error =
        getError(network.tensors[name].type, data, readElements(path));
    largest = Math.max(largest, error);
    if (!(error <= tolerance))
      wrong.push(`${name} differs by ${error.toExponential(1)}`);
  }
}
console.log(wrong.join('; ') || largest.toExponential(1));
process.exit(wrong.length ? 1 : 0);

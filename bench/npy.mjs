// Reads and writes .npy files (version 1, C order) of the types that the
// networks use.

import {readFileSync, writeFileSync} from 'node:fs';

const types = {
  '<f4': ['float32', Float32Array],
  '<f8': ['float64', Float64Array],
  '<i4': ['int32', Int32Array],
  '<i8': ['int64', BigInt64Array],
  '|u1': ['uint8', Uint8Array],
  '|b1': ['bool', Uint8Array],
};

// {type, dims, data}: ONNX Runtime's name of the element type, the shape, and
// a typed array.
export function readNpy(path) {
  const file = readFileSync(path);
  const start = 10 + file.readUInt16LE(8);
  const header = file.toString('latin1', 10, start);
  const [, description] = /'descr': '([^']+)'/.exec(header);
  const [, shape] = /'shape': \(([^)]*)\)/.exec(header);
  if (!types[description] || header.includes('\'fortran_order\': True'))
    throw new Error(`${path}: ${description} in this order is not read`);
  const [type, Array] = types[description];
  const bytes = file.buffer.slice(file.byteOffset + start,
                                  file.byteOffset + file.length);
  const dims = shape.split(',').filter((d) => d.trim()).map(Number);
  return {type, dims, data: new Array(bytes)};
}

// Writes what readNpy gives.
export function writeNpy(path, {type, dims, data}) {
  const [description] = Object.entries(types).find(
      ([, [name]]) => name === type);
  const shape = dims.map((dim) => `${dim},`).join('');
  const header = `{'descr': '${description}', 'fortran_order': False, ` +
      `'shape': (${shape}), }`;
  const start = 64 * Math.ceil((10 + header.length + 1) / 64);
  const prefix = Buffer.alloc(10);
  prefix.write('\x93NUMPY\x01\x00', 'latin1');
  prefix.writeUInt16LE(start - 10, 8);
  writeFileSync(path, Buffer.concat([
    prefix, Buffer.from(header.padEnd(start - 11) + '\n'),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  ]));
}

// The root of the mean square of the difference, as a share of that of the
// expected numbers.
export function relativeError(actual, expected) {
  let error = 0, square = 0;
  for (let i = 0; i < expected.length; ++i) {
    error += (Number(actual[i]) - Number(expected[i])) ** 2;
    square += Number(expected[i]) ** 2;
  }
  return Math.sqrt(square > 0 ? error / square : error);
}

// The largest difference as a share of the largest expected magnitude.
export function largestError(actual, expected) {
  let error = 0, magnitude = 0;
  for (let i = 0; i < expected.length; ++i) {
    const difference = Math.abs(Number(actual[i]) - Number(expected[i]));
    if (!(difference <= error))
      error = Number.isNaN(difference) ? Infinity : difference;
    magnitude = Math.max(magnitude, Math.abs(Number(expected[i])));
  }
  return magnitude > 0 ? error / magnitude : error;
}

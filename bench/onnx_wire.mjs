// Writes ONNX files: the messages that the benchmarks' own models need.
//
// A message is an array of bytes, the concatenation of its fields.

function varint(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7)
    bytes.push((value & 127) | 128);
  return [...bytes, value];
}

const number = (field, value) => [...varint(field << 3), ...varint(value)];

function bytes(field, content) {
  const data = typeof content === 'string'
      ? [...new TextEncoder().encode(content)] : content;
  return [...varint(field << 3 | 2), ...varint(data.length)].concat(data);
}

export const elementTypes = {float32: 1, uint8: 2, int32: 6, int64: 7};

// A ValueInfoProto; dims are numbers and names of symbols.
export function valueInfo(name, type, dims) {
  const shape = dims.flatMap((dim) => bytes(
      1, typeof dim === 'number' ? number(1, dim) : bytes(2, dim)));
  const tensor = [...number(1, elementTypes[type]), ...bytes(2, shape)];
  return [...bytes(1, name), ...bytes(2, bytes(1, tensor))];
}

const rawBytes = (array) => [...new Uint8Array(
    array.buffer, array.byteOffset, array.byteLength)];

// A TensorProto with its elements in a typed array, or, as {location, offset,
// length}, in a file of its own.
export function tensorProto(name, type, dims, elements) {
  const head = [...dims.flatMap((dim) => number(1, dim)),
                ...number(2, elementTypes[type]), ...bytes(8, name)];
  if (ArrayBuffer.isView(elements))
    return [...head, ...bytes(9, rawBytes(elements))];
  const entries = Object.entries(elements).flatMap(([key, value]) =>
      bytes(13, [...bytes(1, key), ...bytes(2, String(value))]));
  return [...head, ...entries, ...number(14, 1)];
}

// An AttributeProto: an integer, an array of them, or {float}.
function attribute([name, value]) {
  const [type, content] = Array.isArray(value)
      ? [7, value.flatMap((item) => number(8, item))]
      : typeof value === 'object'
      ? [1, [2 << 3 | 5, ...rawBytes(Float32Array.of(value.float))]]
      : [2, number(3, value)];
  return [...bytes(1, name), ...content, ...number(20, type)];
}

// A NodeProto.
export function nodeProto(operator, inputs, outputs, attributes = {},
                          domain = '') {
  return [...inputs.flatMap((name) => bytes(1, name)),
          ...outputs.flatMap((name) => bytes(2, name)), ...bytes(4, operator),
          ...Object.entries(attributes).flatMap(
              (entry) => bytes(5, attribute(entry))),
          ...bytes(7, domain)];
}

// The file of a model: `graph` has arrays of such messages, `opsets` versions
// by domain.
export function modelFile({nodes, constants = [], inputs, outputs}, opsets,
                          irVersion) {
  const list = (field, messages) =>
      messages.flatMap((message) => bytes(field, message));
  const graph = [list(1, nodes), bytes(2, 'benchmark'), list(5, constants),
                 list(11, inputs), list(12, outputs)].flat();
  const versions = Object.entries(opsets).map(
      ([domain, version]) => [...bytes(1, domain), ...number(2, version)]);
  return Uint8Array.from(number(1, irVersion).concat(
      bytes(7, graph), list(8, versions)));
}

// y = Abs(x): next to nothing to compute, in a node that no optimisation
// removes.
export function identityModel() {
  return modelFile({nodes: [nodeProto('Abs', ['x'], ['y'])],
                    inputs: [valueInfo('x', 'float32', [1])],
                    outputs: [valueInfo('y', 'float32', [1])]}, {'': 13}, 7);
}

// Writes the one ONNX model that the benchmark makes itself.

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
  return [...varint(field << 3 | 2), ...varint(data.length), ...data];
}

// A ValueInfoProto: one float.
function value(name) {
  const shape = bytes(1, number(1, 1));
  return [...bytes(1, name),
          ...bytes(2, bytes(1, [...number(1, 1), ...bytes(2, shape)]))];
}

// y = Abs(x): next to nothing to compute, in a node that no optimisation
// removes.
export function identityModel() {
  const node = [...bytes(1, 'x'), ...bytes(2, 'y'), ...bytes(4, 'Abs')];
  const graph = [...bytes(1, node), ...bytes(2, 'one'),
                 ...bytes(11, value('x')), ...bytes(12, value('y'))];
  return Uint8Array.from([...number(1, 7), ...bytes(7, graph),
                          ...bytes(8, number(2, 13))]);
}

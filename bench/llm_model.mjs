// Writes language models of the exact geometry of known ones, with random
// weights, in the forms that exporters write.

import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {forms, geometries, headSize, past, tokens} from './llm_forms.mjs';
import {Weights} from './llm_weights.mjs';
import {modelFile, nodeProto, valueInfo} from './onnx_wire.mjs';

const blockSize = 32;
const microsoft = 'com.microsoft';
const epsilon = {float: 1e-6};
// The standard deviation of gains and biases.
const deviation = 0.02;
// Of the weights of queries and keys: how much larger these are than what they
// are made of. Scores are then so different that a query finds few of the keys,
// and what a token becomes depends on which these are.
const attentionGain = 1.5;

const together = `${past} + ${tokens}`;

// A graph while it is made. Functions return the name of what they compute,
// which `name` begins.
class Decoder {
  constructor(geometry, form, weights, maxTokens, accuracyLevel) {
    Object.assign(this, {...geometry, ...form, weights, maxTokens,
                         accuracyLevel});
    this.nodes = [];
    this.inputs = [];
    this.outputs = [];
    // What the matrices have: bytes, and multiply-adds of a token.
    this.matrixBytes = this.multiplyAdds = 0;
  }

  node(operator, inputs, outputs, attributes, domain) {
    const names = [outputs].flat();
    this.nodes.push(nodeProto(operator, inputs, names, attributes, domain));
    return names[0];
  }

  integers(name, ...values) {
    return this.weights.add(name, 'int64', [values.length],
                            BigInt64Array.from(values, BigInt));
  }

  // A rank-0 float or int64.
  scalar(name, value, type = 'float32') {
    return this.weights.add(name, type, [], type === 'int64'
        ? BigInt64Array.of(BigInt(value)) : Float32Array.of(value));
  }

  vector(name, size, mean) {
    return this.weights.addFloats(name, [size], mean, deviation);
  }

  // x times a matrix of k rows and n columns; the result is about `gain` times as
  // large as x.
  linear(name, x, k, n, gain = 1) {
    const spread = gain * k ** -0.5;
    this.multiplyAdds += k * n;
    if (this.bits === 32) {
      this.matrixBytes += 4 * k * n;
      return this.node('MatMul', [x, this.weights.addFloats(
          `${name}.weight`, [k, n], 0, spread)], name);
    }
    const blocks = k / blockSize, blockBytes = blockSize * this.bits / 8;
    this.matrixBytes += n * blocks * (blockBytes + 4);
    // Integers around 2^(bits - 1), nearly uniform in all that there are.
    const scale = spread * Math.sqrt(12) / 2 ** this.bits;
    return this.node('MatMulNBits', [
      x, this.weights.addIntegers(`${name}.quantized`,
                                  [n, blocks, blockBytes], this.bits),
      this.weights.addFloats(`${name}.scales`, [n * blocks], scale, scale / 10),
    ], name, {K: k, N: n, bits: this.bits, block_size: blockSize,
              accuracy_level: this.accuracyLevel}, microsoft);
  }

  norm(name, x) {
    const gain = this.vector(`${name}.gain`, this.hidden, 1);
    if (this.attention === 'onnx')
      return this.node('RMSNormalization', [x, gain], name, {epsilon});
    if (this.attention === 'microsoft')
      return this.node('SimplifiedLayerNormalization', [x, gain], name,
                       {epsilon});
    const square = this.node('Pow', [x, 'two'], `${name}.square`);
    const mean =
        this.node('ReduceMean', [square], `${name}.mean`, {axes: [2]});
    const shifted = this.node('Add', [mean, 'epsilon'], `${name}.shifted`);
    const root = this.node('Sqrt', [shifted], `${name}.root`);
    const normal = this.node('Div', [x, root], `${name}.normal`);
    return this.node('Mul', [normal, gain], name);
  }

  // x + y as it is and normalized: [sum, normalized].
  addAndNorm(name, x, y) {
    if (this.attention !== 'microsoft') {
      const sum = this.node('Add', [x, y], `${name}.sum`);
      return [sum, this.norm(name, sum)];
    }
    const gain = this.vector(`${name}.gain`, this.hidden, 1);
    this.node('SkipSimplifiedLayerNormalization', [x, y, gain],
              [name, '', '', `${name}.skip`], {epsilon}, microsoft);
    return [`${name}.skip`, name];
  }

  // What a model has once: the inputs but for the cache, and the angles.
  begin() {
    this.inputs.push(valueInfo('input_ids', 'int64', [1, tokens]));
    this.outputs.push(valueInfo(
        'logits', 'float32', [1, this.last ? 1 : tokens, this.vocabulary]));
    if (this.attention === 'microsoft')
      this.inputs.push(valueInfo('seqlens_k', 'int32', [1]),
                       valueInfo('total_sequence_length', 'int32', []));
    else
      this.inputs.push(valueInfo('position_ids', 'int64', [1, tokens]));
    // The plain form multiplies both halves of a head with the same angles.
    const half = headSize / 2;
    const width = this.attention === 'plain' ? headSize : half;
    const addTable = (name, f) => this.weights.add(
        name, 'float32', [this.maxTokens, width],
        Float32Array.from({length: this.maxTokens * width}, (_, i) => f(
            Math.floor(i / width) *
            this.rotaryBase ** -(i % width % half / half))));
    addTable('cos', Math.cos);
    addTable('sin', Math.sin);
    if (this.attention !== 'microsoft') {
      this.integers('heads_shape', 0, 0, -1, headSize);
      this.integers('hidden_shape', 0, 0, -1);
    }
    if (this.attention === 'plain')
      this.beginPlain();
  }

  // Angles and mask of the plain form.
  beginPlain() {
    this.scalar('two', 2);
    this.scalar('epsilon', epsilon.float);
    this.scalar('scale', headSize ** -0.5);
    this.integers('axis0', 0);
    this.integers('axis1', 1);
    this.integers('axis2', 2);
    this.integers('axis3', 3);
    this.integers('half', headSize / 2);
    this.integers('whole', headSize);
    const group = this.heads / this.kvHeads;
    this.integers('group_shape', 1, this.kvHeads, group, 1, 1);
    this.integers('spread_shape', 0, this.heads, -1, headSize);
    for (const table of ['cos', 'sin']) {
      const rows = this.node('Gather', [table, 'position_ids'],
                             `${table}.rows`);
      this.node('Unsqueeze', [rows, 'axis1'], `${table}.heads`);
    }
    const sizeOf = (name, value, axis) => this.node('Gather', [
      this.node('Shape', [value], `${name}.shape`),
      this.scalar(`${name}.axis`, axis, 'int64')], name);
    const count = this.node('Add', [sizeOf('numPast', 'past.0.key', 2),
                                    sizeOf('numNew', 'input_ids', 1)], 'count');
    const keys = this.node('Range', [
      this.scalar('first', 0, 'int64'), count,
      this.scalar('step', 1, 'int64')], 'keys');
    const queries = this.node('Unsqueeze', ['position_ids', 'axis2'],
                              'queries');
    const isLater = this.node('Greater', [keys, queries], 'isLater');
    const rows = this.node('Where', [isLater, this.scalar('lowest', -3e38),
                                     this.scalar('zero', 0)], 'mask.rows');
    this.node('Unsqueeze', [rows, 'axis1'], 'mask');
  }

  toHeads(x) {
    const shaped = this.node('Reshape', [x, 'heads_shape'], `${x}.shaped`);
    return this.node('Transpose', [shaped], `${x}.heads`,
                     {perm: [0, 2, 1, 3]});
  }

  // Turns heads by the angles of their positions.
  rotate(x) {
    const name = `${x}.turned`;
    if (this.attention === 'onnx')
      return this.node('RotaryEmbedding', [x, 'cos', 'sin', 'position_ids'],
                       name);
    const first = this.node('Slice', [x, 'axis0', 'half', 'axis3'],
                            `${x}.first`);
    const second = this.node('Slice', [x, 'half', 'whole', 'axis3'],
                             `${x}.second`);
    const minus = this.node('Neg', [second], `${x}.minus`);
    const across = this.node('Concat', [minus, first], `${x}.across`,
                             {axis: 3});
    return this.node('Add', [
      this.node('Mul', [x, 'cos.heads'], `${x}.cos`),
      this.node('Mul', [across, 'sin.heads'], `${x}.sin`)], name);
  }

  // Keys or values, one for each head of the queries.
  spread(x) {
    const apart = this.node('Unsqueeze', [x, 'axis2'], `${x}.apart`);
    const wide = this.node('Expand', [apart, 'group_shape'], `${x}.wide`);
    return this.node('Reshape', [wide, 'spread_shape'], `${x}.spread`);
  }

  attendPlain(name, query, key, value, cache, next) {
    const keys = this.node('Concat', [cache[0], key], next[0], {axis: 2});
    const values = this.node('Concat', [cache[1], value], next[1], {axis: 2});
    const turned = this.node('Transpose', [this.spread(keys)], `${name}.keys`,
                             {perm: [0, 1, 3, 2]});
    const scores = this.node('MatMul', [query, turned], `${name}.scores`);
    const scaled = this.node('Mul', [scores, 'scale'], `${name}.scaled`);
    const masked = this.node('Add', [scaled, 'mask'], `${name}.masked`);
    const shares = this.node('Softmax', [masked], `${name}.shares`, {axis: 3});
    return this.node('MatMul', [shares, this.spread(values)], `${name}.sums`);
  }

  attend(layer, parts) {
    const name = `layer${layer}.attention`;
    const names = (stem) => [`${stem}.${layer}.key`, `${stem}.${layer}.value`];
    const cache = names('past'), next = names('present');
    for (const [list, values, extent] of [[this.inputs, cache, past],
                                          [this.outputs, next, together]])
      list.push(...values.map((value) => valueInfo(
          value, 'float32', [1, this.kvHeads, extent, headSize])));
    if (this.attention === 'microsoft')
      return this.node('GroupQueryAttention', [
        ...parts, ...cache, 'seqlens_k', 'total_sequence_length', 'cos', 'sin',
      ], [name, ...next], {num_heads: this.heads, kv_num_heads: this.kvHeads,
                           do_rotary: 1}, microsoft);
    const [query, key, value] = parts.map((x) => this.toHeads(x));
    const [turned, turnedKey] = [this.rotate(query), this.rotate(key)];
    const sums = this.attention === 'plain'
        ? this.attendPlain(name, turned, turnedKey, value, cache, next)
        : this.node('Attention', [turned, turnedKey, value, '', ...cache],
                    [`${name}.sums`, ...next], {is_causal: 1});
    const rows = this.node('Transpose', [sums], `${name}.rows`,
                           {perm: [0, 2, 1, 3]});
    return this.node('Reshape', [rows, 'hidden_shape'], name);
  }

  // Queries, keys or values of the normalized x.
  project(name, x, size, gain) {
    const projected = this.linear(name, x, this.hidden, size, gain);
    return this.hasBias
        ? this.node('Add', [projected, this.vector(`${name}.bias`, size, 0)],
                    `${name}.biased`)
        : projected;
  }

  // What a layer adds in its two halves, of the normalized x.
  addAttention(layer, x) {
    const width = this.heads * headSize, kvWidth = this.kvHeads * headSize;
    const parts = Object.entries({query: width, key: kvWidth, value: kvWidth})
        .map(([part, size]) => this.project(
            `layer${layer}.${part}`, x, size,
            part === 'value' ? 1 : attentionGain));
    return this.linear(`layer${layer}.output`, this.attend(layer, parts),
                       width, this.hidden);
  }

  addFeedForward(layer, x) {
    const name = `layer${layer}`;
    const gate = this.linear(`${name}.gate`, x, this.hidden, this.inner);
    const up = this.linear(`${name}.up`, x, this.hidden, this.inner);
    const sigmoid = this.node('Sigmoid', [gate], `${name}.sigmoid`);
    const silu = this.node('Mul', [gate, sigmoid], `${name}.silu`);
    const both = this.node('Mul', [silu, up], `${name}.both`);
    return this.linear(`${name}.down`, both, this.inner, this.hidden);
  }

  build() {
    this.begin();
    let sum = this.node('Gather', [
      this.weights.addFloats('embedding', [this.vocabulary, this.hidden], 0, 1),
      'input_ids'], 'embedded');
    let normal = this.norm('layer0.norm', sum);
    for (let layer = 0; layer < this.layers; ++layer) {
      [sum, normal] = this.addAndNorm(`layer${layer}.middle`, sum,
                                      this.addAttention(layer, normal));
      [sum, normal] = this.addAndNorm(`layer${layer + 1}.norm`, sum,
                                      this.addFeedForward(layer, normal));
    }
    if (this.last)
      normal = this.node('Gather', [normal, this.integers('last', -1)],
                         'normal.last', {axis: 1});
    this.linear('logits', normal, this.hidden, this.vocabulary);
  }

  encode() {
    const domains = this.attention === 'microsoft' ? {[microsoft]: 1} : {};
    return modelFile({...this, constants: this.weights.protos},
                     {'': this.opset, ...domains}, this.opset > 21 ? 11 : 8);
  }
}

// Floating-point operations of `count` tokens on an empty cache: two for each
// multiply-add of the matrices and of causal attention.
function countOperations({multiplyAdds, layers, heads}, count) {
  const pairs = count * (count + 1) / 2;
  return 2 * (count * multiplyAdds + 2 * layers * heads * headSize * pairs);
}

// Writes FOLDER/level0.onnx and, of quantized forms, level4.onnx, which differ
// in the accuracy_level of MatMulNBits alone, and their weights. {bytesPerToken,
// countOperations(tokens)}; the bytes are those of the matrices in the file.
export function writeModel(geometryName, formName, folder, maxTokens) {
  const form = forms[formName];
  mkdirSync(folder, {recursive: true});
  let decoder;
  for (const level of form.bits < 32 ? [0, 4] : [0]) {
    const weights = new Weights(join(folder, 'weights.bin'), level > 0);
    decoder = new Decoder(geometries[geometryName], form, weights, maxTokens,
                          level);
    decoder.build();
    weights.close();
    writeFileSync(join(folder, `level${level}.onnx`), decoder.encode());
  }
  return {bytesPerToken: decoder.matrixBytes,
          countOperations: (count) => countOperations(decoder, count)};
}

// The language models that bench/llm writes: the geometry of known ones, in the
// forms that exporters write.

// The head of all has the size 64.
export const headSize = 64;

export const geometries = {
  'smollm2-135m': {
    layers: 30, hidden: 576, heads: 9, kvHeads: 3, inner: 1536,
    vocabulary: 49152, rotaryBase: 1e5, hasBias: false,
  },
  'qwen2.5-0.5b': {
    layers: 24, hidden: 896, heads: 14, kvHeads: 2, inner: 4864,
    vocabulary: 151936, rotaryBase: 1e6, hasBias: true,
  },
  'tinyllama-1.1b': {
    layers: 22, hidden: 2048, heads: 32, kvHeads: 4, inner: 5632,
    vocabulary: 32000, rotaryBase: 1e4, hasBias: false,
  },
};

// plain: primitives, the past joined by Concat. attention: opset 23. The others
// have com.microsoft's GroupQueryAttention, and MatMulNBits with blocks of 32.
// last: logits are computed for the last token of a call alone.
export const forms = {
  plain: {opset: 17, attention: 'plain', bits: 32},
  attention: {opset: 23, attention: 'onnx', bits: 32},
  float: {opset: 17, attention: 'microsoft', bits: 32},
  '8bit': {opset: 17, attention: 'microsoft', bits: 8},
  '4bit': {opset: 17, attention: 'microsoft', bits: 4},
  'float-last': {opset: 17, attention: 'microsoft', bits: 32, last: true},
  '8bit-last': {opset: 17, attention: 'microsoft', bits: 8, last: true},
  '4bit-last': {opset: 17, attention: 'microsoft', bits: 4, last: true},
};

// The names of dimensions.
export const tokens = 'sequence_length', past = 'past_sequence_length';

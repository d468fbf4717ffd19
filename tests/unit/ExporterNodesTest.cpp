//===- ExporterNodesTest.cpp - All other nodes as ONNX --------------------===//

#include "Rewritten.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/NodeBuilder.h"
#include <set>

using namespace glowish;
using enum ElemKind;

namespace {

/// Makes nodes on new inputs.
struct Builder : NodeBuilder {
  Builder(Function &function, Module &module)
      : NodeBuilder(function, "node"), module(module) {}
  NodeValue in(Dims shape, ElemKind kind = Float) {
    return newInput(module, kind, shape);
  }
  NodeValue weights(Dims shape, ElemKind kind = Float) {
    return constant(module, kind, shape);
  }
  /// Not negative.
  NodeValue variances(Dims shape) { return unary<AbsNode>(in(shape)); }
  /// Indices from \p values.
  NodeValue indices(std::vector<int64_t> values, ElemKind kind = Int64) {
    int64_t count = int64_t(values.size());
    return table(kind, {count},
                 [&](DimsRef i) { return double(values[i[0]]); });
  }
  Module &module;
};

using Case = NodeValue (*)(Builder &b);

/// An attention whose second query is left no key.
template <bool NanIfMasked> NodeValue makeMasked(Builder &b) {
  NodeValue mask = b.table(
      Float, {3, 7}, [](DimsRef i) { return i[0] == 1 ? -INFINITY : 0.5; });
  return b.make<AttentionNode>(b.in({2, 3, 5}), b.in({2, 7, 5}),
                               b.in({2, 7, 4}), mask, 0.25, false, NanIfMasked);
}

const Case matMuls[] = {
    [](Builder &b) { return b.matMul(b.in({2, 1, 3, 5}), b.in({4, 5, 7})); },
    [](Builder &b) { return b.matMul(b.in({3, 5}, Int8), b.in({5, 1}, Int8)); },
    [](Builder &b) { return b.matMul(b.in({0, 5}), b.in({5, 3})); },
    [](Builder &b) {
      return b.matMul(b.transposeLast(b.in({5, 3})),
                      b.transposeLast(b.in({7, 5})));
    },
    [](Builder &b) {
      return b.matMul(b.in({3, 5}, Double),
                      b.transposeLast(b.in({7, 5}, Double)));
    },
    [](Builder &b) {
      return b.matMul(b.transposeLast(b.in({5, 3}, Int32)),
                      b.in({5, 7}, Int32));
    },
    [](Builder &b) {
      return b.make<FullyConnectedNode>(b.transposeLast(b.in({5, 3})),
                                        b.transposeLast(b.in({7, 5})),
                                        b.in({7}));
    },
    [](Builder &b) {
      return b.make<FullyConnectedNode>(b.transposeLast(b.in({5, 3}, Int32)),
                                        b.in({5, 7}, Int32), b.in({7}, Int32));
    },
    [](Builder &b) {
      return b.make<FullyConnectedNode>(b.in({3, 5}), b.weights({5, 17}),
                                        b.weights({17}));
    },
    [](Builder &b) {
      return b.make<FullyConnectedNode>(b.in({3, 5}, Int16),
                                        b.in({5, 7}, Int16), b.in({7}, Int16));
    },
    [](Builder &b) {
      return b.make<AttentionNode>(b.in({2, 3, 5}), b.in({2, 7, 5}),
                                   b.in({2, 7, 4}), b.in({1, 7}), 0.25, false);
    },
    [](Builder &b) {
      return b.make<AttentionNode>(b.in({3, 5}), b.in({7, 5}), b.in({7, 4}),
                                   NodeValue(), 0.25, true);
    },
    makeMasked<false>,
    makeMasked<true>,
};

using Ints = std::vector<int64_t>;

const Case convolutions[] = {
    [](Builder &b) {
      return b.make<ConvolutionNode>(
          b.in({2, 7, 9, 6}), b.weights({4, 3, 2, 3}), b.weights({4}),
          Ints{2, 1}, Ints{1, 0, 2, 1}, Ints{1, 2}, 2);
    },
    [](Builder &b) {
      return b.make<ConvolutionNode>(b.in({1, 5, 5, 3}), b.in({3, 3, 3, 1}),
                                     NodeValue(), Ints{1, 1}, Ints{1, 1, 1, 1},
                                     Ints{1, 1}, 3);
    },
    [](Builder &b) {
      return b.make<ConvolutionNode>(
          b.in({2, 7, 5, 4}, Int32), b.in({6, 3, 2, 2}, Int32),
          b.in({6}, Int32), Ints{2, 1}, Ints{1, 0, 2, 1}, Ints{1, 2}, 2);
    },
    [](Builder &b) {
      return b.make<ConvolutionIntegerNode>(
          b.in({2, 7, 5, 4}, ElemKind::UInt8), b.in({6, 3, 2, 2}, Int8),
          b.in({}, ElemKind::UInt8), b.in({}, Int8), b.in({6}, Int32),
          Ints{2, 1}, Ints{1, 0, 2, 1}, Ints{1, 2}, 2);
    },
    [](Builder &b) {
      return b.make<ConvolutionIntegerNode>(
          b.in({1, 3, 3, 2}, Int8), b.in({3, 2, 2, 2}, ElemKind::UInt8),
          NodeValue(), NodeValue(), NodeValue(), Ints{1, 1}, Ints{0, 0, 0, 0},
          Ints{1, 1}, 1);
    },
    [](Builder &b) {
      return b.make<MatMulIntegerNode>(b.in({2, 3, 5}, ElemKind::UInt8),
                                       b.in({5, 4}, Int8), b.in({4}, Int8));
    },
    [](Builder &b) {
      return b.make<MatMulNBitsNode>(b.in({2, 40}), b.weights({40, 3}, Int8),
                                     b.weights({3, 3}), NodeValue(),
                                     NodeValue(), /*block=*/16);
    },
    [](Builder &b) {
      return b.make<ConvolutionNode>(b.in({1, 4, 4, 3}, ElemKind::BFloat16),
                                     b.in({5, 1, 1, 3}, ElemKind::BFloat16),
                                     NodeValue(), Ints{1, 1}, Ints{0, 0, 0, 0},
                                     Ints{1, 1}, 1);
    },
    [](Builder &b) {
      return b.make<ConvTransposeNode>(b.in({2, 3, 5, 4}), b.in({4, 3, 2, 3}),
                                       b.in({6}), Ints{2, 3}, Ints{1, 0, 0, 1},
                                       Ints{1, 2}, Ints{1, 2}, 2);
    },
    // Rows at the end that no window reaches.
    [](Builder &b) {
      return b.make<ConvolutionFilterGradientNode>(
          b.in({3, 8, 7, 6}), b.in({3, 4, 3, 4}), Ints{3, 2}, Ints{2, 2},
          Ints{1, 0, 0, 1}, Ints{1, 2}, 2);
    },
    [](Builder &b) {
      return b.make<ConvolutionFilterGradientNode>(
          b.in({2, 5, 5, 3}), b.in({2, 5, 5, 7}), Ints{3, 3}, Ints{1, 1},
          Ints{1, 1, 1, 1}, Ints{1, 1}, 1);
    },
};

const Case pools[] = {
    [](Builder &b) {
      return b.make<MaxPoolNode>(b.in({2, 7, 9, 3}), Ints{3, 2}, Ints{2, 1},
                                 Ints{1, 0, 0, 1}, Ints{1, 2});
    },
    [](Builder &b) {
      return b.make<MaxPoolNode>(b.in({2, 7, 9, 3}, Int32), Ints{3, 2},
                                 Ints{2, 1}, Ints{1, 0, 0, 1}, Ints{1, 2});
    },
    [](Builder &b) {
      return b.make<MaxPoolNode>(b.in({1, 5, 5, 3}, UInt8), Ints{2, 2},
                                 Ints{1, 1}, Ints{0, 0, 0, 0}, Ints{1, 1});
    },
    [](Builder &b) {
      return b.make<MaxPoolNode>(b.in({1, 5, 5, 3}), Ints{2, 2}, Ints{2, 2},
                                 Ints{0, 0, 3, 3}, Ints{2, 2});
    },
    [](Builder &b) {
      return b.make<AvgPoolNode>(b.in({2, 7, 9, 3}), Ints{3, 2}, Ints{2, 1},
                                 Ints{1, 0, 0, 1}, Ints{1, 1}, false);
    },
    [](Builder &b) {
      return b.make<AvgPoolNode>(b.in({2, 7, 9, 3}), Ints{3, 2}, Ints{2, 1},
                                 Ints{1, 0, 0, 1}, Ints{1, 1}, true);
    },
    [](Builder &b) {
      return b.make<AvgPoolNode>(b.in({2, 7, 9, 3}), Ints{3, 2}, Ints{2, 1},
                                 Ints{1, 0, 0, 1}, Ints{2, 3}, false);
    },
    [](Builder &b) {
      return b.make<AvgPoolNode>(b.in({1, 7, 7, 1}), Ints{2, 2}, Ints{1, 1},
                                 Ints{1, 1, 1, 1}, Ints{2, 2}, true);
    },
    // The first windows lie in the padding as a whole.
    [](Builder &b) {
      return b.make<AvgPoolNode>(b.in({1, 3, 3, 2}), Ints{2, 2}, Ints{1, 1},
                                 Ints{3, 3, 0, 0}, Ints{1, 1}, false);
    },
    [](Builder &b) {
      return b.make<MaxPoolGradientNode>(b.in({2, 7, 9, 3}), b.in({2, 3, 8, 3}),
                                         Ints{3, 2}, Ints{2, 1},
                                         Ints{1, 0, 0, 1}, Ints{1, 2});
    },
    [](Builder &b) {
      return b.make<AvgPoolGradientNode>(b.in({2, 3, 9, 3}), Ints{7, 9},
                                         Ints{3, 2}, Ints{2, 1},
                                         Ints{1, 0, 0, 1}, Ints{1, 1}, false);
    },
    // Rows and columns at the end that no window reaches.
    [](Builder &b) {
      return b.make<AvgPoolGradientNode>(b.in({1, 3, 2, 3}), Ints{10, 8},
                                         Ints{2, 2}, Ints{3, 4},
                                         Ints{0, 1, 0, 0}, Ints{2, 1}, true);
    },
    [](Builder &b) { return b.make<GlobalAvgPoolNode>(b.in({2, 5, 3, 7})); },
    [](Builder &b) { return b.make<GlobalMaxPoolNode>(b.in({2, 5, 3, 7})); },
};

NodeValue batchNormalize(Builder &b, Dims shape, int64_t axis) {
  Dims channels = {shape[axis]};
  NodeValue x = b.in(shape), scale = b.in(channels), bias = b.in(channels);
  return b.make<BatchNormalizationNode>(x, scale, bias, b.in(channels),
                                        b.variances(channels), axis, 1e-3);
}

const Case normalizations[] = {
    [](Builder &b) { return batchNormalize(b, {2, 3, 5, 7}, 3); },
    [](Builder &b) { return batchNormalize(b, {2, 3, 5}, 1); },
    [](Builder &b) { return batchNormalize(b, {3, 5}, 0); },
    [](Builder &b) { return batchNormalize(b, {7}, 0); },
    [](Builder &b) {
      return b.make<LocalResponseNormalizationNode>(b.in({2, 3, 5, 17}), 5, 0.1,
                                                    0.75, 2.0);
    },
    [](Builder &b) {
      return b.make<LocalResponseNormalizationNode>(b.in({3, 17}), 3, 0.1, 0.75,
                                                    2.0);
    },
    [](Builder &b) {
      return b.make<LayerNormalizationNode>(b.in({2, 3, 5}), b.in({3, 5}),
                                            b.in({3, 5}), 1, 1e-3, true);
    },
    [](Builder &b) {
      return b.make<LayerNormalizationNode>(b.in({3, 17}), NodeValue(),
                                            NodeValue(), 1, 1e-3, true);
    },
    [](Builder &b) {
      return b.make<LayerNormalizationNode>(b.in({3, 17}), b.in({17}),
                                            NodeValue(), 1, 1e-3, false);
    },
    [](Builder &b) {
      return b.make<LayerNormalizationNode>(b.in({3, 7}, Double),
                                            b.in({7}, Double),
                                            b.in({7}, Double), 1, 1e-3, true);
    },
    // Instances, channels last and not; groups; no pixels but one, and none.
    [](Builder &b) {
      return b.make<GroupNormalizationNode>(b.in({2, 3, 5, 7}), b.in({7}),
                                            b.in({7}), 3, 7, 1e-3);
    },
    [](Builder &b) {
      return b.make<GroupNormalizationNode>(b.in({2, 3, 5}), NodeValue(),
                                            NodeValue(), 1, 3, 1e-3);
    },
    [](Builder &b) {
      return b.make<GroupNormalizationNode>(b.in({2, 5, 6, 3}), b.in({6}),
                                            b.in({6}), 2, 2, 1e-3);
    },
    [](Builder &b) {
      return b.make<GroupNormalizationNode>(b.in({3, 6}), NodeValue(),
                                            b.in({6}), 1, 2, 1e-3);
    },
    [](Builder &b) {
      return b.make<GroupNormalizationNode>(b.in({3, 0, 6}), b.in({6}),
                                            NodeValue(), 2, 2, 1e-3);
    },
    [](Builder &b) { return b.make<SoftmaxNode>(b.in({3, 5, 7}), 1); },
    [](Builder &b) { return b.make<DropoutNode>(b.in({3, 17}), 0.25); },
    [](Builder &b) {
      return b.make<LossNode>(b.in({3, 17}), b.in({3, 17}), "huber", 0.5);
    },
    [](Builder &b) { return b.make<LogSoftmaxNode>(b.in({3, 5, 7}), 2); },
};

/// Images that were in NCHW: the layout of what ONNX's operators make.
NodeValue pooled(Builder &b) {
  return b.make<GlobalMaxPoolNode>(b.in({2, 5, 3, 7}));
}
NodeValue convolved(Builder &b) {
  return b.make<ConvolutionNode>(b.in({2, 5, 4, 3}), b.weights({6, 2, 1, 3}),
                                 NodeValue(), Ints{1, 1}, Ints{0, 0, 0, 0},
                                 Ints{1, 1}, 1);
}

const Case reductions[] = {
    [](Builder &b) {
      return b.make<ReduceIntegerNode>(b.in({2, 3, 5}, ElemKind::UInt8),
                                       Ints{0, 2}, false);
    },
    [](Builder &b) { return b.reduce(b.in({3, 5, 7}), "sum", {0, 2}, false); },
    [](Builder &b) { return b.reduce(b.in({3, 5, 7}), "mean", {1}, true); },
    [](Builder &b) { return b.reduce(b.in({3, 5, 7}), "max", {2}, false); },
    [](Builder &b) { return b.reduce(b.in({3, 5, 7}), "min", {0}, true); },
    [](Builder &b) { return b.reduce(b.in({3, 5}), "prod", {0, 1}, false); },
    [](Builder &b) { return b.reduce(b.in({3, 5}), "sum", {}, false); },
    [](Builder &b) { return b.reduce(b.in({3, 0, 7}), "sum", {1}, false); },
    [](Builder &b) { return b.reduce(b.in({3, 0}), "prod", {1}, true); },
    [](Builder &b) {
      return b.reduce(b.in({5, 7}, Int64), "mean", {0}, false);
    },
    [](Builder &b) { return b.reduce(b.in({5, 7}, Int16), "sum", {1}, false); },
    [](Builder &b) { return b.reduce(b.in({5, 7}, UInt64), "sum", {1}, true); },
    [](Builder &b) { return b.reduce(b.in({5, 7}, UInt32), "max", {1}, true); },
    [](Builder &b) { return b.reduce(convolved(b), "mean", {1, 2}, true); },
    [](Builder &b) { return b.reduce(convolved(b), "max", {1}, false); },
    [](Builder &b) { return b.reduce(convolved(b), "sum", {0, 3}, false); },
    [](Builder &b) {
      return b.make<CumSumNode>(b.in({3, 5, 7}, Int8), 1, true, true);
    },
    [](Builder &b) {
      return b.make<CumSumNode>(b.in({5}, UInt64), 0, false, false);
    },
    [](Builder &b) { return b.make<CumSumNode>(convolved(b), 3, false, true); },
    [](Builder &b) {
      return b.make<ArgMaxNode>(b.in({3, 5, 7}, Int8), 1, true, true);
    },
    [](Builder &b) {
      return b.make<ArgMaxNode>(convolved(b), 3, false, false);
    },
};

const Case movements[] = {
    [](Builder &b) { return b.splat(Float, {3, 7}, 0.5); },
    [](Builder &b) { return b.splat(ElemKind::BFloat16, {3, 7}, 0.5); },
    [](Builder &b) { return b.splat(Bool, {}, 1); },
    [](Builder &b) { return b.splat(Int64, {0, 3}, 1); },
    [](Builder &b) {
      return b.concat({b.in({3, 1, 5}), b.weights({3, 0, 5}), b.in({3, 4, 5})},
                      1);
    },
    [](Builder &b) { return b.concat({convolved(b), b.in({2, 4, 4, 1})}, 3); },
    [](Builder &b) {
      return b.make<SliceNode>(b.in({7, 9, 3}), Ints{6, 1, 0}, Ints{4, 3, 3},
                               Ints{-2, 3, 1});
    },
    [](Builder &b) {
      return b.make<SliceNode>(b.in({7, 9}), Ints{3, 8}, Ints{0, 8},
                               Ints{1, -1});
    },
    [](Builder &b) {
      return b.make<SliceNode>(convolved(b), Ints{0, 1, 0, 5}, Ints{2, 2, 4, 3},
                               Ints{1, 2, 1, -2});
    },
    [](Builder &b) { return b.transpose(b.in({3, 5, 7}), {2, 0, 1}); },
    [](Builder &b) { return b.transpose(convolved(b), {3, 0, 2, 1}); },
    [](Builder &b) { return b.reshape(b.in({3, 4, 5}), {2, 30}); },
    [](Builder &b) { return b.reshape(b.in({3, 0, 5}), {0, 7}); },
    [](Builder &b) { return b.reshape(convolved(b), {2, 96}); },
    [](Builder &b) { return b.reshape(pooled(b), {2, 7}); },
    [](Builder &b) { return b.broadcast(b.in({3, 1}), {2, 3, 5}); },
    [](Builder &b) { return b.broadcast(pooled(b), {2, 3, 4, 7}); },
    [](Builder &b) { return b.make<TileNode>(b.in({3, 5}), Ints{2, 3}); },
    [](Builder &b) { return b.make<TileNode>(convolved(b), Ints{1, 2, 1, 3}); },
    [](Builder &b) {
      return b.make<PadNode>(b.in({3, 7}), Ints{1, -2, 0, 3}, "constant", 2.5);
    },
    [](Builder &b) {
      return b.make<PadNode>(b.in({3, 7}, Int32), Ints{1, 2, 0, 3}, "reflect",
                             0.0);
    },
    [](Builder &b) {
      return b.make<PadNode>(convolved(b), Ints{0, 1, 0, 2, 0, 3, 1, 0}, "edge",
                             0.0);
    },
    // Element-wise nodes of values in several layouts.
    [](Builder &b) { return b.add(convolved(b), b.in({6})); },
    [](Builder &b) { return b.mul(b.weights({4, 4, 6}), convolved(b)); },
    [](Builder &b) {
      return b.select(b.greater(convolved(b), 0), b.in({4, 4, 1}),
                      b.in({2, 4, 4, 6}));
    },
    [](Builder &b) { return b.make<SoftmaxNode>(convolved(b), 3); },
};

const Case indexings[] = {
    [](Builder &b) {
      return b.make<DeclareExtentsNode>(b.in({3, 7}),
                                        Type(ElemKind::Float, {3, 7}));
    },
    [](Builder &b) { return b.make<BitCastNode>(b.in({3, 7}, Int16), UInt16); },
    [](Builder &b) { return b.make<BitCastNode>(b.in({7}, Int64), UInt64); },
    [](Builder &b) { return b.make<BitCastNode>(b.in({7}, Bool), Int8); },
    [](Builder &b) {
      return b.gather(b.in({3, 5, 7}), b.in({2, 3}, Int64), 1);
    },
    [](Builder &b) { return b.gather(b.in({5, 7}), b.in({}, Int32), 0); },
    // Indices out of range that the function computes.
    [](Builder &b) {
      return b.gather(b.in({5, 7}), b.mul(b.in({17}, Int64), 4), 0);
    },
    [](Builder &b) { return b.gather(b.in({5}), b.indices({9, -9, 2}), 0); },
    [](Builder &b) {
      return b.make<ScatterNode>(b.in({7, 3}), b.indices({2, -1, 0}),
                                 b.in({3, 3}), "replace");
    },
    [](Builder &b) {
      return b.make<ScatterNode>(b.in({7, 3}), b.indices({2, 2, 9, -8}, Int32),
                                 b.in({4, 3}), "add");
    },
    [](Builder &b) {
      return b.make<ScatterNode>(b.in({7, 3}), b.mul(b.in({9}, Int64), 3),
                                 b.in({9, 3}), "mul");
    },
    [](Builder &b) {
      return b.make<ScatterNode>(b.in({7, 3}), b.indices({2, 2, 5}),
                                 b.in({3, 3}), "max");
    },
    [](Builder &b) {
      return b.make<ScatterNode>(b.in({4, 3}, Int32),
                                 b.mul(b.in({17}, Int64), 2),
                                 b.in({17, 3}, Int32), "min");
    },
    // The second start is out of range.
    [](Builder &b) {
      return b.make<DynamicUpdateSliceNode>(b.in({3, 7, 2}), b.in({3, 5, 2}),
                                            b.indices({1}), 1);
    },
    [](Builder &b) {
      return b.make<DynamicUpdateSliceNode>(
          b.in({7, 3}, Int32), b.in({2, 3}, Int32), b.indices({9}, Int32), 0);
    },
    [](Builder &b) {
      return b.make<DynamicUpdateSliceNode>(b.in({3, 7}), b.in({3, 0}),
                                            b.in({}, Int64), 1);
    },
    [](Builder &b) { return b.make<TopKNode>(b.in({3, 17}), 5, true); },
    [](Builder &b) {
      return b.make<TopKNode>(b.in({2, 3, 7}, Int32), 7, false);
    },
    [](Builder &b) { return b.make<TopKNode>(b.in({3, 7}), 0, true); },
    [](Builder &b) { return b.make<TopKNode>(b.in({3, 7}, UInt16), 3, true); },
};

/// Boxes side by side that overlap by \p share, in two rows.
NodeValue makeBoxes(Builder &b, double share) {
  return b.table(Float, {2, 7, 4}, [&](DimsRef i) {
    double left = double(i[1]) * (1 - share);
    return i[2] % 2 ? left + double(i[2] / 2) : double(i[2] / 2);
  });
}

NodeValue suppress(Builder &b, double share, int64_t count) {
  NodeValue candidates = b.table(Int64, {2, 3, 5}, [](DimsRef i) {
    return double((i[2] * 3 + i[1] + i[0]) % 8) - 1;
  });
  return b.make<NonMaxSuppressionNode>(makeBoxes(b, share), candidates,
                                       b.scalar(Float, 0.3), count);
}

const Case boxes[] = {
    [](Builder &b) { return suppress(b, 0.75, 5); },
    [](Builder &b) { return suppress(b, 0.1, 2); },
    [](Builder &b) { return suppress(b, 0.5, 9); },
};

NodeValue resize(Builder &b, const char *mode, const char *coordinates,
                 const char *nearest, Ints sizes, double h, double w) {
  return b.make<ResizeNode>(b.in({2, 5, 4, 3}), sizes, h, w, mode, coordinates,
                            nearest);
}

const Case resizes[] = {
    [](Builder &b) {
      return resize(b, "nearest", "asymmetric", "floor", {10, 12}, 2, 3);
    },
    [](Builder &b) {
      return resize(b, "nearest", "half_pixel", "round_prefer_ceil", {7, 3},
                    1.5, 0.9);
    },
    [](Builder &b) {
      return resize(b, "linear", "half_pixel", "floor", {7, 9}, 7 / 5.0,
                    9 / 4.0);
    },
    [](Builder &b) {
      return resize(b, "linear", "align_corners", "floor", {3, 9}, 3 / 5.0,
                    9 / 4.0);
    },
    [](Builder &b) {
      return resize(b, "linear", "pytorch_half_pixel", "floor", {1, 8}, 1 / 5.0,
                    2);
    },
};

std::vector<Case> getCases() {
  std::vector<Case> cases;
  for (llvm::ArrayRef<Case> list :
       {llvm::ArrayRef(matMuls), llvm::ArrayRef(convolutions),
        llvm::ArrayRef(pools), llvm::ArrayRef(normalizations),
        llvm::ArrayRef(reductions), llvm::ArrayRef(movements),
        llvm::ArrayRef(indexings), llvm::ArrayRef(boxes),
        llvm::ArrayRef(resizes)})
    llvm::append_range(cases, list);
  return cases;
}

std::unique_ptr<Module> make(Case build) {
  return buildModule([&](Function &function, Module &module) {
    Builder b(function, module);
    return llvm::cantFail(b.finish(build(b)));
  });
}

} // namespace

TEST(ExporterNodes, GiveTheSameWhenRead) {
  for (auto [i, build] : llvm::enumerate(getCases())) {
    std::unique_ptr<Module> module = make(build);
    std::string name = module->findFunction("main")
                           ->getNodes()
                           .back()
                           .getOperand(0)
                           .node->getKindName()
                           .str();
    checkRewritten(name + " of case " + std::to_string(i),
                   [&] { return make(build); });
  }
}

//===- Branches and loops -------------------------------------------------===//

static std::unique_ptr<Module> parse(llvm::StringRef text) {
  return llvm::cantFail(parseModule(text, "test", nullptr));
}

static const char *branches = R"(
module "m"
placeholder %flag : bool<> input "flag"
placeholder %x : float<2x3> input "x"
placeholder %y : float<2x3> output "y"
placeholder %z : float<2x3> output "z"
constant %w : float<2x3> = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
function "main" {
  %sum = Add(%x, %w) : float<2x3>
  %if:2 = If(%flag, %sum, %x) {thenBody = body "then" (%a : float<2x3>, %b : float<2x3>) -> (%r : float<2x3>, %s : float<2x3>) {
    %mul = Mul(%a, %w) : float<2x3>
    Save(%mul, %r)
    Save(%mul, %s)
  }, elseBody = body "else" (%c : float<2x3>, %d : float<2x3>) -> (%t : float<2x3>, %u : float<2x3>) {
    Save(%d, %t)
    Save(%w, %u)
  }} : float<2x3>, float<2x3>
  Save(%if:0, %y)
  Save(%if:1, %z)
}
)";

TEST(ExporterNodes, Branches) {
  for (double flag : {0.0, 1.0})
    checkRewritten("if", [] { return parse(branches); }, {{"flag", {flag}}});
}

/// a, b = b, a + b at most 8 times, and a each time.
static const char *fibonacci = R"(
module "m"
placeholder %trips : int64<> input "trips"
placeholder %begins : bool<> input "begins"
placeholder %one : float<3> input "one"
placeholder %a : float<3> output "a"
placeholder %b : float<3> output "b"
placeholder %all : float<8x3> output "all"
placeholder %count : int64<> output "count"
constant %limit : float<> = [10.0]
constant %index : int64<> = [0]
function "main" {
  %start = Abs(%one) : float<3>
  %loop:4 = Loop(%trips, %begins, %start, %one, %limit) {body = body "body" (%i : int64<>, %c : bool<>, %x : float<3>, %y : float<3>, %most : float<>) -> (%rc : bool<>, %rx : float<3>, %ry : float<3>, %rs : float<3>) {
    %sum = Add(%x, %y) : float<3>
    %first = Gather(%sum, %index) {axis = 0} : float<>
    %less = Less(%first, %most) : bool<>
    Save(%less, %rc)
    Save(%y, %rx)
    Save(%sum, %ry)
    Save(%x, %rs)
  }, numStates = 2, maxTripCount = 8} : float<3>, float<3>, float<8x3>, int64<>
  Save(%loop:0, %a)
  Save(%loop:1, %b)
  Save(%loop:2, %all)
  Save(%loop:3, %count)
}
)";

TEST(ExporterNodes, LoopsThatEndSomewhere) {
  auto rows = [](Tensor tensor) {
    return tensor.getType().getRank() ? tensor.getType().getDim(0) : 0;
  };
  for (double trips : {0.0, 1.0, 5.0, 8.0, 99.0})
    for (double begins : {0.0, 1.0}) {
      std::map<std::string, std::vector<double>> given = {
          {"trips", {trips}}, {"begins", {begins}}, {"one", {1, 2, 3}}};
      auto expected = llvm::cantFail(runModule(parse(fibonacci), given));
      auto module = llvm::cantFail(
          readWritten(llvm::cantFail(writeOnnx(*parse(fibonacci)))));
      auto actual = llvm::cantFail(runModule(std::move(module), given));
      for (const char *name : {"a", "b", "count", "all"})
        expectSame(name, actual[name], expected[name]);
      EXPECT_EQ(rows(actual["all"].clone()), 8);
    }
}

/// All eight times, without a condition: nothing is counted or filled.
static const char *full = R"(
module "m"
placeholder %x : float<3> input "x"
placeholder %all : float<300x3> output "all"
placeholder %count : int64<> output "count"
function "main" {
  %loop:3 = Loop(none, none, %x) {body = body "body" (%i : int64<>, %c : bool<>, %s : float<3>) -> (%rc : bool<>, %rs : float<3>, %scan : float<3>) {
    %sine = Sin(%s) : float<3>
    Save(%c, %rc)
    Save(%sine, %rs)
    Save(%s, %scan)
  }, numStates = 1, maxTripCount = 300} : float<3>, float<300x3>, int64<>
  Save(%loop:1, %all)
  Save(%loop:2, %count)
}
)";

TEST(ExporterNodes, LoopsThatRunFully) {
  checkRewritten("loop", [] { return parse(full); });
  EXPECT_EQ(getOperators(llvm::cantFail(writeOnnx(*parse(full)))),
            std::vector<std::string>{"Loop"});
}

//===- External operators -------------------------------------------------===//

static const char *external = R"(
module "m"
placeholder %x : float<3> input "x"
placeholder %y : float<3> output "y"
placeholder %z : int64<> output "z"
function "main" {
  %foo:2 = ExternalCall(%x) {operatorName = "com.example:Foo", function = "f", resultTypes = [float<3>, int64<>], values = {i = 2, f = 0.5, s = "x", is = [1, 2], fs = [0.25], ss = ["a", "b"]}, absent = [0]} : float<3>, int64<>
  Save(%foo:0, %y)
  Save(%foo:1, %z)
}
)";

TEST(ExporterNodes, ExternalOperators) {
  std::string bytes = llvm::cantFail(writeOnnx(*parse(external)));
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes));
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(1).domain(), "com.example");
  EXPECT_EQ(model.opset_import(1).version(), 1);
  const onnx::NodeProto &node = model.graph().node(0);
  EXPECT_EQ(node.op_type(), "Foo");
  EXPECT_EQ(node.domain(), "com.example");
  EXPECT_EQ(std::vector<std::string>(node.input().begin(), node.input().end()),
            (std::vector<std::string>{"", "x"}));
  EXPECT_EQ(node.output_size(), 2);
  ASSERT_EQ(node.attribute_size(), 6);
  EXPECT_EQ(node.attribute(0).i(), 2);
  EXPECT_EQ(node.attribute(1).f(), 0.5f);
  EXPECT_EQ(node.attribute(2).s(), "x");
  EXPECT_EQ(node.attribute(3).ints(1), 2);
  EXPECT_EQ(node.attribute(4).floats(0), 0.25f);
  EXPECT_EQ(node.attribute(5).strings(1), "b");
}

//===- Completeness -------------------------------------------------------===//

static void addKinds(const Function &function, std::set<NodeKind> &kinds) {
  for (const Node &node : function.getNodes()) {
    kinds.insert(node.getKind());
    for (Function *body : getBodies(node))
      addKinds(*body, kinds);
  }
}

TEST(ExporterNodes, EachKindIsWrittenOrHasAReason) {
  std::set<NodeKind> tested;
  for (Case build : getCases())
    addKinds(*make(build)->findFunction("main"), tested);
  for (const char *text : {branches, fibonacci, external})
    addKinds(*parse(text)->findFunction("main"), tested);
  llvm::ArrayRef<OpInfo> table = getNodeTable();
  for (size_t i = 0; i < table.size(); ++i) {
    NodeKind kind = NodeKind(i);
    if (kind == NodeKind::Placeholder || kind == NodeKind::Constant)
      continue;
    std::string name = table[i].name.str();
    EXPECT_NE(hasOnnxExporter(kind), !getOnnxRefusal(kind).empty())
        << name << " has neither an exporter nor a reason, or both";
    // Element-wise kinds have a test of their own.
    if (hasOnnxExporter(kind) && !table[i].scalarOp)
      EXPECT_TRUE(tested.count(kind)) << name << " has no test";
  }
}

//===- IntegerRandomTest.cpp - Random convolutions and matmuls of bytes ---===//
//
// Compiled code against the interpreter: shapes, layouts, operands and what
// follows are drawn, and so are the level, the tile and the threads. Results
// are equal to the bit.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"

using namespace glowish;

namespace {

constexpr ElemKind u8 = ElemKind::UInt8, s8 = ElemKind::Int8,
                   i32 = ElemKind::Int32, f32 = ElemKind::Float;

/// Elements of all values that integers of 8 bits have, and small floats and
/// int32.
Tensor makeElements(const Type &type, uint64_t seed) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    double value = type.getKind() == u8    ? double(random.below(256))
                   : type.getKind() == s8  ? double(random.below(256)) - 128
                   : type.getKind() == i32 ? double(random.below(20001)) - 10000
                                           : double(random.uniform(-1, 1));
    tensor.setFromDouble(i, value);
  }
  return tensor;
}

/// Builds a random graph around one convolution or matmul. Each call with the
/// same seed makes the same graph.
class GraphMaker {
public:
  GraphMaker(uint64_t seed, Function &function, Module &module)
      : random(seed), f(function), m(module) {}

  NodeValue makeConvolution(NodeValue x = {});
  NodeValue makeMatMul();
  /// What may follow sums.
  NodeValue finish(NodeValue sums);

private:
  /// One of \p values.
  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[random.below(values.size())];
  }
  bool isLucky(unsigned oneIn) { return random.below(oneIn) == 0; }
  NodeValue makeConstant(ElemKind kind, DimsRef shape) {
    return NodeValue(
        m.createConstant("c", makeElements(Type(kind, shape), random.next())));
  }
  NodeValue makeInput(ElemKind kind, DimsRef shape) {
    return NodeValue(m.createPlaceholder("x", Type(kind, shape),
                                         /*isInput=*/true,
                                         /*isOutput=*/false));
  }
  NodeValue makeStrided(ElemKind kind, DimsRef shape);
  NodeValue makeVector(ElemKind kind, int64_t extent);
  NodeValue makeFilter(ElemKind kind, DimsRef shape);
  NodeValue makeZeroPoint(ElemKind kind, int64_t extent = 1);
  NodeValue requantize(NodeValue x, ElemKind kind);

  Random random;
  Function &f;
  Module &m;
};

} // namespace

/// A run-time value, perhaps a part of a larger one or a transposed one.
NodeValue GraphMaker::makeStrided(ElemKind kind, DimsRef shape) {
  unsigned rank = unsigned(shape.size());
  switch (random.below(4)) {
  case 0: {
    Dims larger(shape), starts(rank), steps(rank, 1);
    for (unsigned d = 0; d < rank; ++d) {
      bool isSpread = shape[d] > 0 && isLucky(4);
      starts[d] = int64_t(random.below(3));
      steps[d] = isSpread ? 2 : 1;
      larger[d] = starts[d] + shape[d] * steps[d] + int64_t(random.below(3));
    }
    return f
        .create<SliceNode>("slice", makeInput(kind, larger), starts, shape,
                           steps)
        ->getResult();
  }
  case 1: {
    if (rank < 2)
      break;
    std::vector<int64_t> permutation(rank);
    for (unsigned d = 0; d < rank; ++d)
      permutation[d] = d;
    std::swap(permutation[random.below(rank)], permutation[random.below(rank)]);
    Dims from(shape);
    for (unsigned d = 0; d < rank; ++d)
      from[size_t(permutation[d])] = shape[d];
    return f.create<TransposeNode>("t", makeInput(kind, from), permutation)
        ->getResult();
  }
  default:
    break;
  }
  return makeInput(kind, shape);
}

/// One value per channel: constant, or known at run time.
NodeValue GraphMaker::makeVector(ElemKind kind, int64_t extent) {
  return isLucky(3) ? makeStrided(kind, {extent})
                    : makeConstant(kind, {extent});
}

/// Absent, a scalar, 0, or perhaps one for each of \p extent channels.
NodeValue GraphMaker::makeZeroPoint(ElemKind kind, int64_t extent) {
  switch (random.below(extent > 1 ? 6 : 4)) {
  case 0:
    return {};
  case 1:
    return makeInput(kind, {});
  case 2:
    return makeConstant(kind, {});
  case 3:
    return NodeValue(m.createConstant("z", Tensor(Type(kind, {}))));
  default:
    return makeVector(kind, extent);
  }
}

/// Mostly constant; of uint8 perhaps without values above those of int8.
NodeValue GraphMaker::makeFilter(ElemKind kind, DimsRef shape) {
  if (isLucky(5))
    return makeStrided(kind, shape);
  Tensor tensor = makeElements(Type(kind, shape), random.next());
  if (kind == u8 && isLucky(2))
    for (uint8_t &value : tensor.data<uint8_t>())
      value &= 127;
  return NodeValue(m.createConstant("w", std::move(tensor)));
}

/// Of \p x, or of an input.
NodeValue GraphMaker::makeConvolution(NodeValue x) {
  ElemKind inputKind = pick({u8, s8}), filterKind = pick({u8, s8, s8});
  int64_t group = pick<int64_t>({1, 1, 1, 2, 3});
  int64_t channels = pick<int64_t>({1, 2, 3, 4, 5, 7, 8, 16, 17, 33});
  int64_t outChannels = pick<int64_t>({1, 2, 3, 8, 16, 17, 33, 50});
  if (x) {
    inputKind = x.getElemKind();
    group = x.getShape()[3] % group ? 1 : group;
    channels = x.getShape()[3] / group;
  }
  if (isLucky(4)) { // depthwise, perhaps with several outputs a channel
    group = channels * group;
    channels = 1;
    outChannels = pick<int64_t>({1, 1, 1, 2});
  }
  bool isSmall = isLucky(8);
  Dims input = {pick<int64_t>({1, 1, 3}), 0, 0, channels * group};
  Dims filter = {outChannels * group, 0, 0, channels};
  std::vector<int64_t> strides(2), pads(4), dilations(2);
  for (unsigned d = 0; d < 2; ++d) {
    int64_t kernel = pick<int64_t>({1, 1, 2, 3, 3, 5, 7});
    filter[1 + d] = kernel;
    strides[d] = pick<int64_t>({1, 1, 1, 2, 3});
    dilations[d] = pick<int64_t>({1, 1, 1, 2, 3});
    int64_t reach = dilations[d] * (kernel - 1) + 1;
    pads[d] = isLucky(2) ? reach / 2 : int64_t(random.below(uint64_t(reach)));
    pads[2 + d] =
        isLucky(2) ? reach / 2 : int64_t(random.below(uint64_t(reach)));
    int64_t least = std::max<int64_t>(1, reach - pads[d] - pads[2 + d]);
    if (x && x.getShape()[1 + d] < least)
      pads[d] += least - x.getShape()[1 + d];
    input[1 + d] = least + int64_t(random.below(isSmall ? 2 : 20));
  }
  if (isLucky(40))
    input[0] = 0;
  if (!x)
    x = makeStrided(inputKind, input);
  NodeValue w = makeFilter(filterKind, filter), bias;
  NodeValue zeroPoint = makeZeroPoint(inputKind);
  NodeValue ofFilter = makeZeroPoint(filterKind, outChannels * group);
  if (isLucky(2))
    bias = makeVector(i32, outChannels * group);
  return f
      .create<ConvolutionIntegerNode>("conv", x, w, zeroPoint, ofFilter, bias,
                                      strides, pads, dilations, group)
      ->getResult();
}

NodeValue GraphMaker::makeMatMul() {
  auto pickExtent = [&] {
    return pick<int64_t>({1, 1, 2, 3, 4, 7, 8, 16, 17, 33, 65});
  };
  int64_t rows = pickExtent(), depth = pickExtent(), columns = pickExtent();
  if (isLucky(30))
    depth = 0;
  Dims lhs, rhs;
  for (unsigned left = unsigned(random.below(4)); left > 0; --left)
    lhs.push_back(pick<int64_t>({1, 2, 3}));
  if (isLucky(3))
    for (int64_t extent : llvm::drop_begin(lhs, random.below(lhs.size() + 1)))
      rhs.push_back(isLucky(3) ? 1 : extent);
  lhs.append({rows, depth});
  rhs.append({depth, columns});
  NodeValue x = makeStrided(pick({u8, s8}), lhs);
  NodeValue w = makeFilter(pick({u8, s8}), rhs);
  NodeValue zeroPoint = makeZeroPoint(w.getElemKind(), columns);
  return f.create<MatMulIntegerNode>("matmul", x, w, zeroPoint)->getResult();
}

/// \p x, floats, as integers of \p kind.
NodeValue GraphMaker::requantize(NodeValue x, ElemKind kind) {
  auto makeScalar = [&](double value) {
    Tensor tensor(Type(f32, DimsRef()));
    tensor.setFromDouble(0, value);
    return NodeValue(m.createConstant("s", std::move(tensor)));
  };
  if (isLucky(2))
    x = f.create<ReluNode>("relu", x)->getResult();
  if (isLucky(2))
    x = f.create<DivNode>("d", x, makeScalar(0.37))->getResult();
  x = f.create<RoundNode>("r", x)->getResult();
  if (isLucky(2)) // a zero point
    x = f.create<AddNode>("z", x, makeScalar(double(random.below(100))))
            ->getResult();
  return f.create<CastNode>("q", x, kind)->getResult();
}

NodeValue GraphMaker::finish(NodeValue sums) {
  if (isLucky(4))
    return sums;
  NodeValue x = f.create<CastNode>("f", sums, f32)->getResult();
  Dims shape(x.getShape());
  NodeValue factor =
      isLucky(3) ? makeConstant(f32, {}) : makeVector(f32, shape.back());
  x = f.create<MulNode>("m", x, factor)->getResult();
  if (isLucky(2))
    x = f.create<AddNode>("b", x, makeVector(f32, shape.back()))->getResult();
  if (isLucky(2)) { // a residual
    NodeValue more = makeStrided(pick({u8, s8}), shape);
    more = f.create<CastNode>("f", more, f32)->getResult();
    more = f.create<MulNode>("m", more, makeConstant(f32, {}))->getResult();
    x = f.create<AddNode>("a", x, more)->getResult();
  }
  ElemKind kind = pick({u8, s8, i32});
  NodeValue result = isLucky(6) ? f.create<CastNode>("q", x, kind)->getResult()
                                : requantize(x, kind);
  if (isLucky(3)) // a second reader
    result =
        f.create<AddNode>(
             "twice", f.create<CastNode>("w", result, i32)->getResult(), sums)
            ->getResult();
  if (isLucky(5)) { // a part of the result
    Dims starts(shape.size()), sizes(shape);
    for (auto [start, size] : llvm::zip_equal(starts, sizes)) {
      start = size > 1 ? int64_t(random.below(uint64_t(size))) : 0;
      size -= start;
    }
    result = f.create<SliceNode>("part", result, starts, sizes,
                                 Dims(shape.size(), 1))
                 ->getResult();
    shape = sizes;
  }
  if (isLucky(3)) { // a part of a larger result
    int64_t axis = int64_t(random.below(shape.size()));
    Dims other(shape);
    other[size_t(axis)] = pick<int64_t>({1, 2, 4});
    NodeValue parts[] = {makeStrided(result.getElemKind(), other), result,
                         makeStrided(result.getElemKind(), other)};
    result = f.create<ConcatNode>("concat", parts, axis)->getResult();
  }
  return result;
}

TEST(IntegerRandom, Graphs) {
  std::vector<TargetOptions> levels = getLevels();
  bool hasAVXVNNI = llvm::sys::getHostCPUFeatures().lookup("avxvnni");
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto build = [&](Function &function, Module &module) {
      GraphMaker maker(seed, function, module);
      NodeValue result =
          maker.finish(seed % 3 ? maker.makeConvolution() : maker.makeMatMul());
      bool isOfBytes = result.getElemKind() == u8 || result.getElemKind() == s8;
      if (isOfBytes && result.getShape().size() == 4)
        result = maker.finish(maker.makeConvolution(result));
      return result;
    };
    Random random(seed + 1000000);
    auto expected = run(*createInterpreter(), build, nullptr, makeElements);
    ASSERT_TRUE(bool(expected))
        << seed << ": " << llvm::toString(expected.takeError());
    for (unsigned i = 0; i < 2; ++i) {
      TargetOptions options = levels[random.below(levels.size())];
      if (random.below(2)) // the processor's own of several levels
        options.testing.onlyLevel.clear();
      if (hasAVXVNNI && options.cpu == "x86-64-v3")
        options.attributes = {"+avxvnni"};
      options.numThreads = random.below(3) ? 1 : 2;
      options.testing.choiceRank = unsigned(random.below(6));
      options.testing.compilesQuickly = random.below(2);
      auto backend = llvm::cantFail(CPUBackend::create(options));
      auto actual = run(*backend, build, nullptr, makeElements);
      ASSERT_TRUE(bool(actual))
          << seed << ": " << llvm::toString(actual.takeError());
      EXPECT_TRUE(actual->isBitwiseEqual(*expected))
          << "seed " << seed << " on '" << options.cpu << "' "
          << options.testing.onlyLevel << ", choice "
          << options.testing.choiceRank << ", threads " << options.numThreads;
    }
  }
}

//===- IntegerKernelsTest.cpp - Convolutions and matmuls of bytes ---------===//
//
// Compiled code against the interpreter, for levels of this machine. The
// results are integers, and equal.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

constexpr ElemKind u8 = ElemKind::UInt8, s8 = ElemKind::Int8;

/// A constant of all values that \p kind has; those of a narrow one fit int8.
NodeValue makeBytes(Module &m, ElemKind kind, DimsRef shape, bool isNarrow) {
  Random random(countElements(shape));
  Tensor tensor(Type(kind, shape));
  double low = kind == s8 ? -128 : 0,
         count = isNarrow && kind == u8 ? 128 : 256;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, low + double(random.below(unsigned(count))));
  return NodeValue(m.createConstant("bytes", std::move(tensor)));
}

/// An input of floats as bytes, the limits of their range among them.
NodeValue makeInput(Function &f, Module &m, ElemKind kind, DimsRef shape) {
  NodeValue x = input(m, ElemKind::Float, shape);
  Tensor scale(Type(ElemKind::Float, DimsRef()));
  scale.setFromDouble(0, kind == s8 ? 140 : 270);
  NodeValue factor = NodeValue(m.createConstant("s", std::move(scale)));
  NodeValue scaled = f.create<MulNode>("m", x, factor)->getResult();
  return f.create<CastNode>("q", scaled, kind)->getResult();
}

NodeValue makeScalar(Module &m, ElemKind kind, double value) {
  Tensor tensor(Type(kind, DimsRef()));
  tensor.setFromDouble(0, value);
  return NodeValue(m.createConstant("z", std::move(tensor)));
}

/// \p sums as a network requantizes them: a factor per channel, the bytes of a
/// residual, limits.
NodeValue requantize(Function &f, Module &m, NodeValue sums, ElemKind kind) {
  DimsRef shape = sums.getShape();
  NodeValue x = f.create<CastNode>("f", sums, ElemKind::Float)->getResult();
  NodeValue factors = constant(m, ElemKind::Float, {shape.back()});
  x = f.create<MulNode>("m", x, factors)->getResult();
  NodeValue more = makeInput(f, m, u8, shape);
  more = f.create<CastNode>("r", more, ElemKind::Float)->getResult();
  x = f.create<AddNode>("a", x, more)->getResult();
  x = f.create<ReluNode>("relu", x)->getResult();
  x = f.create<MulNode>("h", x, makeScalar(m, ElemKind::Float, 0.037))
          ->getResult();
  x = f.create<RoundNode>("round", x)->getResult();
  x = f.create<AddNode>("z", x, makeScalar(m, ElemKind::Float, 3))->getResult();
  return f.create<CastNode>("q", x, kind)->getResult();
}

struct Case {
  int64_t batch, height, width, channels, outChannels, kernelH, kernelW, stride,
      dilation, group;
  std::vector<int64_t> pads;
};

const Case cases[] = {
    {1, 7, 9, 3, 17, 3, 3, 1, 1, 1, {1, 1, 1, 1}},
    {2, 5, 33, 7, 33, 3, 1, 2, 1, 1, {0, 1, 2, 0}},
    {1, 9, 17, 1, 1, 5, 5, 1, 1, 1, {2, 2, 2, 2}},
    {3, 3, 3, 17, 7, 1, 1, 1, 1, 1, {0, 0, 0, 0}},
    {1, 8, 8, 64, 40, 3, 3, 1, 1, 1, {1, 1, 1, 1}},
    {1, 1, 1, 5, 3, 3, 3, 1, 1, 1, {2, 2, 2, 2}},
    {1, 9, 9, 8, 6, 3, 3, 1, 2, 2, {3, 0, 1, 0}},
    {1, 8, 8, 33, 33, 3, 3, 1, 1, 33, {1, 1, 1, 1}},
    {2, 9, 15, 17, 17, 5, 3, 2, 1, 17, {2, 2, 1, 1}},
    {1, 6, 6, 7, 14, 3, 3, 1, 1, 7, {1, 1, 1, 1}},
    {1, 16, 15, 4, 20, 7, 7, 2, 1, 1, {3, 3, 3, 3}},
    {0, 4, 4, 3, 3, 3, 3, 1, 1, 1, {0, 0, 0, 0}},
};

/// What varies besides the case.
struct Variation {
  ElemKind input, filter;
  bool isNarrow = true, isConstant = true, hasZeroPoint = true, hasBias = true;
  /// Zero points of the filter: none, one, or one per output channel.
  enum { None, One, PerChannel } filterZeroPoints = None;
  /// Whether zero points and bias are known only at run time.
  bool isRuntime = false, isRequantized = false;
};

NodeValue build(const Case &c, const Variation &v, Function &f, Module &m) {
  NodeValue x =
      makeInput(f, m, v.input, {c.batch, c.height, c.width, c.channels});
  Dims shape = {c.outChannels, c.kernelH, c.kernelW, c.channels / c.group};
  NodeValue w = v.isConstant ? makeBytes(m, v.filter, shape, v.isNarrow)
                             : makeInput(f, m, v.filter, shape);
  NodeValue zeroPoint, filterZeroPoint, bias;
  Dims zeroShape;
  if (v.filterZeroPoints == Variation::PerChannel)
    zeroShape = {c.outChannels};
  if (v.filterZeroPoints != Variation::None)
    filterZeroPoint = v.isRuntime ? makeInput(f, m, v.filter, zeroShape)
                                  : makeBytes(m, v.filter, zeroShape, true);
  if (v.hasZeroPoint)
    zeroPoint = v.isRuntime ? makeInput(f, m, v.input, {})
                            : makeScalar(m, v.input, v.input == s8 ? -77 : 131);
  if (v.hasBias)
    bias = v.isRuntime ? input(m, ElemKind::Int32, {c.outChannels})
                       : constant(m, ElemKind::Int32, {c.outChannels});
  std::vector<int64_t> strides(2, c.stride), dilations(2, c.dilation);
  NodeValue sums = f.create<ConvolutionIntegerNode>(
                        "conv", x, w, zeroPoint, filterZeroPoint, bias, strides,
                        c.pads, dilations, c.group)
                       ->getResult();
  return v.isRequantized ? requantize(f, m, sums, v.input) : sums;
}

void compareCases(const std::string &what, const Variation &v,
                  llvm::ArrayRef<unsigned> numbers) {
  for (unsigned number : numbers)
    compare(
        what + ", case " + std::to_string(number),
        [&](Function &f, Module &m) { return build(cases[number], v, f, m); },
        0);
}

/// Borders, lanes that are not full, groups and depthwise filters are among
/// these.
constexpr unsigned someCases[] = {0, 4, 6, 7};
constexpr unsigned allCases[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

} // namespace

TEST(IntegerKernels, Kinds) {
  for (ElemKind x : {u8, s8})
    for (ElemKind w : {u8, s8})
      for (bool isNarrow : {true, false})
        compareCases((getElemKindName(x) + " " + getElemKindName(w)).str() +
                         (isNarrow ? " narrow" : ""),
                     {.input = x, .filter = w, .isNarrow = isNarrow},
                     isNarrow ? llvm::ArrayRef(allCases)
                              : llvm::ArrayRef(someCases));
}

TEST(IntegerKernels, AbsentOperands) {
  for (ElemKind x : {u8, s8}) {
    compareCases("no zero point",
                 {.input = x, .filter = s8, .hasZeroPoint = false}, someCases);
    compareCases("no bias", {.input = x, .filter = s8, .hasBias = false},
                 someCases);
    compareCases(
        "neither",
        {.input = x, .filter = s8, .hasZeroPoint = false, .hasBias = false},
        someCases);
  }
}

TEST(IntegerKernels, RuntimeOperands) {
  for (ElemKind x : {u8, s8}) {
    compareCases("run time", {.input = x, .filter = s8, .isRuntime = true},
                 someCases);
    compareCases(
        "no bias",
        {.input = x, .filter = s8, .hasBias = false, .isRuntime = true},
        someCases);
    compareCases("filter", {.input = x, .filter = u8, .isConstant = false},
                 someCases);
  }
}

TEST(IntegerKernels, ZeroPointsOfFilters) {
  for (ElemKind w : {u8, s8})
    for (auto zeroPoints : {Variation::One, Variation::PerChannel})
      for (bool isRuntime : {false, true})
        compareCases("zero points",
                     {.input = u8,
                      .filter = w,
                      .filterZeroPoints = zeroPoints,
                      .isRuntime = isRuntime},
                     someCases);
}

TEST(IntegerKernels, Epilogues) {
  for (ElemKind x : {u8, s8})
    compareCases("requantized",
                 {.input = x, .filter = s8, .isRequantized = true}, someCases);
}

/// Every tile that could be chosen, with threads, too.
TEST(IntegerKernels, Candidates) {
  const Variation v = {.input = u8, .filter = s8, .isRequantized = true};
  for (unsigned number : {0, 1, 4, 7}) {
    auto buildCase = [&](Function &f, Module &m) {
      return build(cases[number], v, f, m);
    };
    Tensor expected = llvm::cantFail(run(*createInterpreter(), buildCase));
    for (TargetOptions options : getLevelsInTurn()) {
      options.numThreads = 2;
      std::set<std::string> seen;
      unsigned &rank = options.testing.choiceRank;
      for (rank = 0; rank < 8; ++rank) {
        auto backend = llvm::cantFail(CPUBackend::create(options));
        if (!seen.insert(printProgram(*backend, buildCase)).second)
          continue;
        Tensor actual = llvm::cantFail(run(*backend, buildCase));
        EXPECT_TRUE(actual.isBitwiseEqual(expected))
            << "case " << number << ", '" << options.cpu << "', choice "
            << rank;
      }
    }
  }
}

TEST(IntegerKernels, MatMuls) {
  struct MatMulCase {
    Dims lhs, rhs;
    bool isConstant;
  };
  const MatMulCase matmuls[] = {
      {{3, 7}, {7, 17}, true},         {{1, 33}, {33, 1}, true},
      {{17, 64}, {64, 33}, true},      {{2, 3, 5}, {5, 7}, true},
      {{3, 1, 16}, {16, 33}, true},    {{2, 3, 1, 7}, {7, 3}, true},
      {{2, 3, 5, 8}, {8, 3}, true},    {{7, 33}, {33, 17}, false},
      {{2, 3, 5}, {2, 5, 7}, false},   {{2, 1, 3, 5}, {4, 5, 7}, false},
      {{1, 1, 2, 3, 5}, {5, 7}, true}, {{0, 5}, {5, 7}, true},
      {{2, 3, 17}, {2, 17, 33}, true}, {{3, 0}, {0, 7}, true},
  };
  unsigned number = 0;
  for (const MatMulCase &c : matmuls)
    for (ElemKind x : {u8, s8})
      for (ElemKind w : {u8, s8})
        for (bool isRequantized : {false, true})
          compare(
              "case " + std::to_string(++number),
              [&](Function &f, Module &m) {
                NodeValue rhs = c.isConstant
                                    ? makeBytes(m, w, c.rhs, /*isNarrow=*/false)
                                    : makeInput(f, m, w, c.rhs);
                NodeValue zeroPoint;
                if (number % 3)
                  zeroPoint = makeBytes(
                      m, w, number % 3 == 1 ? Dims() : Dims{c.rhs.back()},
                      /*isNarrow=*/true);
                NodeValue sums =
                    f.create<MatMulIntegerNode>(
                         "matmul", makeInput(f, m, x, c.lhs), rhs, zeroPoint)
                        ->getResult();
                return isRequantized ? requantize(f, m, sums, x) : sums;
              },
              0);
}

/// Of the kernels: no bytes are widened where an instruction multiplies them.
TEST(IntegerKernels, Algorithms) {
  auto describe = [](const char *attribute, const Case &c, ElemKind filter) {
    TargetOptions options;
    options.triple = "x86_64-linux-gnu";
    options.cpu = "x86-64-v4";
    options.attributes = {attribute};
    auto backend = llvm::cantFail(CPUBackend::create(options));
    PlannedProgram program =
        llvm::cantFail(compileFor(*backend, [&](Function &f, Module &m) {
          return build(c, {.input = u8, .filter = filter, .isNarrow = false}, f,
                       m);
        }));
    for (const Instruction &instr : program.getIR().getInstrs())
      if (auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr))
        return llvm::StringRef(convolution->getAlgorithm().str())
            .rsplit(' ')
            .first.str();
    return std::string("none");
  };
  EXPECT_EQ(describe("+avx512vnni", cases[4], s8), "dot 4");
  EXPECT_EQ(describe("+avx512vnni", cases[4], u8), "dot 2");
  EXPECT_EQ(describe("-avx512vnni", cases[4], s8), "dot 2");
  EXPECT_EQ(describe("+avx512vnni", cases[7], s8), "depthwise-bytes");
}

/// Conversions of floats to small integers: limits, halves, NaN.
TEST(IntegerKernels, Conversions) {
  const double inf = std::numeric_limits<double>::infinity();
  const double values[] = {0,
                           -0.0,
                           0.5,
                           1.5,
                           2.5,
                           -0.5,
                           -1.5,
                           126.5,
                           127,
                           127.5,
                           128,
                           254.9,
                           255,
                           255.5,
                           256,
                           -127.5,
                           -128,
                           -128.5,
                           -129,
                           32766.9,
                           32767,
                           32767.5,
                           32768,
                           65534.9,
                           65535,
                           65535.5,
                           65536,
                           -32768,
                           -32769,
                           1e9,
                           -1e9,
                           1e30,
                           inf,
                           -inf,
                           std::numeric_limits<double>::quiet_NaN()};
  for (ElemKind from : {ElemKind::Float, ElemKind::Double, ElemKind::Float16,
                        ElemKind::BFloat16})
    for (ElemKind to : {s8, u8, ElemKind::Int16, ElemKind::UInt16})
      compare((getElemKindName(from) + " to " + getElemKindName(to)).str(),
              [&](Function &f, Module &m) {
                Tensor tensor(Type(from, {int64_t(std::size(values))}));
                for (auto [i, value] : llvm::enumerate(values))
                  tensor.setFromDouble(int64_t(i), value);
                NodeValue x =
                    NodeValue(m.createConstant("v", std::move(tensor)));
                // Not folded: the input's elements are less than 1.
                NodeValue none = input(m, from, {int64_t(std::size(values))});
                NodeValue isLarge =
                    f.create<GreaterNode>("g", none, makeScalar(m, from, 2))
                        ->getResult();
                x = f.create<SelectNode>("s", isLarge, none, x)->getResult();
                return f.create<CastNode>("c", x, to)->getResult();
              },
              0);
}

//===- HalfKernelsTest.cpp - Convolutions and matmuls of half precisions --===//
//
// Compiled code against the interpreter, for levels of this machine. Sums
// are of float in another order: results differ by a rounding.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

constexpr ElemKind kinds[] = {ElemKind::Float16, ElemKind::BFloat16};

/// Of the largest result: a rounding, and one of a sum that is near 0.
double getBound(ElemKind kind) {
  return kind == ElemKind::Float16 ? 0x1p-9 : 0x1p-6;
}

struct Case {
  int64_t batch, height, width, channels, outChannels, kernelH, kernelW, stride,
      dilation, group;
  std::vector<int64_t> pads;
};

const Case cases[] = {
    {1, 7, 9, 3, 17, 3, 3, 1, 1, 1, {1, 1, 1, 1}},
    {2, 5, 33, 6, 33, 3, 1, 2, 1, 1, {0, 1, 2, 0}},
    {1, 9, 17, 1, 1, 5, 5, 1, 1, 1, {2, 2, 2, 2}},
    {3, 3, 3, 18, 7, 1, 1, 1, 1, 1, {0, 0, 0, 0}},
    {1, 8, 8, 64, 40, 3, 3, 1, 1, 1, {1, 1, 1, 1}},
    {1, 1, 1, 5, 3, 3, 3, 1, 1, 1, {2, 2, 2, 2}},
    {1, 9, 9, 8, 6, 3, 3, 1, 2, 2, {3, 0, 1, 0}},
    {1, 8, 8, 33, 33, 3, 3, 1, 1, 33, {1, 1, 1, 1}},
    {1, 6, 6, 6, 9, 3, 3, 1, 1, 3, {1, 1, 1, 1}},
    {1, 16, 15, 4, 70, 7, 7, 2, 1, 1, {3, 3, 3, 3}},
    {0, 4, 4, 4, 3, 3, 3, 1, 1, 1, {0, 0, 0, 0}},
};

NodeValue build(const Case &c, ElemKind kind, bool hasEpilogue, Function &f,
                Module &m) {
  NodeValue x = input(m, kind, {c.batch, c.height, c.width, c.channels});
  NodeValue w = constant(
      m, kind, {c.outChannels, c.kernelH, c.kernelW, c.channels / c.group});
  std::vector<int64_t> strides(2, c.stride), dilations(2, c.dilation);
  NodeValue y = f.create<ConvolutionNode>("conv", x, w,
                                          constant(m, kind, {c.outChannels}),
                                          strides, c.pads, dilations, c.group)
                    ->getResult();
  if (!hasEpilogue)
    return y;
  NodeValue more = input(m, kind, y.getShape());
  y = f.create<AddNode>("sum", y, more)->getResult();
  return f.create<ReluNode>("relu", y)->getResult();
}

struct Matrices {
  int64_t rows, depth, columns;
};

NodeValue buildMatMul(const Matrices &c, ElemKind kind, Function &f,
                      Module &m) {
  NodeValue x = input(m, kind, {c.rows, c.depth});
  NodeValue w = constant(m, kind, {c.depth, c.columns});
  NodeValue y = f.create<MatMulNode>("matmul", x, w)->getResult();
  y = f.create<AddNode>("bias", y, constant(m, kind, {c.columns}))->getResult();
  return f.create<GeluNode>("gelu", y)->getResult();
}

/// compare(); where this machine can multiply pairs of bfloat16, but is faster
/// with floats and so would not, also for a target that has the instruction and
/// no name of a core.
void compareHalf(const std::string &name, ElemKind kind, const BuildFn &build) {
  std::vector<TargetOptions> levels = getLevelsInTurn();
  auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
  if (kind == ElemKind::BFloat16 && backend->getTarget().bfloat16DotCost > 1) {
    TargetOptions pairs = levels.front();
    pairs.triple = llvm::sys::getProcessTriple();
    pairs.cpu = "x86-64-v4";
    pairs.attributes = {"+avx512bf16"};
    levels.push_back(std::move(pairs));
  }
  compare(name, build, getBound(kind), levels);
}

} // namespace

TEST(HalfKernels, Convolutions) {
  for (ElemKind kind : kinds)
    for (bool hasEpilogue : {false, true})
      for (const Case &c : cases)
        compareHalf("case " + std::to_string(&c - cases), kind,
                    [&](Function &f, Module &m) {
                      return build(c, kind, hasEpilogue, f, m);
                    });
}

/// Each number of rows with each depth, and with each number of columns.
TEST(HalfKernels, MatMuls) {
  constexpr int64_t rows[] = {1, 3, 17}, depths[] = {1, 2, 7, 64},
                    columns[] = {1, 17, 33, 100};
  for (ElemKind kind : kinds)
    for (size_t i = 0; i < std::size(rows); ++i)
      for (size_t j = 0; j < std::size(depths); ++j) {
        Matrices matrices = {rows[i], depths[j],
                             columns[(i + j) % std::size(columns)]};
        compareHalf("matmul", kind, [&](Function &f, Module &m) {
          return buildMatMul(matrices, kind, f, m);
        });
      }
}

/// Of two channels that lie side by side, but not at even places.
TEST(HalfKernels, OddStrides) {
  for (ElemKind kind : kinds)
    compareHalf("slice", kind, [&](Function &f, Module &m) {
      NodeValue x = input(m, kind, {3, 9});
      x = f.create<SliceNode>("slice", x, std::vector<int64_t>{0, 1},
                              std::vector<int64_t>{3, 8},
                              std::vector<int64_t>{1, 1})
              ->getResult();
      return f.create<MatMulNode>("matmul", x, constant(m, kind, {8, 33}))
          ->getResult();
    });
}

static Tensor fill(const Type &type, double value) {
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, value);
  return tensor;
}

static Tensor makeQuarters(const Type &type, uint64_t) {
  return fill(type, 0.25);
}

/// Builds x + 2048 - 2048, in which each x is lost where the sum is rounded to
/// \p kind; with \p converts the model itself rounds it.
static NodeValue buildChain(ElemKind kind, bool converts, Function &f,
                            Module &m) {
  NodeValue x = input(m, kind, {33});
  NodeValue far(m.createConstant("far", fill(Type(kind, {33}), 2048)));
  auto cast = [&](NodeValue value, ElemKind to) {
    return converts ? f.create<CastNode>("cast", value, to)->getResult()
                    : value;
  };
  NodeValue sum = f.create<AddNode>("add", cast(x, ElemKind::Float),
                                    cast(far, ElemKind::Float))
                      ->getResult();
  return f.create<SubNode>("sub", cast(sum, kind), far)->getResult();
}

TEST(HalfKernels, ChainsAreRoundedAtTheirEnd) {
  for (ElemKind kind : kinds)
    for (bool converts : {false, true})
      for (bool roundsEachStep : {false, true}) {
        TargetOptions options;
        options.roundsEachStep = roundsEachStep;
        auto backend = llvm::cantFail(CPUBackend::create(options));
        auto build = [&](Function &f, Module &m) {
          return buildChain(kind, converts, f, m);
        };
        Tensor y = llvm::cantFail(
            run(*backend, build, /*tuner=*/nullptr, makeQuarters));
        double expected = converts || roundsEachStep ? 0 : 0.25;
        for (int64_t i = 0; i < y.getNumElements(); ++i)
          EXPECT_EQ(y.getAsDouble(i), expected);
      }
}

/// Which bfloat16 convolutions multiply pairs: those for targets that gain by
/// it.
TEST(HalfKernels, Algorithm) {
  for (auto [cpu, attribute, algorithm] :
       {std::tuple("x86-64-v4", "+avx512bf16", "dot-bfloat16"),
        std::tuple("znver4", "+avx512bf16", "dot-bfloat16"),
        std::tuple("sapphirerapids", "+amx-bf16", "amx-bfloat16"),
        std::tuple("sapphirerapids", "-amx-bf16", "direct"),
        std::tuple("x86-64-v4", "-avx512bf16", "direct")}) {
    TargetOptions options;
    options.triple = "x86_64-linux-gnu";
    options.cpu = cpu;
    options.attributes = {attribute};
    auto backend = llvm::cantFail(CPUBackend::create(options));
    PlannedProgram program =
        llvm::cantFail(compileFor(*backend, [](Function &f, Module &m) {
          return build(cases[4], ElemKind::BFloat16, true, f, m);
        }));
    unsigned found = 0;
    for (const Instruction &instr : program.getIR().getInstrs())
      if (auto *conv = llvm::dyn_cast<CPUConvolutionInstr>(&instr)) {
        ++found;
        EXPECT_EQ(llvm::StringRef(conv->getAlgorithm().str()).split(' ').first,
                  algorithm)
            << cpu << " " << attribute;
      }
    EXPECT_EQ(found, 1u);
  }
}

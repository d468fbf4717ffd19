//===- RuntimeWeightsTest.cpp - Weights that the program computes ---------===//
//
// Convolutions and matmuls with weights that are no constants, as in a
// training step: packed while the program runs, from any strides.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

NodeValue transpose(Function &f, NodeValue x) {
  std::vector<int64_t> order;
  for (unsigned d = 0; d < x.getShape().size(); ++d)
    order.push_back(d);
  std::swap(order[order.size() - 2], order.back());
  return f.create<TransposeNode>("t", x, order)->getResult();
}

Dims swapLast(Dims shape) {
  std::swap(shape[shape.size() - 2], shape.back());
  return shape;
}

/// A matmul of inputs, each of which may come transposed.
struct MatMulCase {
  Dims lhs, rhs;
  bool turnsLhs, turnsRhs;
  ElemKind kind = ElemKind::Float;

  NodeValue build(Function &f, Module &m) const {
    NodeValue a = input(m, kind, turnsLhs ? swapLast(lhs) : lhs);
    NodeValue b = input(m, kind, turnsRhs ? swapLast(rhs) : rhs);
    return f
        .create<MatMulNode>("mul", turnsLhs ? transpose(f, a) : a,
                            turnsRhs ? transpose(f, b) : b)
        ->getResult();
  }
  std::string str() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleave(lhs, os, "x");
    os << (turnsLhs ? "^T * " : " * ");
    llvm::interleave(rhs, os, "x");
    os << (turnsRhs ? "^T" : "");
    return text;
  }
};

unsigned countInstrs(const BuildFn &build, llvm::StringRef name) {
  auto backend = llvm::cantFail(CPUBackend::create({}));
  return glowish::countInstrs(*backend, build, name);
}

bool hasMatrixUnits() {
  return llvm::cantFail(CPUBackend::create({}))->getTarget().hasMatrixInt8;
}

} // namespace

TEST(RuntimeWeights, MatMuls) {
  for (int64_t rows : {1, 33})
    for (int64_t depth : {3, 70})
      for (int64_t columns : {1, 5, 67})
        for (unsigned transposed = 0; transposed < 4; ++transposed) {
          MatMulCase matMul = {{rows, depth},
                               {depth, columns},
                               bool(transposed & 1),
                               bool(transposed & 2)};
          compare(matMul.str(),
                  [&](Function &f, Module &m) { return matMul.build(f, m); });
        }
}

/// Large enough for the matrix units, where there are some.
TEST(RuntimeWeights, LargeMatMuls) {
  const MatMulCase cases[] = {
      {{100, 200}, {200, 120}, false, false},
      {{333, 130}, {130, 145}, false, true},
      {{145, 301}, {301, 97}, true, false},
      {{97, 259}, {259, 161}, true, true},
      {{5, 61, 128}, {128, 131}, false, true},
      {{64, 1030}, {1030, 80}, true, false},
  };
  for (const MatMulCase &matMul : cases) {
    auto build = [&](Function &f, Module &m) { return matMul.build(f, m); };
    compare(matMul.str(), build, 3e-6);
    EXPECT_EQ(countInstrs(build, "CPUSliceWeights"), hasMatrixUnits() ? 1u : 0u)
        << matMul.str();
  }
}

TEST(RuntimeWeights, BatchedMatMuls) {
  const std::pair<Dims, Dims> shapes[] = {
      {{6, 33, 17}, {6, 17, 19}},     {{2, 3, 7, 40}, {2, 3, 40, 5}},
      {{3, 1, 5, 7}, {2, 7, 9}},      {{4, 16, 64}, {4, 64, 64}},
      {{5, 21, 3}, {1, 3, 33}},       {{0, 3, 4}, {0, 4, 5}},
      {{2, 150, 200}, {2, 200, 170}},
  };
  for (const auto &[lhs, rhs] : shapes)
    for (ElemKind kind : {ElemKind::Float, ElemKind::Double, ElemKind::BFloat16,
                          ElemKind::Int32})
      for (unsigned transposed = kind == ElemKind::Float ? 0 : 3;
           transposed < 4; ++transposed) {
        MatMulCase matMul = {lhs, rhs, bool(transposed & 1),
                             bool(transposed & 2), kind};
        compare(
            matMul.str() + " " + getElemKindName(kind).str(),
            [&](Function &f, Module &m) { return matMul.build(f, m); },
            kind == ElemKind::BFloat16 ? 2e-2 : 3e-6);
      }
}

/// Images of all sizes, of which small ones share what is multiplied at a time.
TEST(RuntimeWeights, Convolutions) {
  struct Case {
    Dims input, filter;
    int64_t stride, pad, dilation;
  };
  const Case cases[] = {
      {{9, 4, 4, 160}, {72, 3, 3, 160}, 1, 1, 1},
      {{5, 7, 9, 67}, {130, 3, 3, 67}, 2, 1, 1},
      {{3, 17, 15, 96}, {64, 1, 1, 96}, 2, 0, 1},
      {{7, 5, 3, 257}, {33, 2, 3, 257}, 1, 1, 2},
      {{2, 33, 31, 64}, {50, 3, 3, 64}, 1, 1, 1},
      {{1, 3, 3, 320}, {97, 3, 3, 320}, 1, 2, 1},
  };
  for (const Case &c : cases) {
    std::vector<int64_t> strides(2, c.stride), dilations(2, c.dilation);
    std::vector<int64_t> pads(4, c.pad);
    auto build = [&](Function &f, Module &m) {
      NodeValue x = input(m, ElemKind::Float, c.input);
      NodeValue w = input(m, ElemKind::Float, c.filter);
      return f
          .create<ConvolutionNode>("conv", x, w, NodeValue(), strides, pads,
                                   dilations, 1)
          ->getResult();
    };
    compare("case " + std::to_string(&c - cases), build, 3e-6);
    EXPECT_EQ(countInstrs(build, "CPUSliceWeights"), hasMatrixUnits() ? 1u : 0u)
        << &c - cases;
  }
}

/// What a gradient of an image is: a transposed convolution.
TEST(RuntimeWeights, TransposedConvolution) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t kernel : {1, 4})
      for (int64_t group : {1, 3})
        for (int64_t size : {1, 6}) {
          std::vector<int64_t> strides(2, stride), dilations = {1, 2};
          int64_t pad = kernel / 2;
          std::vector<int64_t> pads = {pad, 0, 0, pad};
          std::vector<int64_t> outputPads = {stride - 1, 0};
          compare("stride " + std::to_string(stride) + " kernel " +
                      std::to_string(kernel) + " group " +
                      std::to_string(group) + " size " + std::to_string(size),
                  [&](Function &f, Module &m) {
                    NodeValue x =
                        input(m, ElemKind::Float, {2, size + 1, size, 33});
                    NodeValue w = input(m, ElemKind::Float,
                                        {33, kernel, kernel, 57 / group});
                    return f
                        .create<ConvTransposeNode>("conv", x, w, NodeValue(),
                                                   strides, pads, outputPads,
                                                   dilations, group)
                        ->getResult();
                  });
        }
}

TEST(RuntimeWeights, TransposedLargeConvolution) {
  for (int64_t stride : {1, 2}) {
    std::vector<int64_t> strides(2, stride), dilations(2, 1), pads(4, 1);
    std::vector<int64_t> outputPads(2, stride - 1);
    auto build = [&](Function &f, Module &m) {
      NodeValue x = input(m, ElemKind::Float, {3, 17, 15, 130});
      NodeValue w = input(m, ElemKind::Float, {130, 3, 3, 70});
      return f
          .create<ConvTransposeNode>("conv", x, w, NodeValue(), strides, pads,
                                     outputPads, dilations, 1)
          ->getResult();
    };
    compare("stride " + std::to_string(stride), build, 3e-6);
    if (!hasMatrixUnits())
      continue;
    EXPECT_GE(countInstrs(build, "CPUSliceWeights"), 1u);
    // The filter is reordered where it is packed; without matrix units copies
    // pack.
    EXPECT_EQ(countInstrs(build, "Copy"), 0u);
  }
}

/// Several matmuls pack weights once, and again after they have changed in the
/// same memory.
TEST(RuntimeWeights, SharedAndOverwritten) {
  auto build = [](Function &f, Module &m) {
    NodeValue w = input(m, ElemKind::Float, {130, 130});
    w = f.create<SinNode>("sin", w)->getResult();
    auto multiply = [&](NodeValue x) {
      return f.create<MatMulNode>("mul", x, w)->getResult();
    };
    NodeValue y = multiply(multiply(input(m, ElemKind::Float, {130, 130})));
    // Depends on the matmuls, so that it is computed after them.
    NodeValue sum =
        f.create<ReduceNode>("r", y, "mean", std::vector<int64_t>{0}, true)
            ->getResult();
    w = f.create<AddNode>("add", w, sum)->getResult();
    return multiply(y);
  };
  compare("shared", build, 5e-6);
  if (hasMatrixUnits())
    EXPECT_EQ(countInstrs(build, "CPUSliceWeights"), 2u);
}

/// Threads cut the work, not the sums: the results are the same bits.
TEST(RuntimeWeights, Threads) {
  const MatMulCase cases[] = {
      {{100, 200}, {200, 120}, false, true},
      {{401, 301}, {301, 97}, true, false},
      {{9, 70, 64}, {9, 64, 77}, true, true},
      {{7, 500}, {500, 401}, false, false},
  };
  for (const MatMulCase &matMul : cases) {
    auto build = [&](Function &f, Module &m) { return matMul.build(f, m); };
    std::vector<Tensor> results;
    for (unsigned threads : {1u, 2u, 3u}) {
      TargetOptions options;
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      auto result = run(*backend, build);
      ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
      results.push_back(std::move(*result));
    }
    for (const Tensor &result : results)
      EXPECT_EQ(results[0].getByteRange(), result.getByteRange())
          << matMul.str();
  }
}

/// Copies of what lies across are made in squares; elements of each size.
TEST(RuntimeWeights, Transpositions) {
  for (ElemKind kind : {ElemKind::Int8, ElemKind::Bool, ElemKind::BFloat16,
                        ElemKind::Float, ElemKind::Double})
    for (int64_t rows : {3, 4, 33})
      for (int64_t columns : {2, 16, 71})
        compare(getElemKindName(kind).str(), [&](Function &f, Module &m) {
          NodeValue x = input(m, kind, {3, rows, columns, 2});
          std::vector<int64_t> order = {3, 2, 0, 1};
          return f.create<TransposeNode>("t", x, order)->getResult();
        });
}

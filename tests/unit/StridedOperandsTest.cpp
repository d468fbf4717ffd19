//===- StridedOperandsTest.cpp - Operands and results that are views ------===//
//
// Compiled code against the interpreter, of instructions that read and write
// parts of larger tensors where they are.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

constexpr int64_t batch = 5, bags = 3, bagSize = 4, rows = 11, width = 37;

/// Joins the rows of \p makeBag for each bag along a dimension of their own.
NodeValue joinBags(Function &f,
                   llvm::function_ref<NodeValue(int64_t)> makeBag) {
  std::vector<NodeValue> parts;
  for (int64_t bag = 0; bag < bags; ++bag) {
    NodeValue pooled = makeBag(bag);
    Dims shape = {pooled.getShape()[0], 1, pooled.getShape()[1]};
    parts.push_back(
        f.create<ReshapeNode>("unsqueeze", pooled, shape)->getResult());
  }
  return f.create<ConcatNode>("concat", parts, 1)->getResult();
}

/// The indices of bag number \p bag, a column of \p indices.
NodeValue sliceBag(Function &f, NodeValue indices, int64_t bag) {
  NodeValue own =
      f.create<SliceNode>("slice", indices, std::vector<int64_t>{0, bag, 0},
                          std::vector<int64_t>{batch, 1, bagSize},
                          std::vector<int64_t>{1, 1, 1})
          ->getResult();
  return f.create<ReshapeNode>("squeeze", own, Dims{batch, bagSize})
      ->getResult();
}

/// Sums of rows of a table, as recommenders compute them.
NodeValue buildBags(Function &f, Module &m) {
  NodeValue indices = input(m, ElemKind::Int64, {batch, bags, bagSize});
  NodeValue table = constant(m, ElemKind::Float, {rows, width});
  return joinBags(f, [&](int64_t bag) {
    NodeValue found =
        f.create<GatherNode>("gather", table, sliceBag(f, indices, bag), 0)
            ->getResult();
    return f
        .create<ReduceNode>("sum", found, "sum", std::vector<int64_t>{1}, false)
        ->getResult();
  });
}

TEST(StridedOperands, BagsAreNotCopied) {
  compare("bags", buildBags);
  auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
  EXPECT_EQ(countInstrs(*backend, buildBags, "Copy"), 0u);
}

/// Each kind of loop over reduced dimensions writes where the result is.
TEST(StridedOperands, Reductions) {
  for (bool keepDims : {false, true})
    for (const char *mode : {"mean", "max"})
      for (std::vector<int64_t> axes : {std::vector<int64_t>{1}, {2}, {1, 3}}) {
        auto build = [&](Function &f, Module &m) {
          NodeValue x = input(m, ElemKind::Float, {batch, 3, 7, width});
          std::vector<NodeValue> parts;
          for (unsigned i = 0; i < 2; ++i) {
            NodeValue y = i ? f.create<ExpNode>("exp", x)->getResult() : x;
            parts.push_back(
                f.create<ReduceNode>("reduce", y, mode, axes, keepDims)
                    ->getResult());
          }
          return f.create<ConcatNode>("concat", parts, 1)->getResult();
        };
        compare(mode, build);
        auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
        EXPECT_EQ(countInstrs(*backend, build, "Copy"), 0u);
      }
}

TEST(StridedOperands, IntegerReductions) {
  auto build = [](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Int8, {batch, 7, width});
    return joinBags(f, [&](int64_t bag) {
      NodeValue rowsOfBag =
          f.create<SliceNode>("slice", x, std::vector<int64_t>{0, bag, 0},
                              std::vector<int64_t>{batch, 4, width},
                              std::vector<int64_t>{1, 1, 1})
              ->getResult();
      return f
          .create<ReduceIntegerNode>("sum", rowsOfBag, std::vector<int64_t>{1},
                                     /*keepDims=*/false)
          ->getResult();
    });
  };
  compare("integers", build, /*bound=*/0);
}

} // namespace

//===- NBitsMatMulTest.cpp - Matmuls with weights of 8 and 4 bits ---------===//
//
// Compiled code against the interpreter, for levels of this machine and
// for targets with other vectors.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "Selection/NBitsPacking.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

constexpr ElemKind kinds[] = {ElemKind::Int8, ElemKind::UInt8, ElemKind::Int4,
                              ElemKind::UInt4};

/// A constant of all values that \p kind has.
NodeValue makeIntegers(Module &m, ElemKind kind, DimsRef shape) {
  Random random(countElements(shape));
  unsigned count = 1u << getElemBits(kind);
  bool isSigned = kind == ElemKind::Int8 || kind == ElemKind::Int4;
  Tensor tensor(Type(kind, shape));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, double(random.below(count)) -
                                (isSigned ? double(count / 2) : 0));
  return NodeValue(m.createConstant("q", std::move(tensor)));
}

struct Case {
  Dims lhs;
  int64_t columns, block;
};

NodeValue build(const Case &c, ElemKind weights, bool hasZeros, ElemKind floats,
                Function &f, Module &m) {
  int64_t depth = c.lhs.back();
  Dims parameters = {(depth + c.block - 1) / c.block, c.columns};
  return f
      .create<MatMulNBitsNode>("matmul", input(m, floats, c.lhs),
                               makeIntegers(m, weights, {depth, c.columns}),
                               constant(m, ElemKind::Float, parameters),
                               hasZeros ? makeIntegers(m, weights, parameters)
                                        : NodeValue(),
                               /*lhsScales=*/NodeValue(), c.block)
      ->getResult();
}

/// The same of int8 [..., K] with scales.
NodeValue buildIntegers(const Case &c, ElemKind weights, bool hasZeros,
                        Function &f, Module &m) {
  int64_t depth = c.lhs.back();
  Dims parameters = {depth / c.block, c.columns}, rowScales = c.lhs;
  rowScales.back() = depth / c.block;
  NodeValue largest(m.createConstant(
      "largest", Tensor::fromValues<float>(Type(ElemKind::Float, {}), {127})));
  NodeValue lhs =
      f.create<MulNode>("steps", input(m, ElemKind::Float, c.lhs), largest)
          ->getResult();
  lhs = f.create<CastNode>("lhs", lhs, ElemKind::Int8)->getResult();
  return f
      .create<MatMulNBitsNode>(
          "matmul", lhs, makeIntegers(m, weights, {depth, c.columns}),
          constant(m, ElemKind::Float, parameters),
          hasZeros ? makeIntegers(m, weights, parameters) : NodeValue(),
          input(m, ElemKind::Float, rowScales), c.block)
      ->getResult();
}

/// A bias and an activation, which are the epilogue.
NodeValue addEpilogue(NodeValue x, Function &f, Module &m) {
  NodeValue bias = constant(m, x.getElemKind(), {x.getShape().back()});
  x = f.create<AddNode>("bias", x, bias)->getResult();
  return f.create<ReluNode>("relu", x)->getResult();
}

//===- Packing ------------------------------------------------------------===//

/// [depth, columns] of \p kind, each column in bytes of its own, as files have
/// them.
std::shared_ptr<const Tensor> storeColumns(ElemKind kind, int64_t depth,
                                           int64_t columns, bool invertsSign) {
  int64_t bits = getElemBits(kind);
  size_t columnBytes = size_t((depth * bits + 127) / 128 * 16);
  auto owner =
      std::make_shared<std::vector<uint8_t>>(columnBytes * size_t(columns));
  Random random(uint64_t(depth * columns));
  for (uint8_t &byte : *owner)
    byte = uint8_t(random.below(256));
  return std::make_shared<const Tensor>(
      Tensor::defer(Type(kind, {depth, columns}),
                    std::make_shared<StoredElements>(StoredElements::Layout{
                        .stored = {*owner, owner},
                        .kind = kind,
                        .extents = {depth, columns},
                        .strides = {bits, int64_t(columnBytes) * 8},
                        .invertsSign = invertsSign})));
}

/// Weights that are copied from a file in words are those that are packed one
/// by one.
TEST(NBitsMatMul, PacksWhatIsStoredInColumns) {
  for (ElemKind kind : kinds)
    for (bool isForIntegers : {false, true})
      for (bool invertsSign : {false, true})
        for (int64_t depth : {7, 16, 18, 40, 96})
          for (int64_t columns : {1, 16, 65, 130}) {
            NBitsLayout layout = {.depth = depth,
                                  .columns = columns,
                                  .block = depth == 40 ? 40 : 16,
                                  .kind = kind,
                                  .isForIntegers = isForIntegers};
            if (isForIntegers &&
                !NBitsLayout::takesIntegers(depth, layout.block))
              continue;
            auto stored = storeColumns(kind, depth, columns, invertsSign);
            auto plain = std::make_shared<const Tensor>(stored->clone());
            EXPECT_TRUE(
                packNBitsWeights(stored, layout)
                    .clone()
                    .isBitwiseEqual(packNBitsWeights(plain, layout).clone()))
                << stored->getType().str() << " " << isForIntegers << " "
                << invertsSign;
          }
}

TEST(NBitsMatMul, PacksColumnsOfSeveralMatrices) {
  auto first = storeColumns(ElemKind::Int4, 48, 70, true);
  auto second = storeColumns(ElemKind::Int4, 48, 33, true);
  Tensor joined = Tensor::defer(
      Type(ElemKind::Int4, {48, 103}),
      std::make_shared<JoinedColumns>(
          std::vector<std::shared_ptr<const Tensor>>{first, second}));
  auto plain = std::make_shared<const Tensor>(joined.clone());
  auto stored = std::make_shared<const Tensor>(std::move(joined));
  NBitsLayout layout = {
      .depth = 48, .columns = 103, .block = 16, .kind = ElemKind::Int4};
  EXPECT_TRUE(packNBitsWeights(stored, layout)
                  .clone()
                  .isBitwiseEqual(packNBitsWeights(plain, layout).clone()));
  // What is packed of equal weights is equal without being packed.
  Tensor own = packNBitsWeights(stored, layout);
  Tensor other = packNBitsWeights(stored, layout);
  EXPECT_TRUE(own.getSource()->isEqual(*other.getSource()));
  layout.block = 48;
  Tensor others = packNBitsWeights(stored, layout);
  EXPECT_FALSE(own.getSource()->isEqual(*others.getSource()));
}

TEST(NBitsMatMul, PacksScales) {
  auto stored = storeColumns(ElemKind::Float, 3, 70, false);
  auto plain = std::make_shared<const Tensor>(stored->clone());
  NBitsLayout layout = {
      .depth = 48, .columns = 70, .block = 16, .kind = ElemKind::Int4};
  EXPECT_TRUE(packNBitsParameters(stored, layout)
                  .clone()
                  .isBitwiseEqual(packNBitsParameters(plain, layout).clone()));
}

} // namespace

/// Rows of one, few and many; columns and rows of weights that fill no vector,
/// panel, word or block.
TEST(NBitsMatMul, AgreesWithInterpreter) {
  const Case cases[] = {
      {{1, 1}, 1, 1},       {{1, 3}, 7, 2},      {{2, 7}, 17, 16},
      {{3, 17}, 33, 17},    {{1, 33}, 65, 16},   {{1, 64}, 128, 32},
      {{1, 96}, 70, 32},    {{2, 130}, 81, 128}, {{4, 100}, 64, 10},
      {{13, 48}, 96, 16},   {{29, 40}, 67, 40},  {{120, 33}, 130, 32},
      {{2, 3, 33}, 19, 16}, {{0, 5}, 3, 5},      {{3, 0}, 4, 32},
      {{3, 4}, 0, 32},      {{5, 1, 24}, 20, 7}, {{1, 256}, 1, 32},
      {{1, 13}, 9, 13},     {{1, 46}, 17, 24},
  };
  // Each case and kind has an epilogue with zero points or without.
  unsigned number = 0;
  for (size_t i = 0; i < std::size(cases); ++i)
    for (size_t kind = 0; kind < std::size(kinds); ++kind)
      for (bool hasZeros : {false, true}) {
        bool hasEpilogue = (i + kind + hasZeros) % 2;
        compare(
            "case " + std::to_string(number++), [&](Function &f, Module &m) {
              NodeValue x =
                  build(cases[i], kinds[kind], hasZeros, ElemKind::Float, f, m);
              return hasEpilogue ? addEpilogue(x, f, m) : x;
            });
      }
}

/// More rows than a tile has, whose weights are unpacked in pieces: blocks that
/// are shorter and longer than these, and parts of both.
TEST(NBitsMatMul, ManyRows) {
  const Case cases[] = {
      {{9, 300}, 33, 32},   {{100, 520}, 65, 20}, {{33, 600}, 17, 600},
      {{17, 700}, 66, 300}, {{7, 256}, 64, 128},  {{2, 13, 513}, 16, 512},
  };
  unsigned number = 0;
  for (const Case &c : cases)
    for (ElemKind weights : kinds)
      for (bool hasZeros : {false, true})
        compare("case " + std::to_string(number++),
                [&](Function &f, Module &m) {
                  return addEpilogue(
                      build(c, weights, hasZeros, ElemKind::Float, f, m), f, m);
                });
}

/// A left side of integers, with a scale for each block of a row.
TEST(NBitsMatMul, Integers) {
  const Case cases[] = {
      {{1, 8}, 1, 8},      {{1, 16}, 7, 8},      {{2, 32}, 17, 32},
      {{3, 64}, 33, 32},   {{1, 96}, 130, 32},   {{7, 128}, 65, 128},
      {{5, 144}, 70, 16},  {{17, 120}, 64, 24},  {{2, 3, 160}, 19, 32},
      {{101, 72}, 66, 72}, {{1, 1024}, 64, 256}, {{0, 8}, 3, 8},
  };
  unsigned number = 0;
  for (const Case &c : cases)
    for (ElemKind weights : kinds)
      for (bool hasZeros : {false, true}) {
        bool hasEpilogue = number % 3 == 1;
        compare("case " + std::to_string(number++),
                [&](Function &f, Module &m) {
                  NodeValue x = buildIntegers(c, weights, hasZeros, f, m);
                  return hasEpilogue ? addEpilogue(x, f, m) : x;
                });
      }
}

TEST(NBitsMatMul, HalfPrecisions) {
  for (ElemKind floats : {ElemKind::Float16, ElemKind::BFloat16})
    for (ElemKind weights : kinds) {
      Case c = {{3, 20}, 33, 16};
      double ulp = floats == ElemKind::Float16 ? 0x1p-10 : 0x1p-7;
      compare((getElemKindName(floats) + " " + getElemKindName(weights)).str(),
              [&](Function &f, Module &m) {
                return build(c, weights, /*hasZeros=*/true, floats, f, m);
              },
              ulp);
    }
}

/// A transposed left side, and a part of one, are read where they are.
TEST(NBitsMatMul, StridedRows) {
  for (ElemKind weights : kinds)
    compare(getElemKindName(weights).str(), [&](Function &f, Module &m) {
      NodeValue x = input(m, ElemKind::Float, {2, 20, 3});
      x = f.create<TransposeNode>("t", x, std::vector<int64_t>{0, 2, 1})
              ->getResult();
      return f
          .create<MatMulNBitsNode>(
              "matmul", x, makeIntegers(m, weights, {20, 35}),
              constant(m, ElemKind::Float, {3, 35}), NodeValue(),
              /*lhsScales=*/NodeValue(), 8)
          ->getResult();
    });
}

/// What the program stores of weights: 4 bits are half a byte.
TEST(NBitsMatMul, PackedSizes) {
  auto getBytes = [](ElemKind weights) {
    auto backend = llvm::cantFail(CPUBackend::create({}));
    PlannedProgram program =
        llvm::cantFail(compileFor(*backend, [&](Function &f, Module &m) {
          return build({{1, 256}, 128, 32}, weights, /*hasZeros=*/false,
                       ElemKind::Float, f, m);
        }));
    for (const Instruction &instr : program.getIR().getInstrs())
      if (auto *matmul = llvm::dyn_cast<CPUMatMulNBitsInstr>(&instr))
        return matmul->getWeights()->getType().getNumElements();
    return int64_t(0);
  };
  EXPECT_EQ(getBytes(ElemKind::Int8), 256 * 128);
  EXPECT_EQ(getBytes(ElemKind::UInt4), 256 * 128 / 2);
}

/// Weights that are known only when the program runs are dequantized.
TEST(NBitsMatMul, RuntimeWeights) {
  for (ElemKind weights : {ElemKind::Int8, ElemKind::UInt8})
    compare(getElemKindName(weights).str(), [&](Function &f, Module &m) {
      NodeValue q = input(m, ElemKind::Float, {20, 5});
      q = f.create<CastNode>("q", q, weights)->getResult();
      return f
          .create<MatMulNBitsNode>("matmul",
                                   constant(m, ElemKind::Float, {3, 20}), q,
                                   constant(m, ElemKind::Float, {3, 5}),
                                   makeIntegers(m, weights, {3, 5}),
                                   /*lhsScales=*/NodeValue(), 8)
          ->getResult();
    });
}

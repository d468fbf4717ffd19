//===- IndexingTest.cpp - Scatters, sorted indices, bits ------------------===//
//
// The interpreter against the definition, and compiled code against the
// interpreter.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "InferTypes.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace glowish;

namespace {

NodeValue buildScatter(Function &f, Module &m, ElemKind kind, Dims shape,
                       int64_t count, llvm::StringRef mode,
                       ElemKind indexKind = ElemKind::Int64) {
  NodeValue x = input(m, kind, shape);
  // -3 to 3: in a matrix of two rows, some are out of range.
  NodeValue indices = input(m, indexKind, {count});
  NodeValue updates = input(m, kind, {count, shape[1]});
  return f.create<ScatterNode>("scatter", x, indices, updates, mode)
      ->getResult();
}

NodeValue buildTopK(Function &f, NodeValue x, int64_t count, bool largest) {
  return f.create<TopKNode>("top", x, count, largest)->getResult();
}

std::vector<int64_t> getInts(const Tensor &tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    values.push_back(tensor.getAsInt(i));
  return values;
}

} // namespace

TEST(Indexing, ScatterDefinition) {
  for (llvm::StringRef mode : {"replace", "add", "mul", "max", "min"}) {
    auto build = [&](Function &f, Module &m) {
      return buildScatter(f, m, ElemKind::Int32, {2, 3}, 17, mode);
    };
    Tensor actual = llvm::cantFail(run(*createInterpreter(), build));
    std::vector<int64_t> expected =
        getInts(makeRandom(Type(ElemKind::Int32, {2, 3}), 7));
    Tensor indices = makeRandom(Type(ElemKind::Int64, {17}), 8);
    Tensor updates = makeRandom(Type(ElemKind::Int32, {17, 3}), 9);
    for (int64_t i = 0; i < 17; ++i) {
      int64_t row = indices.getAsInt(i);
      row += row < 0 ? 2 : 0;
      for (int64_t k = 0; k < 3 && row >= 0 && row < 2; ++k) {
        int64_t value = updates.getAsInt(i * 3 + k);
        int64_t &element = expected[row * 3 + k];
        element = mode == "add"   ? element + value
                  : mode == "mul" ? element * value
                  : mode == "max" ? std::max(element, value)
                  : mode == "min" ? std::min(element, value)
                                  : value;
      }
    }
    std::vector<int64_t> wrapped;
    for (int64_t value : expected)
      wrapped.push_back(int32_t(value));
    EXPECT_EQ(getInts(actual), wrapped) << mode.str();
  }
}

TEST(Indexing, ScatterCompiled) {
  for (llvm::StringRef mode : {"replace", "add", "mul", "max", "min"})
    for (ElemKind kind : {ElemKind::Float, ElemKind::Float16, ElemKind::Int8,
                          ElemKind::Int64, ElemKind::Double})
      for (const Dims &shape : {Dims{7, 1}, Dims{2, 33}, Dims{3, 17}})
        compare(mode.str(), [&](Function &f, Module &m) {
          return buildScatter(f, m, kind, shape, 17, mode);
        });
  compare("bool", [](Function &f, Module &m) {
    return buildScatter(f, m, ElemKind::Bool, {3, 7}, 5, "replace",
                        ElemKind::Int32);
  });
  for (const Dims &shape : {Dims{0, 3}, Dims{3, 0}})
    compare("nothing", [&](Function &f, Module &m) {
      return buildScatter(f, m, ElemKind::Float, shape, 5, "add");
    });
  compare("no updates", [&](Function &f, Module &m) {
    return buildScatter(f, m, ElemKind::Float, {3, 5}, 0, "add");
  });
}

namespace {

NodeValue buildUpdate(Function &f, Module &m, ElemKind kind, DimsRef shape,
                      int64_t axis, int64_t count, int64_t start) {
  Dims part(shape);
  part[axis] = count;
  NodeValue x = input(m, kind, shape), update = input(m, kind, part);
  NodeValue index(m.createConstant(
      "start",
      Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {start})));
  return f.create<DynamicUpdateSliceNode>("update", x, update, index, axis)
      ->getResult();
}

} // namespace

TEST(Indexing, DynamicUpdateSliceDefinition) {
  for (int64_t start : {-2, 0, 3, 4, 9}) {
    auto build = [&](Function &f, Module &m) {
      return buildUpdate(f, m, ElemKind::Int32, {2, 7, 3}, 1, 3, start);
    };
    Tensor actual = llvm::cantFail(run(*createInterpreter(), build));
    std::vector<int64_t> expected =
        getInts(makeRandom(Type(ElemKind::Int32, {2, 7, 3}), 7));
    Tensor update = makeRandom(Type(ElemKind::Int32, {2, 3, 3}), 8);
    int64_t first = std::clamp<int64_t>(start, 0, 4);
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t k = 0; k < 3; ++k)
          expected[(n * 7 + first + i) * 3 + k] =
              update.getAsInt((n * 3 + i) * 3 + k);
    EXPECT_EQ(getInts(actual), expected) << start;
  }
}

TEST(Indexing, DynamicUpdateSliceCompiled) {
  for (ElemKind kind : {ElemKind::Float, ElemKind::Float16, ElemKind::Int8,
                        ElemKind::Int64, ElemKind::Bool})
    for (int64_t axis : {0, 1, 2})
      for (int64_t start : {-1, 0, 2, 33})
        for (int64_t count : {0, 1, 3})
          compare("update", [&](Function &f, Module &m) {
            return buildUpdate(f, m, kind, {3, 7, 17}, axis, count, start);
          });
  compare("vector", [](Function &f, Module &m) {
    return buildUpdate(f, m, ElemKind::Float, {33}, 0, 33, 5);
  });
  compare("nothing", [](Function &f, Module &m) {
    return buildUpdate(f, m, ElemKind::Float, {0, 3}, 1, 1, 1);
  });
}

/// With many equal elements, NaN, and infinities.
TEST(Indexing, TopKDefinition) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double values[] = {1, 3, NAN, -inf, 3, inf, NAN, -2, 1, 3};
  auto build = [&](Function &f, Module &m, int64_t count, bool largest) {
    Tensor tensor(Type(ElemKind::Float, {10}));
    for (unsigned i = 0; i < 10; ++i)
      tensor.setFromDouble(i, values[i]);
    // Not folded: an input is added.
    NodeValue x(m.createConstant("c", std::move(tensor)));
    NodeValue zero = input(m, ElemKind::Float, {1});
    zero = f.create<MulNode>(
                "mul", zero,
                f.create<SplatNode>("zero", ElemKind::Float, Dims{1}, 0.0)
                    ->getResult())
               ->getResult();
    x = f.create<AddNode>("add", x, zero)->getResult();
    return buildTopK(f, x, count, largest);
  };
  struct Case {
    int64_t count;
    bool largest;
    std::vector<int64_t> indices;
  };
  const Case cases[] = {
      {10, true, {2, 6, 5, 1, 4, 9, 0, 8, 7, 3}},
      {10, false, {3, 7, 0, 8, 1, 4, 9, 5, 2, 6}},
      {3, true, {2, 6, 5}},
      {1, false, {3}},
      {0, true, {}},
  };
  for (const Case &c : cases) {
    auto make = [&](Function &f, Module &m) {
      return build(f, m, c.count, c.largest);
    };
    Tensor actual = llvm::cantFail(run(*createInterpreter(), make));
    EXPECT_EQ(getInts(actual), c.indices) << c.count << " " << c.largest;
    compare("special values", make);
  }
}

TEST(Indexing, TopKCompiled) {
  for (ElemKind kind : {ElemKind::Float, ElemKind::BFloat16, ElemKind::UInt8,
                        ElemKind::Int64, ElemKind::Double})
    for (bool largest : {true, false})
      for (const Dims &shape :
           {Dims{3, 1}, Dims{7, 17}, Dims{2, 3, 33}, Dims{0, 5}, Dims{1, 1000}})
        for (int64_t count : {int64_t(1), shape.back() / 3, shape.back()})
          compare("top " + std::to_string(count), [&](Function &f, Module &m) {
            return buildTopK(f, input(m, kind, shape), count, largest);
          });
}

TEST(Indexing, NonMaxSuppressionCompiled) {
  struct Case {
    int64_t batches, classes, boxes, count;
  };
  for (const Case &c : {Case{1, 1, 1, 1}, Case{2, 3, 17, 17}, Case{3, 1, 33, 7},
                        Case{1, 2, 129, 40}, Case{2, 2, 7, 9}, Case{1, 1, 5, 0},
                        Case{0, 3, 4, 2}, Case{2, 1, 0, 3}})
    for (double threshold : {0.0, 0.2, 1.0})
      compare("boxes", [&](Function &f, Module &m) {
        // Candidates without order, of which some are no boxes.
        NodeValue x = input(m, ElemKind::Float, {c.batches, c.boxes, 2});
        NodeValue y = input(m, ElemKind::Float, {c.batches, c.boxes, 2});
        NodeValue corners[2] = {f.create<MinNode>("min", x, y)->getResult(),
                                f.create<MaxNode>("max", x, y)->getResult()};
        NodeValue boxes =
            f.create<ConcatNode>("boxes", llvm::ArrayRef(corners), 2)
                ->getResult();
        NodeValue scores =
            input(m, ElemKind::Float, {c.batches, c.classes, c.boxes});
        NodeValue order = buildTopK(f, scores, c.boxes, true);
        NodeValue offset =
            f.create<SplatNode>("one", ElemKind::Int64, Dims{1}, 1.0)
                ->getResult();
        order = f.create<SubNode>("sub", order, offset)->getResult();
        NodeValue limit =
            f.create<SplatNode>("limit", ElemKind::Float, Dims{}, threshold)
                ->getResult();
        return f
            .create<NonMaxSuppressionNode>("nms", boxes, order, limit, c.count)
            ->getResult();
      });
}

TEST(Indexing, BitCast) {
  compare("to int and back", [](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Float, {3, 17});
    x = f.create<BitCastNode>("there", x, ElemKind::Int32)->getResult();
    NodeValue sign =
        f.create<SplatNode>("sign", ElemKind::Int32, Dims{1}, double(INT32_MIN))
            ->getResult();
    x = f.create<BitXorNode>("negate", x, sign)->getResult();
    return f.create<BitCastNode>("back", x, ElemKind::Float)->getResult();
  });
}

template <typename NodeT> static void compareBits(const char *name) {
  for (ElemKind kind :
       {ElemKind::UInt8, ElemKind::Int8, ElemKind::UInt16, ElemKind::Int16,
        ElemKind::UInt32, ElemKind::Int32, ElemKind::UInt64, ElemKind::Int64})
    compare(name, [&](Function &f, Module &m) {
      NodeValue x = input(m, kind, {3, 33}), y = input(m, kind, {3, 33});
      // Shifts beyond the width, too.
      NodeValue large = constant(m, kind, {33});
      y = f.create<MulNode>("mul", y, large)->getResult();
      y = f.create<MulNode>("square", y, y)->getResult();
      return f.create<NodeT>("bits", x, y)->getResult();
    });
}

TEST(Indexing, Bits) {
  compareBits<BitAndNode>("and");
  compareBits<BitOrNode>("or");
  compareBits<BitXorNode>("xor");
  compareBits<ShiftLeftNode>("left");
  compareBits<ShiftRightNode>("right");
}

TEST(Indexing, Types) {
  EXPECT_TYPE("Scatter(float<7x3>, int64<5>, float<5x3>) {mode = \"add\"}",
              "float<7x3>");
  EXPECT_TYPE("Scatter(float<7x3>, int64<5>, float<5x2>) {mode = \"add\"}",
              "operand 'updates' (float<5x2>): expected float<5x3>");
  EXPECT_TYPE("Scatter(float<7x3>, uint8<5>, float<5x3>) {mode = \"add\"}",
              "operand 'indices' (uint8<5>): expected int32 or int64");
  EXPECT_THAT(infer("Scatter(bool<7x3>, int64<5>, bool<5x3>) {mode = \"add\"}"),
              testing::HasSubstr("operand 'input' (bool<7x3>)"));
  EXPECT_TYPE("Scatter(bool<7x3>, int64<5>, bool<5x3>) {mode = \"replace\"}",
              "bool<7x3>");
  EXPECT_TYPE("DynamicUpdateSlice(float<7x3>, float<5x3>, int64<>) {axis = 0}",
              "float<7x3>");
  EXPECT_TYPE("DynamicUpdateSlice(float<7x3>, float<9x3>, int64<>) {axis = 0}",
              "operand 'update' (float<9x3>): expected at most float<7x3>, and "
              "less along dimension 0 only");
  EXPECT_TYPE("DynamicUpdateSlice(float<7x3>, float<5x2>, int64<>) {axis = 0}",
              "operand 'update' (float<5x2>): expected at most float<7x3>, and "
              "less along dimension 0 only");
  EXPECT_TYPE("DynamicUpdateSlice(float<7x3>, float<5x3>, int64<2>) {axis = 0}",
              "operand 'start' (int64<2>): expected int32 or int64, one "
              "element");
  EXPECT_TYPE("TopK(float<7x3>) {count = 2, largest = true}", "int64<7x2>");
  EXPECT_TYPE("TopK(float<7x3>) {count = 4, largest = true}",
              "attribute 'count': 4 of extent 3");
  EXPECT_TYPE("NonMaxSuppression(float<2x5x4>, int64<2x3x7>, float<>) {count "
              "= 6}",
              "int64<2x3x6>");
  EXPECT_TYPE("NonMaxSuppression(float<2x5x3>, int64<2x3x7>, float<>) {count "
              "= 6}",
              "operand 'boxes' (float<2x5x3>): expected kind float and shape "
              "2x5x4");
  EXPECT_TYPE("NonMaxSuppression(float<2x5x4>, int64<2x3x7>, float<1>) {count "
              "= 6}",
              "operand 'threshold' (float<1>): expected kind float and shape "
              "scalar");
  EXPECT_TYPE("NonMaxSuppression(float<2x5x4>, int64<2x3x7>, float<>) {count "
              "= -1}",
              "attribute 'count': -1 is negative");
  EXPECT_TYPE("BitCast(float<7>) {to = int32}", "int32<7>");
  EXPECT_TYPE("BitCast(float<7>) {to = int64}",
              "attribute 'to': int64 cannot have the bits of float");
  EXPECT_TYPE("BitCast(uint8<7>) {to = float8e5m2}", "float8e5m2<7>");
  EXPECT_TYPE("BitCast(uint8<7>) {to = int4}",
              "attribute 'to': int4 cannot have the bits of uint8");
  EXPECT_TYPE("BitCast(uint8<7>) {to = bool}",
              "attribute 'to': bool cannot have the bits of uint8");
}

//===- AttentionIntegerTest.cpp - Attention of 8-bit integers -------------===//
//
// The interpreter against the definition, compiled code and the lowered form
// against the interpreter. A weight near a half may be rounded to either side.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "InferTypes.h"
#include "glowish/IR/Instrs.h"
#include "gmock/gmock.h"

using namespace glowish;

namespace {

constexpr ElemKind u8 = ElemKind::UInt8, s8 = ElemKind::Int8;

struct AttentionCase {
  Dims batch;
  int64_t queries, keys, depth, columns;
  /// Empty for none.
  Dims mask;
  bool causal;
};

const AttentionCase cases[] = {
    {{}, 3, 7, 5, 1, {}, false},
    {{2}, 1, 1, 1, 17, {}, false},
    {{1, 3}, 17, 33, 7, 33, {}, false},
    {{2, 3}, 7, 17, 33, 3, {2, 1, 1, 17}, false},
    {{2, 3}, 33, 5, 16, 16, {33, 5}, false},
    {{1, 2}, 70, 65, 64, 64, {1, 1, 1, 65}, false},
    {{1, 2}, 33, 33, 17, 33, {}, true},
    {{3}, 65, 70, 72, 65, {1, 70}, true},
    {{2}, 1, 40, 16, 16, {}, true},
    {{2}, 3, 3, 0, 7, {}, false},
    {{2}, 0, 3, 4, 7, {}, false},
    {{0}, 3, 3, 4, 7, {3, 3}, true},
    {{2}, 3, 3, 4, 0, {}, false},
};

/// What varies besides the case.
struct Variation {
  ElemKind query, key, value;
  int64_t queryZeroPoint, valueZeroPoint;
  double weightScale;
  int64_t maxWeight;
};

const Variation variations[] = {
    {u8, u8, u8, 128, 128, 1.0 / 255, 255}, {s8, s8, s8, 0, 0, 1.0 / 127, 127},
    {u8, s8, u8, 3, 250, 0.01, 90},         {s8, u8, u8, -77, 0, 1.0 / 30, 255},
    {u8, u8, s8, 0, -128, 0.004, 200},      {s8, s8, u8, 5, 128, 0.1, 7},
};

Dims join(DimsRef batch, int64_t rows, int64_t columns) {
  Dims shape(batch);
  shape.append({rows, columns});
  return shape;
}

/// Floats, or integers of their whole range.
Tensor makeElements(const Type &type, uint64_t seed) {
  if (isFloatKind(type.getKind()))
    return makeRandom(type, seed);
  Random random(seed);
  Tensor tensor(type);
  double least = type.getKind() == s8 ? -128 : 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, least + double(random.below(256)));
  return tensor;
}

Tensor runOn(Backend &backend, const BuildFn &buildCase) {
  return llvm::cantFail(run(backend, buildCase, nullptr, makeElements));
}

double getScale(const AttentionCase &c) {
  return 3e-4 / std::sqrt(double(c.depth) + 1);
}

NodeValue build(const AttentionCase &c, const Variation &v, Function &f,
                Module &m) {
  NodeValue query = input(m, v.query, join(c.batch, c.queries, c.depth));
  NodeValue key = input(m, v.key, join(c.batch, c.keys, c.depth));
  NodeValue value = input(m, v.value, join(c.batch, c.keys, c.columns));
  NodeValue mask =
      c.mask.empty() ? NodeValue() : input(m, ElemKind::Float, c.mask);
  return f
      .create<AttentionIntegerNode>(
          "attention", query, key, value, mask, getScale(c), c.causal,
          v.queryZeroPoint, v.valueZeroPoint, v.weightScale, v.maxWeight)
      ->getResult();
}

/// Whether \p actual, of rows of \p columns, is \p expected, but for one step
/// of few weights, each of which is in one row.
void expectNear(const std::string &name, const Tensor &actual,
                const Tensor &expected, int64_t columns) {
  ASSERT_EQ(actual.getType(), expected.getType()) << name;
  int64_t rows = columns ? actual.getNumElements() / columns : 0, others = 0;
  for (int64_t row = 0; row < rows; ++row) {
    bool isOther = false;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
      double difference =
          std::abs(actual.getAsDouble(i) - expected.getAsDouble(i));
      ASSERT_LE(difference, 2 * 255) << name << " at " << i;
      isOther |= difference != 0;
    }
    others += isOther;
  }
  EXPECT_LE(others, 1 + rows / 20) << name;
}

void compareNear(const std::string &name, const BuildFn &buildCase,
                 int64_t columns, unsigned threads = 1) {
  Tensor expected = runOn(*createInterpreter(), buildCase);
  for (TargetOptions options : getLevelsInTurn()) {
    options.numThreads = threads;
    auto backend = llvm::cantFail(CPUBackend::create(options));
    expectNear(name + " on '" + options.cpu + "'", runOn(*backend, buildCase),
               expected, columns);
  }
}

/// The attributes of the text form, and one more that takes the place of its
/// own.
std::string makeAttributes(const std::string &name, const std::string &value) {
  std::vector<std::pair<std::string, std::string>> attributes = {
      {"scale", "1.0"},        {"causal", "false"},    {"queryZeroPoint", "3"},
      {"valueZeroPoint", "4"}, {"weightScale", "0.1"}, {"maxWeight", "9"}};
  std::string text;
  for (auto &[own, standard] : attributes)
    text += (text.empty() ? " {" : ", ") + own + " = " +
            (own == name ? value : standard);
  return text + "}";
}

} // namespace

/// By sums and powers, for one head without a mask.
TEST(AttentionInteger, Definition) {
  AttentionCase c = {{}, 17, 33, 7, 5, {}, false};
  for (const Variation &v : variations) {
    Tensor query = makeElements(Type(v.query, {c.queries, c.depth}), 7);
    Tensor key = makeElements(Type(v.key, {c.keys, c.depth}), 8);
    Tensor value = makeElements(Type(v.value, {c.keys, c.columns}), 9);
    Tensor actual = runOn(*createInterpreter(), [&](Function &f, Module &m) {
      return build(c, v, f, m);
    });
    for (int64_t m = 0; m < c.queries; ++m) {
      std::vector<double> powers;
      double total = 0;
      for (int64_t n = 0; n < c.keys; ++n) {
        double score = 0;
        for (int64_t k = 0; k < c.depth; ++k)
          score +=
              (query.getAsDouble(m * c.depth + k) - double(v.queryZeroPoint)) *
              key.getAsDouble(n * c.depth + k);
        powers.push_back(std::exp(score * getScale(c)));
        total += powers.back();
      }
      for (int64_t e = 0; e < c.columns; ++e) {
        double sum = 0;
        for (int64_t n = 0; n < c.keys; ++n)
          sum +=
              std::min(std::rint(powers[n] / total / v.weightScale),
                       double(v.maxWeight)) *
              (value.getAsDouble(n * c.columns + e) - double(v.valueZeroPoint));
        ASSERT_EQ(actual.getAsDouble(m * c.columns + e), sum) << m << ", " << e;
      }
    }
  }
}

TEST(AttentionInteger, CompiledCode) {
  unsigned number = 0;
  for (const AttentionCase &c : cases)
    for (const Variation &v : variations) {
      ++number;
      // All with all would take long.
      if (number % 3 && c.columns != 65)
        continue;
      compareNear(
          "case " + std::to_string(number),
          [&](Function &f, Module &m) { return build(c, v, f, m); }, c.columns,
          /*threads=*/1 + number % 3);
    }
}

/// More keys than a task has stack for: computed in the lowered form.
TEST(AttentionInteger, ManyKeys) {
  AttentionCase c = {{}, 3, 9000, 4, 5, {}, true};
  auto buildCase = [&](Function &f, Module &m) {
    return build(c, variations[3], f, m);
  };
  compareNear("many", buildCase, c.columns);
  auto backend = llvm::cantFail(CPUBackend::create({}));
  EXPECT_EQ(countInstrs(*backend, buildCase, "AttentionInteger"), 0u);
}

/// A requantization behind it is a part of its kernel; NaN weighs nothing.
TEST(AttentionInteger, Epilogue) {
  auto buildCase = [](Function &f, Module &m) {
    NodeValue sums = build(cases[3], variations[0], f, m);
    NodeValue x = f.create<CastNode>("f", sums, ElemKind::Float)->getResult();
    x = f.create<MulNode>("m", x, constant(m, ElemKind::Float, {3}))
            ->getResult();
    x = f.create<RoundNode>("r", x)->getResult();
    return f.create<CastNode>("q", x, s8)->getResult();
  };
  auto backend = llvm::cantFail(CPUBackend::create({}));
  EXPECT_EQ(countInstrs(*backend, buildCase, "ElementWiseLoop"), 0u);
  compareNear("epilogue", buildCase, 3);
  compareNear(
      "NaN",
      [](Function &f, Module &m) {
        Tensor nan(Type(ElemKind::Float, {}));
        nan.setFromDouble(0, std::nan(""));
        return f
            .create<AttentionIntegerNode>(
                "attention", input(m, u8, {3, 5}), input(m, u8, {7, 5}),
                input(m, u8, {7, 17}),
                NodeValue(m.createConstant("nan", std::move(nan))), 1e-4,
                /*causal=*/false, 1, 2, 0.01, 100)
            ->getResult();
      },
      17);
}

TEST(AttentionInteger, Types) {
  const char *operands =
      "AttentionInteger(uint8<2x3x4>, int8<2x5x4>, uint8<2x5x7>, none)";
  EXPECT_TYPE(operands + makeAttributes("", ""), "int32<2x3x7>");
  auto refuses = [](const llvm::Twine &text, const char *message) {
    EXPECT_THAT(infer(text), testing::HasSubstr(message));
  };
  refuses("AttentionInteger(float<3x4>, int8<5x4>, int8<5x7>, none)" +
              makeAttributes("", ""),
          "int8 or uint8");
  refuses("AttentionInteger(int8<3x4>, int8<5x4>, int8<5x7>, double<1>)" +
              makeAttributes("", ""),
          "float");
  refuses("AttentionInteger(int8<3x4>, int8<5x3>, int8<5x7>, none)" +
              makeAttributes("", ""),
          "as query has");
  refuses(operands + makeAttributes("queryZeroPoint", "-1"), "queryZeroPoint");
  refuses(operands + makeAttributes("valueZeroPoint", "256"), "valueZeroPoint");
  refuses(operands + makeAttributes("weightScale", "0.0"), "weightScale");
  refuses(operands + makeAttributes("maxWeight", "256"), "maxWeight");
  refuses(operands + makeAttributes("scale", "1e300"), "scale");
}

//===- RescaleTest.cpp - Products of fixed-point numbers ------------------===//
//
// The interpreter against the definition of TensorFlow Lite, and compiled code
// against the interpreter.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "glowish/Graph/NodeBuilder.h"

using namespace glowish;

/// The definition: two roundings, of which the first has the sign of the
/// multiplication, as it divides towards zero.
static int32_t rescaleByDefinition(int32_t x, int32_t multiplier,
                                   int32_t shift) {
  auto scaled = int32_t(uint32_t(x) << std::max(shift, 0));
  int64_t full = int64_t(scaled) * multiplier;
  int64_t half = full >= 0 ? int64_t(1) << 30 : 1 - (int64_t(1) << 30);
  auto high = int32_t((full + half) / (int64_t(1) << 31));
  int right = std::max(-shift, 0);
  int64_t mask = (int64_t(1) << right) - 1;
  int64_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return int32_t((high >> right) + ((high & mask) > threshold ? 1 : 0));
}

/// Numbers at the edges of what happens, and others.
static const std::vector<double> values = {
    0,          1,           -1,          2,           -2,          3,
    -3,         5,           -5,          127,         -128,        32767,
    -32768,     1 << 20,     -(1 << 20),  1073741823,  -1073741824, 1234567891,
    -987654321, 2147483646., 2147483647., -2147483647.};
static const std::vector<double> multipliers = {
    0,          1 << 30,     (1 << 30) + 1, 1518500250,
    1636178017, 2147483646., 2147483647.};

static NodeValue column(NodeBuilder &b, llvm::ArrayRef<double> numbers,
                        int64_t axis) {
  Dims shape(3, 1);
  shape[size_t(axis)] = int64_t(numbers.size());
  size_t i = 0;
  return b.table(ElemKind::Int32, shape, [&](DimsRef) { return numbers[i++]; });
}

/// All combinations. Shifts to the left are of numbers that have bits to spare.
static NodeValue buildAll(Function &f, Module &m, std::vector<double> shifts) {
  NodeBuilder b(f, "rescale");
  // Zeros that are not known at compile time.
  NodeValue zero = b.mul(input(m, ElemKind::Int32, {1, 1, 1}), 0);
  return b.make<RescaleNode>(b.add(column(b, values, 0), zero),
                             b.add(column(b, multipliers, 1), zero),
                             column(b, shifts, 2));
}

static const std::vector<double> shifts = {-31, -30, -17, -9, -8,
                                           -2,  -1,  0,   1,  3};

TEST(Rescale, Definition) {
  Tensor actual =
      llvm::cantFail(run(*createInterpreter(), [](Function &f, Module &m) {
        return buildAll(f, m, shifts);
      }));
  int64_t i = 0;
  for (double x : values)
    for (double multiplier : multipliers)
      for (double shift : shifts) {
        EXPECT_EQ(actual.getAsInt(i++),
                  rescaleByDefinition(int32_t(x), int32_t(multiplier),
                                      int32_t(shift)))
            << x << " * " << multiplier << " * 2^" << shift;
      }
}

TEST(Rescale, CompiledCode) {
  for (size_t count : {1, 3, 7, 10})
    compare("rescale", [&](Function &f, Module &m) {
      return buildAll(f, m, {shifts.begin(), shifts.begin() + count});
    });
  // With constants, as networks have them.
  compare("requantize", [](Function &f, Module &m) {
    NodeBuilder b(f, "requantize");
    NodeValue x = b.mul(input(m, ElemKind::Int32, {5, 33}), 12345.0);
    NodeValue scaled =
        b.make<RescaleNode>(x, b.scalar(ElemKind::Int32, 1518500250),
                            b.scalar(ElemKind::Int32, -7));
    return b.cast(b.clip(b.add(scaled, 3), -128, 127), ElemKind::Int8);
  });
}

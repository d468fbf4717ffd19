//===- SquareRootTest.cpp - Square roots without an instruction -----------===//
//
// The code that targets without a floating-point unit get runs here, too: its
// results must be those of this machine's instruction, bit by bit.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Math/VectorMath.h"
#include "SoftFloatRuns.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace glowish;

namespace {

/// The root of each of \p values, computed \p lanes at a time.
template <typename T>
std::vector<T> getRoots(ElemKind kind, std::vector<T> values, unsigned lanes) {
  runWithoutFloatUnit(values.data(), [&](KernelBuilder &b, llvm::Value *data) {
    b.forVectors(
        int64_t(values.size()), lanes, [&](llvm::Value *i, unsigned active) {
          llvm::Value *address = b.getElement(data, kind, i);
          b.store(kind, vectormath::sqrt(b, b.load(kind, address, active)),
                  address);
        });
  });
  return values;
}

template <typename T, typename Bits> T fromBits(Bits bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename T, typename Bits>
void check(ElemKind kind, std::vector<T> values) {
  using Limits = std::numeric_limits<T>;
  for (T value : {T(0), T(1), T(2), T(4), T(9), Limits::min(), Limits::max(),
                  Limits::denorm_min(), 3 * Limits::denorm_min(),
                  Limits::infinity(), Limits::quiet_NaN()})
    for (T next :
         {std::nextafter(value, T(-1)), value, std::nextafter(value, T(100))})
      values.insert(values.end(), {next, T(-next)});
  for (unsigned lanes : {1u, 3u}) {
    std::vector<T> roots = getRoots(kind, values, lanes);
    for (size_t i = 0; i < values.size(); ++i) {
      T expected = std::sqrt(values[i]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(roots[i])) << values[i];
        continue;
      }
      ASSERT_EQ(std::memcmp(&roots[i], &expected, sizeof(T)), 0)
          << "sqrt(" << values[i] << ") is " << roots[i] << ", not "
          << expected;
    }
  }
}

} // namespace

TEST(SquareRoot, Float) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 0xffffffffu - 65521; bits += 65521)
    values.push_back(fromBits<float>(bits));
  // Squares, and what lies beside them.
  for (unsigned i = 1; i < 4096; ++i)
    for (float offset : {-1.f, 0.f, 1.f})
      values.push_back(float(i) * float(i) + offset);
  check<float, uint32_t>(ElemKind::Float, std::move(values));
}

TEST(SquareRoot, Double) {
  std::vector<double> values;
  Random random(3);
  for (unsigned i = 0; i < 50000; ++i) {
    double value = fromBits<double>(random.next());
    values.push_back(value);
    values.push_back(value * value);
  }
  check<double, uint64_t>(ElemKind::Double, std::move(values));
}

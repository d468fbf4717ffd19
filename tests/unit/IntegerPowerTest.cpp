//===- IntegerPowerTest.cpp - Powers of integers --------------------------===//

#include "Differential.h"

using namespace glowish;

namespace {

/// x^y by \p y multiplications, which wrap; 1 / x^-y towards 0, 0 for x = 0.
template <typename T> T raise(T x, int64_t y) {
  if (y < 0)
    return x == 1 ? T(1) : x == T(-1) ? T(y % 2 ? -1 : 1) : T(0);
  uint64_t result = 1;
  for (int64_t i = 0; i < y; ++i)
    result *= uint64_t(x);
  return T(result);
}

template <typename T> class IntegerPower : public testing::Test {};
using Integers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t,
                                uint32_t, int64_t, uint64_t>;

template <typename T> ElemKind getKind() {
  for (ElemKind kind : allElemKinds)
    if (isIntegerKind(kind) && isStoredAs<T>(kind))
      return kind;
  llvm_unreachable("an integer");
}

/// Bases and exponents of \p T, each with each.
template <typename T> std::pair<std::vector<T>, std::vector<T>> makePairs() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> bases = {
      0,     1,     2,    3, 10, 16, 37, 85, Limits::max(), Limits::lowest(),
      T(-1), T(-2), T(-7)};
  std::vector<T> exponents = {0, 1, 2, 3, 7, 12, 13, 31, 62, 63, 64, 100};
  if (std::is_signed_v<T>)
    exponents.insert(exponents.end(), {T(-1), T(-2), T(-63)});
  std::pair<std::vector<T>, std::vector<T>> pairs;
  for (T base : bases)
    for (T exponent : exponents) {
      pairs.first.push_back(base);
      pairs.second.push_back(exponent);
    }
  return pairs;
}

template <typename T> class PairFn {
public:
  explicit PairFn(ElemKind kind) : kind(kind) {
    std::tie(bases, exponents) = makePairs<T>();
  }

  NodeValue build(Function &f, Module &m) const {
    auto constant = [&](const std::vector<T> &values) {
      return NodeValue(m.createConstant(
          "c",
          Tensor::fromValues<T>(Type(kind, {int64_t(values.size())}), values)));
    };
    // Not folded: the bases are computed with an input of zeros.
    NodeValue zeros =
        f.create<MulNode>("zeros", input(m, kind, {1}), constant({T(0)}))
            ->getResult();
    NodeValue x = f.create<AddNode>("x", constant(bases), zeros)->getResult();
    return f.create<PowNode>("p", x, constant(exponents))->getResult();
  }
  void check(const Tensor &actual, const std::string &where) const {
    for (size_t i = 0; i < bases.size(); ++i)
      ASSERT_EQ(actual.data<T>()[i], raise(bases[i], int64_t(exponents[i])))
          << int64_t(bases[i]) << " to the power " << int64_t(exponents[i])
          << " on " << where;
  }

private:
  ElemKind kind;
  std::vector<T> bases, exponents;
};

} // namespace

TYPED_TEST_SUITE(IntegerPower, Integers);

/// Bit for bit what multiplications give, on both back ends.
TYPED_TEST(IntegerPower, MultipliesExactly) {
  PairFn<TypeParam> pairs(getKind<TypeParam>());
  BuildFn build = [&](Function &f, Module &m) { return pairs.build(f, m); };
  pairs.check(llvm::cantFail(run(*createInterpreter(), build)), "interpreter");
  for (const TargetOptions &target : getLevels())
    pairs.check(
        llvm::cantFail(run(*llvm::cantFail(CPUBackend::create(target)), build)),
        target.cpu);
}

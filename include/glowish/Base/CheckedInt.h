//===- CheckedInt.h - Integers that note overflow ---------------*- C++ -*-===//
//
// For numbers that come from a file or a user, and may be any of int64_t:
//
//   std::optional<int64_t> end = (CheckedInt(start) + size).get();
//   if (!(CheckedInt(pad) * 2 + extent).isBetween(0, maxExtent))
//     return makeError(...);
//
// Each operation needs a CheckedInt on one side: in `CheckedInt(a) + b * c`,
// b * c is not checked.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_BASE_CHECKEDINT_H
#define GLOWISH_BASE_CHECKEDINT_H

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace glowish {

/// An int64_t, or none: the result of an operation whose true result int64_t
/// does not have, of a division by 0, and of all operations on none. There are
/// no comparisons, which would have to be false for none, so that their
/// negations would be true: isBetween() is for these.
class CheckedInt {
public:
  /// None if \p number is above INT64_MAX.
  template <std::integral T>
  CheckedInt(T number) // NOLINT: an operand may be a plain integer.
      : number(std::in_range<int64_t>(number)
                   ? std::optional<int64_t>(int64_t(number))
                   : std::nullopt) {}
  CheckedInt(std::optional<int64_t> number) : number(number) {}

  std::optional<int64_t> get() const { return number; }
  /// Whether there is a number, from \p low to \p high.
  bool isBetween(int64_t low, int64_t high) const {
    return number && *number >= low && *number <= high;
  }

  friend CheckedInt operator+(CheckedInt x, CheckedInt y) {
    return compute(x, y, [](int64_t x, int64_t y, int64_t &result) {
      return __builtin_add_overflow(x, y, &result);
    });
  }
  friend CheckedInt operator-(CheckedInt x, CheckedInt y) {
    return compute(x, y, [](int64_t x, int64_t y, int64_t &result) {
      return __builtin_sub_overflow(x, y, &result);
    });
  }
  friend CheckedInt operator*(CheckedInt x, CheckedInt y) {
    return compute(x, y, [](int64_t x, int64_t y, int64_t &result) {
      return __builtin_mul_overflow(x, y, &result);
    });
  }
  friend CheckedInt operator-(CheckedInt x) { return CheckedInt(0) - x; }
  /// Rounds towards zero.
  friend CheckedInt operator/(CheckedInt x, CheckedInt y) {
    return compute(x, y, [](int64_t x, int64_t y, int64_t &result) {
      if (y == 0 || (x == INT64_MIN && y == -1))
        return true;
      result = x / y;
      return false;
    });
  }
  /// Has the sign of \p x.
  friend CheckedInt operator%(CheckedInt x, CheckedInt y) {
    return compute(x, y, [](int64_t x, int64_t y, int64_t &result) {
      if (y != 0)
        result = y == -1 ? 0 : x % y;
      return y == 0;
    });
  }
  CheckedInt &operator+=(CheckedInt other) { return *this = *this + other; }
  CheckedInt &operator-=(CheckedInt other) { return *this = *this - other; }
  CheckedInt &operator*=(CheckedInt other) { return *this = *this * other; }

private:
  /// \p operation sets the result, or returns true where there is none.
  template <typename OperationT>
  static CheckedInt compute(CheckedInt x, CheckedInt y, OperationT operation) {
    int64_t result = 0;
    if (!x.number || !y.number || operation(*x.number, *y.number, result))
      return std::optional<int64_t>();
    return result;
  }

  std::optional<int64_t> number;
};

/// Whether \p x / \p y is not whole and below 0.
inline bool isNegativeFraction(CheckedInt x, CheckedInt y) {
  std::optional<int64_t> rest = (x % y).get();
  return rest && *rest != 0 && (*rest < 0) != (*y.get() < 0);
}

/// Returns \p x / \p y, rounded down: Python's x // y.
inline CheckedInt divideDown(CheckedInt x, CheckedInt y) {
  return x / y - (isNegativeFraction(x, y) ? 1 : 0);
}

/// Returns what divideDown() leaves, which has the sign of \p y: Python's x %
/// y.
inline CheckedInt getRestDown(CheckedInt x, CheckedInt y) {
  return isNegativeFraction(x, y) ? x % y + y : x % y;
}

/// Returns \p number without its fraction, or none if int64_t does not have
/// that: NaN, infinities, and what is too large.
inline std::optional<int64_t> toInt64(double number) {
  // One more than INT64_MAX: a power of two, exact as a double.
  constexpr double limit = 0x1p63;
  double whole = std::trunc(number);
  if (!(whole >= -limit && whole < limit))
    return std::nullopt;
  return int64_t(whole);
}

} // namespace glowish

#endif // GLOWISH_BASE_CHECKEDINT_H

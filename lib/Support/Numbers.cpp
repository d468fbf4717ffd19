//===- Numbers.cpp - Numbers as people read them --------------------------===//

#include "glowish/Support/Numbers.h"
#include "glowish/Support/Svg.h"
#include <algorithm>
#include <cmath>

using namespace glowish;

ByteUnit glowish::chooseByteUnit(uint64_t bytes) {
  constexpr ByteUnit units[] = {
      {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}};
  for (const ByteUnit &unit : units)
    if (double(bytes) >= unit.size)
      return unit;
  return {"bytes", 1};
}

std::string glowish::formatBytes(uint64_t bytes) {
  ByteUnit unit = chooseByteUnit(bytes);
  return formatShort(double(bytes) / unit.size) + " " + unit.name.str();
}

std::string glowish::formatExactBytes(uint64_t bytes) {
  return std::to_string(bytes) + " bytes (" + formatBytes(bytes) + ")";
}

std::string glowish::formatShort(double value) {
  if (value == std::floor(value) && value < 1e15)
    return formatFixed(value, 0);
  int digits = 2 - int(std::floor(std::log10(value)));
  return formatFixed(value, unsigned(std::clamp(digits, 0, 9)));
}

//===- Svg.h - SVG and HTML output ------------------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_SVG_H
#define GLOWISH_SUPPORT_SVG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace glowish {

/// Prints \p text as character data or a quoted attribute value of XML or HTML.
/// Markup is escaped; invalid UTF-8 and characters that XML forbids become
/// U+FFFD.
void printEscaped(llvm::raw_ostream &os, llvm::StringRef text);

/// An axis from `low` to `high` with a tick every `step`.
struct AxisScale {
  double low = 0, high = 1, step = 1;
  /// Decimals needed to distinguish the tick labels.
  unsigned numDigits = 0;

  /// Returns the position of \p value on an axis of length \p size.
  double map(double value, double size) const {
    return (value - low) / (high - low) * size;
  }
};

/// Chooses about \p numSteps ticks that cover \p low ... \p high and whose
/// distance is 1, 2 or 5 times a power of ten.
AxisScale makeAxisScale(double low, double high, unsigned numSteps = 5);

/// Formats \p value with \p numDigits decimals.
std::string formatFixed(double value, unsigned numDigits);

/// Draws a text element; \p attributes is markup that is copied as it is.
void drawText(llvm::raw_ostream &os, double x, double y, llvm::StringRef text,
              llvm::StringRef attributes = "");
void drawLine(llvm::raw_ostream &os, double x1, double y1, double x2, double y2,
              llvm::StringRef color);

} // namespace glowish

#endif // GLOWISH_SUPPORT_SVG_H

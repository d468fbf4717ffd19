//===- Svg.h - Pieces of pictures and pages -------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_SVG_H
#define GLOWISH_SUPPORT_SVG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace glowish {

/// \p text as text or as a quoted attribute of XML or HTML: what is markup
/// there is escaped, and bytes that are not UTF-8 and characters that XML does
/// not have become U+FFFD.
void printEscaped(llvm::raw_ostream &os, llvm::StringRef text);

/// Values that are marked on an axis, from the lowest to the highest.
struct AxisScale {
  double low = 0, high = 1, step = 1;
  /// Decimals that tell the marks apart.
  unsigned numDigits = 0;

  /// Where \p value is on an axis of length \p size.
  double map(double value, double size) const {
    return (value - low) / (high - low) * size;
  }
};

/// About \p numSteps steps of 1, 2 or 5 times a power of ten that cover
/// \p low ... \p high.
AxisScale makeAxisScale(double low, double high, unsigned numSteps = 5);

/// \p value with so many decimals.
std::string formatFixed(double value, unsigned numDigits);

/// A text element with \p attributes, markup, as they are.
void drawText(llvm::raw_ostream &os, double x, double y, llvm::StringRef text,
              llvm::StringRef attributes = "");
void drawLine(llvm::raw_ostream &os, double x1, double y1, double x2, double y2,
              llvm::StringRef color);

} // namespace glowish

#endif // GLOWISH_SUPPORT_SVG_H

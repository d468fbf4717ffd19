//===- Svg.cpp - SVG and HTML output --------------------------------------===//

#include "glowish/Support/Svg.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cmath>

using namespace glowish;

static constexpr llvm::StringLiteral replacementCharacter = "\xEF\xBF\xBD";

/// Returns the number of leading bytes of \p text that encode a character that
/// XML forbids, or 0.
static size_t getForbiddenLength(llvm::StringRef text) {
  auto first = uint8_t(text.front());
  if (first < 0x20)
    return first != '\t' && first != '\n' && first != '\r';
  bool isNonCharacter =
      text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
  return isNonCharacter ? 3 : 0;
}

void glowish::printEscaped(llvm::raw_ostream &os, llvm::StringRef text) {
  std::string fixed;
  if (!llvm::json::isUTF8(text)) {
    fixed = llvm::json::fixUTF8(text);
    text = fixed;
  }
  size_t start = 0, i = 0;
  while (i < text.size()) {
    size_t length = getForbiddenLength(text.substr(i));
    if (!length) {
      ++i;
      continue;
    }
    llvm::printHTMLEscaped(text.slice(start, i), os);
    os << replacementCharacter;
    start = i += length;
  }
  llvm::printHTMLEscaped(text.substr(start), os);
}

AxisScale glowish::makeAxisScale(double low, double high, unsigned numSteps) {
  if (!(high > low))
    high = low + (low ? std::abs(low) : 1);
  double raw = (high - low) / numSteps;
  double power = std::pow(10, std::floor(std::log10(raw)));
  AxisScale scale;
  scale.step = 10 * power;
  for (double factor : {5.0, 2.0, 1.0})
    if (factor * power >= raw)
      scale.step = factor * power;
  scale.low = std::floor(low / scale.step + 1e-9) * scale.step;
  scale.high = std::ceil(high / scale.step - 1e-9) * scale.step;
  scale.numDigits = unsigned(
      std::clamp(-std::floor(std::log10(scale.step) + 1e-9), 0.0, 9.0));
  return scale;
}

std::string glowish::formatFixed(double value, unsigned numDigits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", int(numDigits), value);
  return text;
}

void glowish::drawText(llvm::raw_ostream &os, double x, double y,
                       llvm::StringRef text, llvm::StringRef attributes) {
  os << llvm::formatv("<text x=\"{0:F1}\" y=\"{1:F1}\" {2}>", x, y, attributes);
  printEscaped(os, text);
  os << "</text>\n";
}

void glowish::drawLine(llvm::raw_ostream &os, double x1, double y1, double x2,
                       double y2, llvm::StringRef color) {
  os << llvm::formatv("<line x1=\"{0:F1}\" y1=\"{1:F1}\" x2=\"{2:F1}\" "
                      "y2=\"{3:F1}\" stroke=\"{4}\"/>\n",
                      x1, y1, x2, y2, color);
}

//===- LossCurve.cpp - An image of a training -----------------------------===//

#include "model-trainer/LossCurve.h"
#include "glowish/Support/Svg.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace glowish;

static constexpr int width = 360, height = 220, top = 56, left = 64, gap = 76;

namespace {

struct Point {
  double x, y;
};

/// One of the lines of a panel; absent values have no points.
struct Curve {
  llvm::StringLiteral color;
  std::vector<Point> points;
};

} // namespace

static constexpr llvm::StringLiteral trainingColor = "#d9480f";
static constexpr llvm::StringLiteral validationColor = "#4263eb";

static void drawAxes(llvm::raw_ostream &os, double x, const AxisScale &epochs,
                     const AxisScale &values, llvm::StringRef name) {
  double bottom = top + height;
  for (double v = values.low; v < values.high + values.step / 2;
       v += values.step) {
    double y = bottom - values.map(v, height);
    drawLine(os, x, y, x + width, y, "#dee2e6");
    drawText(os, x - 8, y + 4, formatFixed(v, values.numDigits),
             "text-anchor=\"end\"");
  }
  double step = std::max(1.0, epochs.step);
  for (double e = std::ceil(epochs.low / step) * step;
       e < epochs.high + step / 2; e += step)
    drawText(os, x + epochs.map(e, width), bottom + 18, formatFixed(e, 0),
             "text-anchor=\"middle\"");
  drawLine(os, x, bottom, x + width, bottom, "#212529");
  drawLine(os, x, top, x, bottom, "#212529");
  drawText(os, x + width / 2.0, bottom + 36, "epoch", "text-anchor=\"middle\"");
  drawText(os, x, top - 10, name, "font-weight=\"bold\"");
}

static void drawCurve(llvm::raw_ostream &os, double x, const AxisScale &epochs,
                      const AxisScale &values, const Curve &curve) {
  os << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << curve.color
     << "\" points=\"";
  for (auto [epoch, value] : curve.points)
    os << llvm::formatv("{0:F1},{1:F1} ", x + epochs.map(epoch, width),
                        top + height - values.map(value, height));
  os << "\"/>\n";
  // A line of one point shows nothing.
  if (curve.points.size() == 1)
    os << llvm::formatv(
        "<circle cx=\"{0:F1}\" cy=\"{1:F1}\" r=\"3\" fill=\"{2}\"/>\n",
        x + epochs.map(curve.points[0].x, width),
        top + height - values.map(curve.points[0].y, height), curve.color);
}

/// One panel at \p x. \p bounds: what its scale has at least.
static void drawPanel(llvm::raw_ostream &os, double x, const AxisScale &epochs,
                      llvm::StringRef name, llvm::ArrayRef<Curve> curves,
                      std::vector<double> bounds) {
  for (const Curve &curve : curves)
    for (Point point : curve.points)
      bounds.push_back(point.y);
  auto [low, high] = std::minmax_element(bounds.begin(), bounds.end());
  AxisScale values = makeAxisScale(*low, *high);
  drawAxes(os, x, epochs, values, name);
  for (const Curve &curve : curves)
    drawCurve(os, x, epochs, values, curve);
}

using GetValue = llvm::function_ref<std::optional<double>(const EpochResult &)>;

static Curve makeCurve(llvm::ArrayRef<EpochResult> history,
                       llvm::StringLiteral color, GetValue get) {
  Curve curve = {color, {}};
  for (const EpochResult &result : history)
    if (std::optional<double> value = get(result))
      if (std::isfinite(*value))
        curve.points.push_back({double(result.epoch), *value});
  return curve;
}

static std::optional<double> toPercent(std::optional<double> share) {
  return share ? std::optional(*share * 100) : std::nullopt;
}

std::string glowish::drawLossCurve(llvm::ArrayRef<EpochResult> history,
                                   llvm::StringRef title) {
  auto make = [&](llvm::StringLiteral color, GetValue get) {
    return makeCurve(history, color, get);
  };
  Curve losses[] = {
      make(trainingColor, [](const EpochResult &r) { return r.loss; }),
      make(validationColor,
           [](const EpochResult &r) { return r.validationLoss; })};
  Curve accuracies[] = {
      make(trainingColor,
           [](const EpochResult &r) { return toPercent(r.accuracy); }),
      make(validationColor, [](const EpochResult &r) {
        return toPercent(r.validationAccuracy);
      })};
  bool hasAccuracy = !accuracies[0].points.empty();
  bool hasValidation = !losses[1].points.empty();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#212529\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      left + width + 24 + (hasAccuracy ? width + gap : 0), top + height + 48);
  drawText(os, 16, 22, title, "font-size=\"15\" font-weight=\"bold\"");
  AxisScale epochs = history.empty()
                         ? AxisScale()
                         : makeAxisScale(double(history.front().epoch),
                                         double(history.back().epoch));
  epochs.low = history.empty() ? 0 : double(history.front().epoch);
  drawPanel(os, left, epochs, "loss", losses, {0});
  drawText(os, left + 60, top - 10, "training", "fill=\"#d9480f\"");
  if (hasValidation)
    drawText(os, left + 124, top - 10, "validation", "fill=\"#4263eb\"");
  if (hasAccuracy)
    drawPanel(os, left + width + gap, epochs, "accuracy in %", accuracies,
              {100});
  os << "</svg>\n";
  return text;
}

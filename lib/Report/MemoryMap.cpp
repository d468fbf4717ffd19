//===- MemoryMap.cpp - An image of the arena over time --------------------===//

#include "glowish/Report/MemoryMap.h"
#include "Timeline.h"
#include "glowish/Support/Numbers.h"
#include "glowish/Support/Svg.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

/// \name Pixels
/// @{
static constexpr double left = 84, right = 24, top = 52, arenaHeight = 420,
                        liveTop = top + arenaHeight + 52, liveHeight = 110,
                        legendTop = liveTop + liveHeight + 60, rowHeight = 20,
                        characterWidth = 6.6;
/// A thousand instructions fit, three pixels each, and programs are as wide as
/// that makes them up to a limit.
static constexpr double pixelsPerStep = 3, leastWidth = 960, mostWidth = 6000;
/// @}

static constexpr llvm::StringLiteral palette[] = {
    "#74c0fc", "#ffa94d", "#8ce99a", "#e599f7", "#ffe066",
    "#ff8787", "#63e6be", "#b197fc", "#d0bfa0", "#adb5bd"};
static constexpr llvm::StringLiteral gridColor = "#dee2e6",
                                     axisColor = "#212529",
                                     limitColor = "#c92a2a";

namespace {

/// The image of one program.
class MapPrinter {
public:
  explicit MapPrinter(const MappedProgram &program)
      : program(program), plan(*program.plan),
        timeline(*program.function, plan),
        width(std::clamp(timeline.getSteps().size() * pixelsPerStep, leastWidth,
                         mostWidth)) {
    chooseColors();
  }

  double getWidth() const { return left + width + right; }
  double getHeight() const {
    return legendTop + double(countLegendRows()) * rowHeight;
  }
  /// Draws it from \p start down.
  void print(llvm::raw_ostream &os, double start) const;

private:
  llvm::StringRef getWriterKind(const LiveRange &range) const;
  void chooseColors();
  size_t countLegendRows() const;
  double getX(double step) const {
    return left +
           step / std::max<double>(1, timeline.getSteps().size()) * width;
  }
  void drawTitle(llvm::raw_ostream &os) const;
  AxisScale drawByteAxis(llvm::raw_ostream &os, double y, double height,
                         uint64_t bytes, llvm::StringRef label) const;
  void drawSteps(llvm::raw_ostream &os, double y) const;
  void drawLiveRange(llvm::raw_ostream &os, const LiveRange &range,
                     double pixelsPerByte) const;
  void drawLimit(llvm::raw_ostream &os, double y, llvm::StringRef label) const;
  void drawLiveBytes(llvm::raw_ostream &os) const;
  void drawLegend(llvm::raw_ostream &os) const;

  const MappedProgram &program;
  const MemoryPlan &plan;
  Timeline timeline;
  double width;
  /// By kind of the instruction that writes an activation, in the order in
  /// which they write.
  llvm::MapVector<llvm::StringRef, llvm::StringRef> colors;
};

} // namespace

llvm::StringRef MapPrinter::getWriterKind(const LiveRange &range) const {
  if (range.buffer->isInput() && plan.isInArena(range.buffer))
    return "input";
  return range.writer ? timeline.getSteps()[*range.writer].instr->getKindName()
                      : llvm::StringRef("unwritten");
}

void MapPrinter::chooseColors() {
  for (const LiveRange &range : timeline.getLiveRanges())
    colors.insert(
        {getWriterKind(range), palette[colors.size() % std::size(palette)]});
}

//===- Axes ---------------------------------------------------------------===//

void MapPrinter::drawTitle(llvm::raw_ostream &os) const {
  drawText(os, 16, 24, program.title, "font-size=\"15\" font-weight=\"bold\"");
  size_t numPlaceholders = plan.arenaPlaceholders.size();
  std::string facts = llvm::formatv(
      "arena {0} ({1} bytes), {2:P1} of it the largest live set; "
      "{3} activations, {4}{5} instructions",
      formatBytes(plan.activationSize), plan.activationSize,
      plan.getEfficiency(), timeline.getLiveRanges().size() - numPlaceholders,
      numPlaceholders
          ? std::to_string(numPlaceholders) + " inputs and outputs, "
          : "",
      timeline.getSteps().size());
  drawText(os, 16, 42, facts);
}

/// The axis of what has \p bytes, from \p y down, with lines across the
/// image. Returns its scale, in bytes.
AxisScale MapPrinter::drawByteAxis(llvm::raw_ostream &os, double y,
                                   double height, uint64_t bytes,
                                   llvm::StringRef label) const {
  ByteUnit unit = chooseByteUnit(bytes);
  AxisScale scale = makeAxisScale(0, double(bytes) / unit.size);
  for (double v = 0; v < scale.high + scale.step / 2; v += scale.step) {
    double at = y + height - scale.map(v, height);
    drawLine(os, left, at, left + width, at, gridColor);
    drawText(os, left - 8, at + 4, formatFixed(v, scale.numDigits),
             "text-anchor=\"end\"");
  }
  drawLine(os, left, y, left, y + height, axisColor);
  os << llvm::formatv("<g transform=\"translate(20 {0:F1}) rotate(-90)\">",
                      y + height / 2);
  drawText(os, 0, 0, (label + ", " + unit.name).str(),
           "text-anchor=\"middle\"");
  os << "</g>\n";
  scale.high *= unit.size;
  return scale;
}

/// The axis of instructions at \p y.
void MapPrinter::drawSteps(llvm::raw_ostream &os, double y) const {
  auto numSteps = double(timeline.getSteps().size());
  drawLine(os, left, y, left + width, y, axisColor);
  AxisScale scale =
      makeAxisScale(0, std::max(numSteps, 1.0), unsigned(width / 90));
  double step = std::max(1.0, scale.step);
  for (double v = 0; v <= numSteps; v += step) {
    drawLine(os, getX(v), y, getX(v), y + 4, axisColor);
    drawText(os, getX(v), y + 18, formatFixed(v, 0), "text-anchor=\"middle\"");
  }
}

//===- What is drawn ------------------------------------------------------===//

/// The end of \p name, of at most \p length characters, with dots for the rest;
/// names of one network begin alike.
static std::string shorten(llvm::StringRef name, size_t length) {
  if (name.size() <= length)
    return name.str();
  llvm::StringRef tail = name.take_back(length - 1);
  // Not in the middle of a character.
  while (!tail.empty() && (tail.front() & 0xC0) == 0x80)
    tail = tail.drop_front();
  return ("…" + tail).str();
}

/// The name in the model, where the buffer has one.
static llvm::StringRef getName(const Buffer &buffer) {
  return buffer.getModelName().empty() ? buffer.getName()
                                       : buffer.getModelName();
}

void MapPrinter::drawLiveRange(llvm::raw_ostream &os, const LiveRange &range,
                               double pixelsPerByte) const {
  if (range.begin >= range.end || !range.bytes)
    return;
  double x = getX(range.begin), w = getX(range.end) - x;
  double h = double(range.bytes) * pixelsPerByte;
  double y = top + arenaHeight - double(range.offset) * pixelsPerByte - h;
  os << llvm::formatv("<g class=\"live-range\"><rect x=\"{0:F2}\" y=\"{1:F2}\" "
                      "width=\"{2:F2}\" height=\"{3:F2}\" fill=\"{4}\" "
                      "stroke=\"#495057\" stroke-width=\"0.4\"><title>",
                      x, y, w, h, colors.lookup(getWriterKind(range)));
  std::string text;
  llvm::raw_string_ostream title(text);
  llvm::StringRef name = getName(*range.buffer);
  title << name << '\n'
        << range.buffer->getType() << ", " << range.bytes << " bytes at "
        << range.offset;
  auto addStep = [&](llvm::StringRef what, std::optional<unsigned> step) {
    if (step)
      title << '\n'
            << what << ' '
            << describeStep(*step, *timeline.getSteps()[*step].instr);
  };
  addStep("written by", range.writer);
  addStep("last read by", range.reader);
  printEscaped(os, text);
  os << "</title></rect>\n";
  constexpr double leastHeight = 13, leastLength = 8;
  double length = (w - 8) / characterWidth;
  if (h >= leastHeight && length >= leastLength)
    drawText(os, x + 4, y + h / 2 + 4, shorten(name, size_t(length)),
             "pointer-events=\"none\"");
  os << "</g>\n";
}

/// A line across the image at \p y.
void MapPrinter::drawLimit(llvm::raw_ostream &os, double y,
                           llvm::StringRef label) const {
  os << llvm::formatv("<line class=\"limit\" x1=\"{0:F1}\" y1=\"{1:F1}\" "
                      "x2=\"{2:F1}\" y2=\"{1:F1}\" stroke=\"{3}\" "
                      "stroke-dasharray=\"6 4\"/>\n",
                      left, y, left + width, limitColor);
  drawText(os, left + width, y - 5, label,
           ("text-anchor=\"end\" fill=\"" + limitColor + "\"").str());
}

void MapPrinter::drawLiveBytes(llvm::raw_ostream &os) const {
  llvm::ArrayRef<TimelineStep> steps = timeline.getSteps();
  // The plan's peak is a lower bound where bodies have arenas of their own.
  AxisScale scale =
      drawByteAxis(os, liveTop, liveHeight,
                   std::max(plan.peakLiveBytes, timeline.getPeak()), "live");
  auto getY = [&](uint64_t bytes) {
    return liveTop + liveHeight - scale.map(double(bytes), liveHeight);
  };
  os << "<polyline class=\"live\" fill=\"none\" stroke-width=\"1.5\" "
        "stroke=\"#1864ab\" points=\"";
  for (auto [i, step] : llvm::enumerate(steps))
    os << llvm::formatv("{0:F2},{2:F2} {1:F2},{2:F2} ", getX(double(i)),
                        getX(double(i) + 1), getY(step.liveBytes));
  os << "\"/>\n";
  drawLimit(os, getY(plan.peakLiveBytes),
            "peak " + formatBytes(plan.peakLiveBytes));
  drawSteps(os, liveTop + liveHeight);
  drawText(os, left + width / 2, liveTop + liveHeight + 36, "instruction",
           "text-anchor=\"middle\"");
}

//===- The legend ---------------------------------------------------------===//

static double getLegendWidth(llvm::StringRef kind) {
  return 34 + double(kind.size()) * 7.5;
}

size_t MapPrinter::countLegendRows() const {
  size_t rows = 1;
  double x = left;
  for (const auto &[kind, color] : colors) {
    if (x > left && x + getLegendWidth(kind) > left + width) {
      x = left;
      ++rows;
    }
    x += getLegendWidth(kind);
  }
  return rows;
}

void MapPrinter::drawLegend(llvm::raw_ostream &os) const {
  double x = left, y = legendTop;
  for (const auto &[kind, color] : colors) {
    if (x > left && x + getLegendWidth(kind) > left + width) {
      x = left;
      y += rowHeight;
    }
    os << llvm::formatv("<rect x=\"{0:F1}\" y=\"{1:F1}\" width=\"12\" "
                        "height=\"12\" fill=\"{2}\" stroke=\"#495057\" "
                        "stroke-width=\"0.4\"/>\n",
                        x, y - 11, color);
    drawText(os, x + 17, y, kind);
    x += getLegendWidth(kind);
  }
}

void MapPrinter::print(llvm::raw_ostream &os, double start) const {
  os << llvm::formatv("<g transform=\"translate(0 {0:F1})\">\n", start);
  drawTitle(os);
  AxisScale scale =
      drawByteAxis(os, top, arenaHeight, plan.activationSize, "offset");
  double pixelsPerByte = arenaHeight / scale.high;
  auto getY = [&](uint64_t offset) {
    return top + arenaHeight - double(offset) * pixelsPerByte;
  };
  drawLimit(os, getY(plan.activationSize),
            "arena " + formatBytes(plan.activationSize));
  for (const LiveRange &range : timeline.getLiveRanges())
    drawLiveRange(os, range, pixelsPerByte);
  for (const ArenaRegion &region : plan.arenaRegions)
    if (region.size && region.getEnd() != plan.activationSize)
      drawLimit(os, getY(region.getEnd()),
                region.name + " " + formatBytes(region.size));
  if (timeline.getLiveRanges().empty())
    drawText(os, left + width / 2, top + arenaHeight / 2, "no activations",
             "text-anchor=\"middle\"");
  drawSteps(os, top + arenaHeight);
  drawLiveBytes(os);
  drawLegend(os);
  os << "</g>\n";
}

void glowish::printMemoryMap(llvm::raw_ostream &os,
                             llvm::ArrayRef<MappedProgram> programs) {
  std::vector<MapPrinter> printers;
  printers.reserve(programs.size());
  double width = 0, height = 0;
  for (const MappedProgram &program : programs) {
    printers.emplace_back(program);
    width = std::max(width, printers.back().getWidth());
    height += printers.back().getHeight();
  }
  os << llvm::formatv(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:F0}\" "
      "height=\"{1:F0}\" viewBox=\"0 0 {0:F0} {1:F0}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#212529\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  double start = 0;
  for (const MapPrinter &printer : printers) {
    printer.print(os, start);
    start += printer.getHeight();
  }
  os << "</svg>\n";
}

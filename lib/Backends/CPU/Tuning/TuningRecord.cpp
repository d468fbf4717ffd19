//===- TuningRecord.cpp - Choices that were measured ----------------------===//

#include "Tuning/TuningRecord.h"
#include "Kernels/Winograd/Winograd.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/StringExtras.h"
#include <array>

using namespace glowish;

static constexpr llvm::StringLiteral firstLine = "glowish-tuning 1";

//===- Keys ---------------------------------------------------------------===//

static Dims getInputShape(const ConvolutionShape &s) {
  return {s.batch, s.height, s.width, s.channels};
}

TuningKey::TuningKey(ConvolutionProblem newProblem, int64_t maxWinograd)
    : problem(std::move(newProblem)) {
  Dims extents = getInputShape(problem.shape), dense = getDenseStrides(extents);
  for (auto [stride, extent, denseStride] :
       llvm::zip_equal(problem.inputStrides, extents, dense))
    if (extent == 1)
      stride = denseStride;
  if (problem.kind == ElemKind::Float && maxWinograd > 0 &&
      getWinogradSize(problem.shape, maxWinograd))
    this->maxWinograd = maxWinograd;
}

bool TuningKey::operator<(const TuningKey &other) const {
  auto getNumbers = [](const TuningKey &key) {
    const ConvolutionShape &s = key.problem.shape;
    return std::array<int64_t, 20>{int64_t(key.problem.kind),
                                   key.problem.isOfBytes,
                                   key.problem.hasWideFilter,
                                   s.batch,
                                   s.height,
                                   s.width,
                                   s.channels,
                                   s.outHeight,
                                   s.outWidth,
                                   s.outChannels,
                                   s.kernelH,
                                   s.kernelW,
                                   s.group,
                                   s.strideH,
                                   s.strideW,
                                   s.padTop,
                                   s.padLeft,
                                   s.dilationH,
                                   s.dilationW,
                                   key.maxWinograd};
  };
  auto a = getNumbers(*this), b = getNumbers(other);
  return a != b ? a < b : problem.inputStrides < other.problem.inputStrides;
}

std::string glowish::getTuningTarget(const llvm::Triple &triple,
                                     const TargetDescription &target) {
  std::string result = triple.getArchName().str() + "-" +
                       (target.cpu.empty() ? "generic" : target.cpu);
  if (target.features.empty())
    return result;
  constexpr size_t longest = 24;
  if (target.features.size() <= longest)
    return result + "-" + target.features;
  uint64_t sum = checksum64(llvm::arrayRefFromStringRef(target.features));
  return result + "-" + llvm::utohexstr(sum, /*LowerCase=*/true, 16);
}

//===- Writing ------------------------------------------------------------===//

static std::string join(DimsRef dims) {
  return llvm::join(
      llvm::map_range(dims, [](int64_t d) { return std::to_string(d); }), "x");
}

/// `float`, or `uint8xint8` of bytes.
static std::string describeKinds(const ConvolutionProblem &problem) {
  std::string kind = getElemKindName(problem.kind).str();
  if (!problem.isOfBytes)
    return kind;
  ElemKind filter = problem.hasWideFilter ? ElemKind::Int16 : ElemKind::Int8;
  return kind + "x" + getElemKindName(filter).str();
}

std::string glowish::describeKey(const TuningKey &key) {
  const ConvolutionShape &s = key.problem.shape;
  Dims input = getInputShape(s);
  const Dims &strides = key.problem.inputStrides;
  bool isDense = strides == getDenseStrides(input);
  return llvm::formatv(
      "{0} {1} -> {2} kernel {3} stride {4} pad {5} dilation {6} group {7} "
      "winograd {8} input {9}",
      describeKinds(key.problem), join(input),
      join({s.outHeight, s.outWidth, s.outChannels}),
      join({s.kernelH, s.kernelW}), join({s.strideH, s.strideW}),
      join({s.padTop, s.padLeft}), join({s.dilationH, s.dilationW}), s.group,
      key.maxWinograd, isDense ? "dense" : join(strides));
}

std::string TuningRecord::str() const {
  std::string text = (firstLine + "\n").str();
  for (const auto &[key, entry] : entries) {
    text += key.first + " " + describeKey(key.second) + ": " +
            entry.candidate.str();
    if (!entry.note.empty())
      text += " # " + entry.note;
    text += "\n";
  }
  return text;
}

const TuningRecord::Entry *TuningRecord::find(llvm::StringRef target,
                                              const TuningKey &key) const {
  auto found = entries.find({target.str(), key});
  return found == entries.end() ? nullptr : &found->second;
}

void TuningRecord::set(llvm::StringRef target, const TuningKey &key,
                       Entry entry) {
  entries[{target.str(), key}] = std::move(entry);
}

//===- Reading ------------------------------------------------------------===//

namespace {

/// Parses a line from its start. At the first mismatch the rest is left, and
/// the parser remains in an error state.
class LineParser {
public:
  explicit LineParser(llvm::StringRef text) : rest(text) {}
  bool isGood() const { return good; }
  bool isAtEnd() const { return good && rest.empty(); }

  void expect(llvm::StringRef text) { good = good && rest.consume_front(text); }
  /// Up to the next space, which is taken, too.
  llvm::StringRef word() {
    auto [first, others] = rest.split(' ');
    good = good && !first.empty() && others.data() != nullptr;
    rest = others;
    return first;
  }
  void number(int64_t &value, int64_t least) {
    good = good && !rest.consumeInteger(10, value) && value >= least;
  }
  /// `8x3`: at least \p least each.
  void numbers(llvm::ArrayRef<int64_t *> values, int64_t least) {
    for (int64_t *value : values) {
      if (value != values.front())
        expect("x");
      number(*value, least);
    }
  }

  llvm::StringRef rest;

private:
  bool good = true;
};

} // namespace

static bool parseStrides(LineParser &parser, TuningKey &key) {
  Dims &s = key.problem.inputStrides;
  s = getDenseStrides(getInputShape(key.problem.shape));
  if (parser.rest.consume_front("dense"))
    return true;
  parser.numbers({&s[0], &s[1], &s[2], &s[3]},
                 std::numeric_limits<int64_t>::min());
  return parser.isGood();
}

/// What describeKinds writes.
static bool parseKinds(llvm::StringRef text, ConvolutionProblem &problem) {
  auto [own, filter] = text.split('x');
  std::optional<ElemKind> kind = parseElemKind(own);
  if (!kind || !(isFloatKind(*kind) || isIntegerKind(*kind)))
    return false;
  problem.kind = *kind;
  if (own == text)
    return true;
  problem.isOfBytes = true;
  problem.hasWideFilter = parseElemKind(filter) == ElemKind::Int16;
  return describeKinds(problem) == text;
}

/// Whether input, output and filter have shapes that a tensor may have:
/// products of other extents could overflow.
static bool areShapesValid(const ConvolutionProblem &problem) {
  const ConvolutionShape &s = problem.shape;
  for (const Dims &shape :
       {getInputShape(s), Dims{s.batch, s.outHeight, s.outWidth, s.outChannels},
        Dims{s.outChannels, s.kernelH, s.kernelW, s.channels / s.group}})
    if (llvm::Error error = checkShape(problem.kind, shape)) {
      llvm::consumeError(std::move(error));
      return false;
    }
  return true;
}

/// `KIND NxHxWxC -> ... input STRIDES: `.
static bool parseKey(LineParser &parser, TuningKey &key) {
  if (!parseKinds(parser.word(), key.problem))
    return false;
  ConvolutionShape &s = key.problem.shape;
  parser.numbers({&s.batch, &s.height, &s.width, &s.channels}, 1);
  parser.expect(" -> ");
  parser.numbers({&s.outHeight, &s.outWidth, &s.outChannels}, 1);
  parser.expect(" kernel ");
  parser.numbers({&s.kernelH, &s.kernelW}, 1);
  parser.expect(" stride ");
  parser.numbers({&s.strideH, &s.strideW}, 1);
  parser.expect(" pad ");
  parser.numbers({&s.padTop, &s.padLeft}, 0);
  parser.expect(" dilation ");
  parser.numbers({&s.dilationH, &s.dilationW}, 1);
  parser.expect(" group ");
  parser.number(s.group, 1);
  parser.expect(" winograd ");
  parser.number(key.maxWinograd, 0);
  parser.expect(" input ");
  if (!parser.isGood() || !areShapesValid(key.problem) ||
      !parseStrides(parser, key))
    return false;
  parser.expect(": ");
  return parser.isGood();
}

llvm::Expected<TuningRecord> TuningRecord::parse(llvm::StringRef text,
                                                 llvm::StringRef path) {
  TuningRecord record;
  auto [first, lines] = text.split('\n');
  if (first != firstLine)
    return makeError("{0}:1: {1} is not the first line of a tuning file; '{2}' "
                     "is",
                     path, quote(first), firstLine);
  for (unsigned number = 2; !lines.empty(); ++number) {
    llvm::StringRef line;
    std::tie(line, lines) = lines.split('\n');
    auto [statement, note] = line.split('#');
    LineParser parser(statement);
    TuningKey key;
    std::string target = parser.word().str();
    if (!parser.isGood() || !parseKey(parser, key))
      return makeError(
          "{0}:{1}: {2} does not begin with a target and a shape; the form is "
          "'TARGET KIND NxHxWxC -> HxWxC kernel HxW stride HxW pad TOPxLEFT "
          "dilation HxW group G winograd LIMIT input STRIDES: CHOICE'",
          path, number, quote(line));
    llvm::StringRef choice = parser.rest.rtrim(' ');
    auto candidate = ConvolutionCandidate::parse(choice);
    if (!candidate)
      return makeError("{0}:{1}: {2} is not a choice; {3} are", path, number,
                       quote(choice), ConvolutionCandidate::listForms());
    if (record.find(target, key))
      return makeError("{0}:{1}: a line before it has the same target and "
                       "shape; each has one line",
                       path, number);
    record.set(target, key, {*candidate, note.trim(' ').str()});
  }
  return record;
}

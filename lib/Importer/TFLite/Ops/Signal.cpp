//===- Signal.cpp - Features of sound -------------------------------------===//
//
// Custom operators of TensorFlow Lite Micro that make the logarithms of
// energies in bands of frequencies, with automatic gain, of 16-bit samples. All
// is computed in integers, and with the same results. (Wang et al., Trainable
// Frontend For Robust and Far-Field Keyword Spotting, 2016.)
//
//===----------------------------------------------------------------------===//

#include "TFLite/Signal.h"
#include "TFLite/CustomOptions.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

//===- Samples ------------------------------------------------------------===//

/// Rows times a window, / 2^shift, saturated.
static llvm::Error importWindow(TFLiteOp &op) {
  for (unsigned i : {0u, 1u})
    GLOWISH_RETURN_IF_ERROR(op.checkKind(i, ElemKind::Int16));
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  GLOWISH_ASSIGN_OR_RETURN(int64_t shift, options.getInt("shift", 0, 31));
  NodeValue weighted = op.mul(op.cast(op.input(0), ElemKind::Int32),
                              op.cast(op.input(1), ElemKind::Int32));
  return op.setOutput(
      0, op.cast(op.clip(shiftRight(op, weighted, shift), INT16_MIN, INT16_MAX),
                 ElemKind::Int16));
}

/// The squared magnitudes of complex numbers start_index ... end_index - 1; 0
/// of the others.
static llvm::Error importEnergy(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Int16));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 1));
  int64_t count = op.getShape(0)[0] / 2;
  if (op.getShape(0)[0] % 2 != 0)
    return op.refuseInput(0, "pairs of elements");
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  GLOWISH_ASSIGN_OR_RETURN(int64_t begin,
                           options.getInt("start_index", 0, count));
  GLOWISH_ASSIGN_OR_RETURN(int64_t end,
                           options.getInt("end_index", begin, count));
  NodeValue x = op.cast(op.reshape(op.input(0), {count, 2}), ElemKind::Int32);
  x = op.slice(x, 0, begin, end - begin);
  NodeValue energies = op.reduce(op.mul(x, x), "sum", {1}, /*keepDims=*/false);
  return op.setOutput(
      0, op.pad(op.cast(energies, ElemKind::UInt32), {begin, count - end}, 0));
}

//===- Bands --------------------------------------------------------------===//

namespace {

namespace bankInput {
constexpr unsigned weights = 1, unweights = 2, starts = 3, weightStarts = 4,
                   widths = 5;
}

/// Which energies a band sums up, and their factors.
struct Band {
  std::vector<int64_t> frequencies, factors;
};

/// The constants of SignalFilterBank. There is one more entry of each than
/// there are bands: what rises to the first one.
struct FilterBank {
  std::vector<int64_t> weights, unweights, starts, weightStarts, widths;

  static llvm::Expected<FilterBank> read(const TFLiteOp &op);
  /// Appends entry \p i, times \p factors, to \p band; an error if it is
  /// outside of \p numFrequencies or of the factors.
  llvm::Error append(size_t i, llvm::ArrayRef<int64_t> factors,
                     int64_t numFrequencies, Band &band) const;
};

} // namespace

llvm::Expected<FilterBank> FilterBank::read(const TFLiteOp &op) {
  FilterBank bank;
  for (auto [index, values] :
       {std::pair(bankInput::weights, &bank.weights),
        std::pair(bankInput::unweights, &bank.unweights),
        std::pair(bankInput::starts, &bank.starts),
        std::pair(bankInput::weightStarts, &bank.weightStarts),
        std::pair(bankInput::widths, &bank.widths)}) {
    GLOWISH_RETURN_IF_ERROR(op.checkKind(index, ElemKind::Int16));
    GLOWISH_ASSIGN_OR_RETURN(*values, op.getConstantInts(index));
  }
  return bank;
}

llvm::Error FilterBank::append(size_t i, llvm::ArrayRef<int64_t> factors,
                               int64_t numFrequencies, Band &band) const {
  for (int64_t j = 0; j < widths[i]; ++j) {
    int64_t frequency = starts[i] + j, factor = weightStarts[i] + j;
    if (frequency < 0 || frequency >= numFrequencies || factor < 0 ||
        factor >= int64_t(factors.size()))
      return makeError("band {0} is not within {1} frequencies and {2} weights",
                       i, numFrequencies, factors.size());
    band.frequencies.push_back(frequency);
    band.factors.push_back(factors[factor]);
  }
  return llvm::Error::success();
}

/// Energies, summed up in bands that overlap: what a frequency adds to a band
/// it lacks in the one before.
static llvm::Error importFilterBank(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::UInt32));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 1));
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  GLOWISH_ASSIGN_OR_RETURN(FilterBank bank, FilterBank::read(op));
  GLOWISH_ASSIGN_OR_RETURN(
      int64_t count, options.getInt("num_channels", 1,
                                    int64_t(std::min({bank.starts.size(),
                                                      bank.weightStarts.size(),
                                                      bank.widths.size()})) -
                                        1));
  // A small file may state bands that are large, and many.
  int64_t numFactors = 0;
  for (int64_t i = 0; i <= count; ++i)
    numFactors += 2 * std::max<int64_t>(bank.widths[size_t(i)], 0);
  constexpr int64_t most = 1 << 20;
  if (numFactors > most)
    return makeError("its bands have {0} factors; accepted: at most {1}",
                     numFactors, most);
  int64_t numFrequencies = op.getShape(0)[0], width = 1;
  std::vector<Band> bands(static_cast<size_t>(count));
  for (size_t i = 0; i < bands.size(); ++i) {
    GLOWISH_RETURN_IF_ERROR(
        bank.append(i, bank.unweights, numFrequencies, bands[i]));
    GLOWISH_RETURN_IF_ERROR(
        bank.append(i + 1, bank.weights, numFrequencies, bands[i]));
    width = std::max(width, int64_t(bands[i].factors.size()));
  }
  // Shorter bands are filled up with a factor of 0.
  auto table = [&](ElemKind kind, std::vector<int64_t> Band::*member) {
    return op.table(kind, {count, width}, [&](DimsRef index) {
      const std::vector<int64_t> &values = bands[size_t(index[0])].*member;
      return size_t(index[1]) < values.size() ? double(values[size_t(index[1])])
                                              : 0;
    });
  };
  NodeValue energies =
      op.gather(op.input(0), table(ElemKind::Int32, &Band::frequencies),
                /*axis=*/0);
  NodeValue weighted =
      op.mul(op.cast(energies, ElemKind::UInt64),
             op.cast(table(ElemKind::Int16, &Band::factors), ElemKind::UInt64));
  return op.setOutput(0, op.reduce(weighted, "sum", {1}, /*keepDims=*/false));
}

/// The square roots, rounded to the nearest and then shifted by input 1.
static llvm::Error importSquareRoot(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::UInt64));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(1, ElemKind::Int32));
  if (op.input(1).getType().getNumElements() != 1)
    return op.refuseInput(1, "one element");
  NodeValue x = op.input(0);
  NodeValue largest = op.uint64(UINT32_MAX);
  // That of a double is off by one at most.
  NodeValue root = op.cast(op.unary<SqrtNode>(op.cast(x, ElemKind::Double)),
                           ElemKind::UInt64);
  root = op.min(root, largest);
  root = op.select(op.greater(op.mul(root, root), x), op.sub(root, 1), root);
  auto getRest = [&] { return op.sub(x, op.mul(root, root)); };
  root =
      op.select(op.greater(getRest(), op.mul(root, 2)), op.add(root, 1), root);
  // Roots of 32 bits stay below 2^16, and those of 64 below 2^32.
  NodeValue limit =
      op.select(op.greater(x, largest), largest, op.uint64(UINT16_MAX));
  NodeValue roundsUp =
      op.logicalAnd(op.greater(getRest(), root), op.less(root, limit));
  root = op.cast(op.select(roundsUp, op.add(root, 1), root), ElemKind::UInt32);
  NodeValue shift = op.cast(op.reshape(op.input(1), {}), ElemKind::UInt32);
  return op.setOutput(0, op.make<ShiftRightNode>(root, shift));
}

//===- Noise --------------------------------------------------------------===//

/// \p x / 2^bits as uint32, of uint64.
static NodeValue shiftToWord(TFLiteOp &op, NodeValue x, int64_t bits) {
  if (bits)
    x = op.make<ShiftRightNode>(x, op.uint64(uint64_t(bits)));
  return op.cast(x, ElemKind::UInt32);
}

namespace {

/// The options of SignalFilterBankSpectralSubtraction: fractions have
/// fractionBits bits behind the point.
struct Subtraction {
  /// Of bands with even and with odd numbers: the weights of the new estimate
  /// and of the last one.
  int64_t smoothing[2], oneMinusSmoothing[2];
  int64_t smoothingBits, fractionBits, least, count;
  bool clamps;

  static llvm::Expected<Subtraction> read(const TFLiteOp &op);
};

} // namespace

llvm::Expected<Subtraction> Subtraction::read(const TFLiteOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  Subtraction result{.smoothing = {},
                     .oneMinusSmoothing = {},
                     .smoothingBits = 0,
                     .fractionBits = 0,
                     .least = 0,
                     .count = op.getShape(0)[0],
                     .clamps = options.get("clamping").AsBool()};
  struct Entry {
    const char *name;
    int64_t *value, most;
  };
  const Entry entries[] = {
      {"smoothing", &result.smoothing[0], INT32_MAX},
      {"alternate_smoothing", &result.smoothing[1], INT32_MAX},
      {"one_minus_smoothing", &result.oneMinusSmoothing[0], INT32_MAX},
      {"alternate_one_minus_smoothing", &result.oneMinusSmoothing[1],
       INT32_MAX},
      {"min_signal_remaining", &result.least, INT32_MAX},
      {"smoothing_bits", &result.smoothingBits, 31},
      {"spectral_subtraction_bits", &result.fractionBits, 63}};
  for (const Entry &entry : entries) {
    GLOWISH_ASSIGN_OR_RETURN(*entry.value,
                             options.getInt(entry.name, 0, entry.most));
  }
  GLOWISH_RETURN_IF_ERROR(
      options.getInt("num_channels", result.count, result.count).takeError());
  return result;
}

/// An estimate of the noise, which follows the energies slowly and is kept from
/// run to run, is subtracted, but for a share of the energy.
static llvm::Error importSpectralSubtraction(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::UInt32));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 1));
  GLOWISH_ASSIGN_OR_RETURN(Subtraction options, Subtraction::read(op));
  TFLiteVariable &variable = op.getContext().model.getResource(
      "SignalFilterBankSpectralSubtraction", op.getName());
  variable.type = Type(ElemKind::UInt32, op.getShape(0));
  VariableScope &variables = op.getContext().variables;
  NodeValue last = variables.read(variable);

  auto alternate = [&](const int64_t(&values)[2]) {
    return op.table(ElemKind::UInt64, {options.count}, [&](DimsRef index) {
      return double(values[index[0] % 2]);
    });
  };
  auto wide = [&](NodeValue x) { return op.cast(x, ElemKind::UInt64); };
  NodeValue scaled = op.make<ShiftLeftNode>(
      op.input(0), op.scalar(ElemKind::UInt32, double(options.smoothingBits)));
  NodeValue estimate = shiftToWord(
      op,
      op.add(op.mul(wide(scaled), alternate(options.smoothing)),
             op.mul(wide(last), alternate(options.oneMinusSmoothing))),
      options.fractionBits);
  NodeValue subtracted = op.min(estimate, scaled);
  if (options.clamps)
    estimate = subtracted;
  variables.assign(variable, estimate);
  NodeValue least = shiftToWord(
      op, op.mul(wide(op.input(0)), op.uint64(uint64_t(options.least))),
      options.fractionBits);
  NodeValue rest = op.make<ShiftRightNode>(
      op.sub(scaled, subtracted),
      op.scalar(ElemKind::UInt32, double(options.smoothingBits)));
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, op.max(rest, least)));
  return op.setOutput(1, estimate);
}

//===- Gain ---------------------------------------------------------------===//

/// The function of uint32 \p x that \p table states: its values for 0, 1 and 2,
/// then three coefficients of a polynomial for each power of two.
static NodeValue interpolate(TFLiteOp &op, NodeValue x, NodeValue table) {
  NodeValue bits = countBits(op, x, 32);
  NodeValue isSmall = op.lessOrEqual(x, 2);
  // From 3 on, which has two bits.
  NodeValue first = op.max(op.sub(op.mul(bits, 4), 6), 2);
  auto coefficient = [&](double index) {
    return op.cast(op.gather(table, op.add(first, index), 0), ElemKind::Int32);
  };
  auto shift = [&](NodeValue by) {
    return op.cast(op.max(by, 0), ElemKind::UInt32);
  };
  NodeValue left = op.make<ShiftLeftNode>(x, shift(op.sub(11, bits)));
  NodeValue fraction = op.make<ShiftRightNode>(left, shift(op.sub(bits, 11)));
  fraction =
      op.cast(op.make<BitAndNode>(fraction, op.scalar(ElemKind::UInt32, 0x3FF)),
              ElemKind::Int32);
  NodeValue sum = shiftRight(op, op.mul(coefficient(2), fraction), 5);
  sum = op.mul(op.add(sum, op.mul(coefficient(1), 32)), fraction);
  sum = op.add(shiftRight(op, op.add(sum, 1 << 14), 15), coefficient(0));
  NodeValue index = op.cast(op.min(x, 2), ElemKind::Int32);
  NodeValue value = op.cast(op.gather(table, index, 0), ElemKind::Int32);
  return op.cast(op.select(isSmall, value, sum), ElemKind::Int16);
}

/// Energies times a gain that depends on the noise, and compressed: x^2 / 4
/// below 2, x - 1 from there on. The ratio has 12 bits behind the point, the
/// result 6.
static llvm::Error importPCAN(TFLiteOp &op) {
  for (unsigned i : {0u, 1u})
    GLOWISH_RETURN_IF_ERROR(op.checkKind(i, ElemKind::UInt32));
  GLOWISH_RETURN_IF_ERROR(op.checkKind(2, ElemKind::Int16));
  GLOWISH_RETURN_IF_ERROR(op.checkRank(2, 1));
  // Three coefficients for numbers of 32 bits begin at 4 * 32 - 6.
  if (op.getShape(0) != op.getShape(1))
    return op.refuseInput(1, "as many elements as input 0 has");
  if (op.getShape(2)[0] < 125)
    return op.refuseInput(2, "125 elements");
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  GLOWISH_ASSIGN_OR_RETURN(int64_t shift, options.getInt("snr_shift", 0, 63));
  NodeValue gain =
      op.cast(interpolate(op, op.input(1), op.input(2)), ElemKind::Int32);
  NodeValue amplified =
      op.mul(op.cast(op.input(0), ElemKind::UInt64),
             op.cast(op.cast(gain, ElemKind::UInt32), ElemKind::UInt64));
  NodeValue ratio = shiftToWord(op, amplified, shift);
  auto bits = [&](double count) { return op.scalar(ElemKind::UInt32, count); };
  NodeValue squares =
      op.make<ShiftRightNode>(op.mul(ratio, ratio), bits(2 + 2 * 12 - 6));
  NodeValue line = op.sub(op.make<ShiftRightNode>(ratio, bits(12 - 6)), 1 << 6);
  return op.setOutput(0, op.select(op.less(ratio, 2 << 12), squares, line));
}

//===- Logarithms ---------------------------------------------------------===//

/// The binary logarithm of 1 + i / 128, less i / 128, with 16 bits behind the
/// point.
static NodeValue makeLogarithms(TFLiteOp &op) {
  return op.table(ElemKind::Int32, {130}, [](DimsRef index) {
    double x = double(std::min<int64_t>(index[0], 128)) / 128;
    return std::floor(.5 + 65536 * (std::log2(1 + x) - x));
  });
}

/// The natural logarithms times `output_scale`, of the input times 2 to the
/// power of `input_correction_bits`; 0 for 0.
static llvm::Error importLog(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::UInt32));
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  GLOWISH_ASSIGN_OR_RETURN(int64_t scale,
                           options.getInt("output_scale", 0, INT32_MAX));
  GLOWISH_ASSIGN_OR_RETURN(int64_t correction,
                           options.getInt("input_correction_bits", 0, 31));
  NodeValue x = op.make<ShiftLeftNode>(
      op.input(0), op.scalar(ElemKind::UInt32, double(correction)));
  // The power of two below x, and what x is more, with 16 bits behind the
  // point.
  NodeValue power = op.max(op.sub(countBits(op, x, 32), 1), 0);
  NodeValue rest =
      op.sub(x, op.make<ShiftLeftNode>(op.number(x, 1),
                                       op.cast(power, ElemKind::UInt32)));
  auto shift = [&](NodeValue by) {
    return op.cast(op.max(by, 0), ElemKind::UInt32);
  };
  rest = op.make<ShiftLeftNode>(rest, shift(op.sub(16, power)));
  rest = op.cast(op.make<ShiftRightNode>(rest, shift(op.sub(power, 16))),
                 ElemKind::Int32);
  NodeValue table = makeLogarithms(op);
  NodeValue segment = shiftRight(op, rest, 9);
  NodeValue low = op.gather(table, segment, 0);
  NodeValue high = op.gather(table, op.add(segment, 1), 0);
  NodeValue between =
      op.mul(op.sub(high, low), op.sub(rest, op.mul(segment, 512)));
  NodeValue fraction = op.add(op.add(rest, low), shiftRight(op, between, 16));
  NodeValue binary = op.add(op.mul(power, 65536), fraction);

  // log(2) with 16 bits behind the point.
  constexpr uint64_t log2 = 45426;
  NodeValue natural =
      shiftToWord(op,
                  op.add(op.mul(op.cast(op.cast(binary, ElemKind::UInt32),
                                        ElemKind::UInt64),
                                op.uint64(log2)),
                         op.uint64(1 << 15)),
                  16);
  NodeValue scaled =
      op.make<ShiftRightNode>(op.add(op.mul(natural, double(scale)), 1 << 15),
                              op.scalar(ElemKind::UInt32, 16));
  NodeValue result = op.min(scaled, INT16_MAX);
  result = op.select(op.greater(x, 1), result, op.number(result, 0));
  return op.setOutput(0, op.cast(result, ElemKind::Int16));
}

static const TFLiteOperators operators = {
    {"SignalWindow",
     importWindow,
     {.inputs = 2, .needsKnownExtents = true, .limit = "int16"}},
    {"SignalEnergy",
     importEnergy,
     {.needsKnownExtents = true, .limit = "int16"}},
    {"SignalFilterBank",
     importFilterBank,
     {.inputs = 6, .needsKnownExtents = true, .limit = "constant bands"}},
    {"SignalFilterBankSquareRoot",
     importSquareRoot,
     {.inputs = 2, .needsKnownExtents = true}},
    {"SignalFilterBankSpectralSubtraction",
     importSpectralSubtraction,
     {.minOutputs = 2, .needsKnownExtents = true}},
    {"SignalPCAN", importPCAN, {.inputs = 3, .needsKnownExtents = true}},
    {"SignalFilterBankLog", importLog, {.needsKnownExtents = true}}};

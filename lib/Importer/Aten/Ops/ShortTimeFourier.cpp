//===- ShortTimeFourier.cpp - stft and istft ------------------------------===//

#include "Aten/Complex.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

namespace {

/// The frames of a signal.
struct Frames {
  /// The number of elements, and how far one begins behind the one before.
  int64_t length = 1, hop = 1;
  /// The factors of the elements of each.
  ComplexParts window = {};
  /// The divisor of the transform.
  double divisor = 1;

  int64_t getHalf() const { return length / 2 + 1; }
};

} // namespace

/// Reads the arguments that stft and istft have alike. A window that is shorter
/// than a frame is in its middle.
static llvm::Expected<Frames> readFrames(AtenOp &op, ElemKind kind) {
  Frames frames;
  frames.length = op.integer("n_fft");
  auto get = [&](llvm::StringRef argument, int64_t ifNone) {
    return op.isNone(argument) ? ifNone : op.integer(argument);
  };
  frames.hop = get("hop_length", frames.length / 4);
  int64_t size = get("win_length", frames.length);
  ComplexParts window = op.complex("window");
  if (frames.length < 1 || frames.length > INT32_MAX || frames.hop < 1 ||
      frames.hop > INT32_MAX || size < 1 || size > frames.length ||
      (window.real && window.real.getShape() != DimsRef({size})))
    return makeError("frames of {0} elements every {1} have a window of {2}; "
                     "accepted: 1 to 2^31 - 1, and a window that is no longer "
                     "than a frame",
                     frames.length, frames.hop,
                     window.real ? window.real.getType().str()
                                 : std::to_string(size));
  if (!window.real)
    window.real = op.splat(kind, {size}, 1);
  int64_t before = (frames.length - size) / 2;
  auto center = [&](NodeValue part) {
    return op.pad(op.cast(part, kind), {before, frames.length - size - before},
                  0);
  };
  frames.window = {center(window.real), center(window.imaginary)};
  frames.divisor = op.flag("normalized") ? std::sqrt(double(frames.length)) : 1;
  return frames;
}

/// Returns \p signal with half a frame before its first and behind its last
/// element, as `pad_mode` states.
static llvm::Expected<ComplexParts> padSignal(AtenOp &op, ComplexParts signal) {
  DimsRef shape = signal.real.getShape();
  int64_t half = op.integer("n_fft") / 2;
  // Padding takes images, and pads their last dimension.
  auto reshape = [&](NodeValue part) {
    return op.reshape(part,
                      {1, shape.size() == 2 ? shape[0] : 1, shape.back()});
  };
  AtenValue self = reshape(signal.real);
  if (signal.imaginary)
    self = AtenComplex{reshape(signal.real), reshape(signal.imaginary)};
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List padded,
                           op.call("pad", {self, AtenValue::List{half, half},
                                           op.text("pad_mode"), AtenValue()}));
  Dims whole(shape);
  whole.back() += 2 * half;
  if (!padded[0].isComplex())
    return ComplexParts{op.reshape(padded[0].get<NodeValue>(), whole), {}};
  const auto &[real, imaginary] = padded[0].get<AtenComplex>();
  return ComplexParts{op.reshape(real, whole), op.reshape(imaginary, whole)};
}

static llvm::Error importStft(AtenOp &op) {
  ComplexParts signal = op.complex("self");
  DimsRef shape = signal.real.getShape();
  if ((shape.size() != 1 && shape.size() != 2) ||
      !isFloatKind(signal.real.getElemKind()))
    return op.refuse("self", "floats with one or two dimensions");
  GLOWISH_ASSIGN_OR_RETURN(Frames frames,
                           readFrames(op, signal.real.getElemKind()));
  if (op.isStated("align_to_window") && op.flag("align_to_window"))
    return op.refuse("align_to_window", "None and False");
  bool isComplex = signal.imaginary || frames.window.imaginary;
  if (op.has("center") && op.flag("center")) {
    GLOWISH_ASSIGN_OR_RETURN(signal, padSignal(op, signal));
    GLOWISH_RETURN_IF_ERROR(op.takeError());
    shape = signal.real.getShape();
  }
  int64_t extent = shape.back();
  if (frames.length > extent)
    return op.refuse("n_fft", llvm::formatv("1 to {0}", extent).str());
  bool isOneSided = op.isNone("onesided") ? !isComplex : op.flag("onesided");
  if (isOneSided && isComplex)
    return op.refuse("onesided",
                     "False, where 'self' or the window is complex");
  int64_t count = (extent - frames.length) / frames.hop + 1;
  NodeValue positions =
      op.table(ElemKind::Int64, {count, frames.length}, [&](DimsRef index) {
        return double(index[0] * frames.hop + index[1]);
      });
  int64_t axis = int64_t(shape.size()) - 1;
  auto cut = [&](NodeValue part) { return op.gather(part, positions, axis); };
  ComplexParts own =
      multiply(op, {cut(signal.real), cut(signal.imaginary)}, frames.window);
  FourierTransform t{.length = frames.length,
                     .inputs = frames.length,
                     .outputs = isOneSided ? frames.getHalf() : frames.length,
                     .divisor = frames.divisor};
  ComplexParts result = transformFourier(op, own, axis + 1, t);
  // Frequencies come first.
  result = {op.transposeLast(result.real), op.transposeLast(result.imaginary)};
  if (op.isNone("return_complex") ? isComplex : op.flag("return_complex"))
    return op.setResult(result);
  return op.setResult(joinPairs(op, result));
}

/// Adds up \p frames [batch, count, length], each of which begins \p hop
/// elements behind the one before: [batch, length + (count - 1) * hop].
static NodeValue addOverlapping(AtenOp &op, NodeValue frames, int64_t hop) {
  if (!frames)
    return frames;
  int64_t batch = frames.getShape()[0], count = frames.getShape()[1],
          length = frames.getShape()[2];
  // Pieces of `hop` elements; those with one number are of one frame each.
  int64_t pieces = llvm::divideCeil(length, hop);
  frames = op.reshape(op.pad(frames, {0, 0, 0, 0, 0, pieces * hop - length}, 0),
                      {batch, count, pieces, hop});
  NodeValue sum;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    NodeValue own =
        op.reshape(op.slice(frames, 2, piece, 1), {batch, count, hop});
    own = op.pad(own, {0, piece, 0, 0, pieces - 1 - piece, 0}, 0);
    sum = sum ? op.add(sum, own) : own;
  }
  sum = op.reshape(sum, {batch, (count + pieces - 1) * hop});
  return op.slice(sum, 1, 0, length + (count - 1) * hop);
}

static llvm::Error importIstft(AtenOp &op) {
  ComplexParts spectrum = op.complex("self");
  DimsRef shape = spectrum.real.getShape();
  if (!spectrum.imaginary || (shape.size() != 2 && shape.size() != 3))
    return op.refuse("self", "a complex tensor with two or three dimensions");
  if (op.flag("return_complex"))
    return op.refuse("return_complex", "False");
  GLOWISH_ASSIGN_OR_RETURN(Frames frames,
                           readFrames(op, spectrum.real.getElemKind()));
  NodeValue window = frames.window.real;
  if (frames.window.imaginary)
    return op.refuse("window", "real elements");
  bool isOneSided = op.isNone("onesided")
                        ? shape.drop_back().back() != frames.length
                        : op.flag("onesided");
  int64_t stored = isOneSided ? frames.getHalf() : frames.length;
  int64_t count = shape.back(), batch = shape.size() == 3 ? shape[0] : 1;
  std::optional<int64_t> all =
      (CheckedInt(count) * frames.hop + frames.length).get();
  if (shape.drop_back().back() != stored || count < 1 || !all ||
      *all > maxTensorBytes)
    return op.refuse(
        "self", llvm::formatv("{0} frequencies, and frames", stored).str());
  auto enter = [&](NodeValue part) {
    return op.transposeLast(op.reshape(part, {batch, stored, count}));
  };
  // Half of a spectrum has all that a real signal depends on.
  FourierTransform t{.length = frames.length,
                     .inputs = frames.getHalf(),
                     .outputs = frames.length,
                     .isInverse = true,
                     .fromHalf = true,
                     .divisor = double(frames.length) / frames.divisor};
  NodeValue signal =
      transformFourier(op, {enter(spectrum.real), enter(spectrum.imaginary)}, 2,
                       t)
          .real;
  signal = addOverlapping(op, op.mul(signal, window), frames.hop);
  NodeValue square = op.mul(window, window);
  NodeValue weight =
      square
          ? addOverlapping(op, op.broadcast(square, {1, count, frames.length}),
                           frames.hop)
          : square;
  int64_t begin = op.flag("center") ? frames.length / 2 : 0;
  int64_t extent = frames.length + (count - 1) * frames.hop;
  int64_t length =
      op.isNone("length") ? extent - 2 * begin : op.integer("length");
  int64_t size = std::min(length, extent - begin);
  if (length < 1 || length > maxTensorBytes)
    return op.refuse("length", "a signal with elements");
  signal = op.div(op.slice(signal, 1, begin, size),
                  op.slice(weight, 1, begin, size));
  signal = op.pad(signal, {0, 0, 0, length - size}, 0);
  return op.setResult(shape.size() == 3 ? signal
                                        : op.reshape(signal, {length}));
}

//===- Windows ------------------------------------------------------------===//

static llvm::Error setWindow(AtenOp &op, const CosineWindow &window) {
  int64_t size = op.integer("window_length");
  if (size < 0 || size > INT32_MAX)
    return op.refuse("window_length", "0 to 2^31 - 1");
  bool isPeriodic = !op.has("periodic") || op.flag("periodic");
  ElemKind kind = op.kind("dtype", ElemKind::Float);
  if (size == 1)
    return op.setResult(op.table(kind, {1}, [](DimsRef) { return 1.0; }));
  return op.setResult(makeWindow(op, kind, size, isPeriodic, window));
}

static llvm::Error importHann(AtenOp &op) {
  return setWindow(op, {.mean = 0.5, .first = 0.5});
}
static llvm::Error importHamming(AtenOp &op) {
  return setWindow(op, {.mean = 0.54, .first = 0.46});
}
static llvm::Error importBlackman(AtenOp &op) {
  return setWindow(op, {.mean = 0.42, .first = 0.5, .second = 0.08});
}

static AtenOperators windows(
    {"(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     ".periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor"},
    {{importHann, {"hann_window"}},
     {importHamming, {"hamming_window"}},
     {importBlackman, {"blackman_window"}}});

//===- Registration -------------------------------------------------------===//

static AtenOperators transforms(
    {{importStft,
      {"stft(Tensor self, int n_fft, int? hop_length=None, int? "
       "win_length=None, Tensor? window=None, bool normalized=False, bool? "
       "onesided=None, bool? return_complex=None, bool? align_to_window=None) "
       "-> Tensor",
       "stft.center(Tensor self, int n_fft, int? hop_length=None, int? "
       "win_length=None, Tensor? window=None, bool center=True, str "
       "pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? "
       "return_complex=None, bool? align_to_window=None) -> Tensor"}},
     {importIstft,
      {"istft(Tensor self, int n_fft, int? hop_length=None, int? "
       "win_length=None, Tensor? window=None, bool center=True, bool "
       "normalized=False, bool? onesided=None, int? length=None, bool "
       "return_complex=False) -> Tensor"}}},
    AtenOrder::Unknown, AtenElements::RealOrComplex);

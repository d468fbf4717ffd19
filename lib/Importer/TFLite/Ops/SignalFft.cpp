//===- SignalFft.cpp - Spectra of 16-bit integers -------------------------===//
//
// The custom operators SignalFftAutoScale and SignalRfft of TensorFlow Lite
// Micro. The transform is kissfft's of 16-bit numbers, whose roundings are
// repeated here: complex numbers of half the length, in steps of radix 4 or 2,
// each of which divides by its radix first; then what belongs to the even and
// to the odd samples is told apart. Integers are computed in int32, and wrap
// where they would be stored as int16.
//
//===----------------------------------------------------------------------===//

#include "TFLite/CustomOptions.h"
#include "TFLite/Signal.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

//===- Scaling ------------------------------------------------------------===//

/// The integers, times the largest power of two with which all fit into 15
/// bits, and its exponent.
static llvm::Error importAutoScale(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Int16));
  NodeValue x = op.cast(op.input(0), ElemKind::Int32);
  NodeValue largest =
      op.reduce(op.unary<AbsNode>(x), "max", getAllDims(op.getShape(0).size()),
                /*keepDims=*/false);
  NodeValue bits = op.sub(15, countBits(op, largest, 15));
  bits = op.select(op.equal(largest, 0), op.number(bits, 0), bits);
  bits = op.max(bits, 0);
  NodeValue scaled = op.make<ShiftLeftNode>(x, bits);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, op.cast(scaled, ElemKind::Int16)));
  return op.setOutput(1, op.reshape(bits, op.getStatedType(1).getShape()));
}

//===- Complex numbers ----------------------------------------------------===//

namespace {

/// Arrays of int32 with the values of int16.
struct Complex {
  NodeValue real, imaginary;
};

/// Angles in turns; one sine and cosine for each.
struct Twiddles {
  NodeValue cosines, sines;
};

/// Builds a transform of \p count complex numbers.
class SpectrumBuilder {
public:
  SpectrumBuilder(TFLiteOp &op, int64_t count) : op(op), count(count) {}

  /// Those of all rows of \p x, [batch, length], where length divides count.
  Complex transform(Complex x, int64_t batch, int64_t length);
  /// The spectrum of [batch, 2 * count] real numbers, of which \p x is the
  /// transform as complex ones: [batch, count + 1].
  Complex separate(Complex x);

private:
  NodeValue wrap(NodeValue x) {
    return op.cast(op.cast(x, ElemKind::Int16), ElemKind::Int32);
  }
  /// x / 2^15, rounded to the nearest, halves up.
  NodeValue round(NodeValue x) {
    return wrap(shiftRight(op, op.add(x, 1 << 14), 15));
  }
  Complex add(Complex x, Complex y) {
    return {wrap(op.add(x.real, y.real)),
            wrap(op.add(x.imaginary, y.imaginary))};
  }
  Complex subtract(Complex x, Complex y) {
    return {wrap(op.sub(x.real, y.real)),
            wrap(op.sub(x.imaginary, y.imaginary))};
  }
  Complex divide(Complex x, int64_t divisor) {
    double factor = double(INT16_MAX / divisor);
    return {round(op.mul(x.real, factor)), round(op.mul(x.imaginary, factor))};
  }
  Complex multiply(Complex x, Twiddles y) {
    return {
        round(op.sub(op.mul(x.real, y.cosines), op.mul(x.imaginary, y.sines))),
        round(op.add(op.mul(x.real, y.sines), op.mul(x.imaginary, y.cosines)))};
  }
  /// x times -i.
  Complex turn(Complex x) { return {x.imaginary, wrap(op.sub(0, x.real))}; }
  template <typename Fn> Complex map(Complex x, Fn fn) {
    return {fn(x.real), fn(x.imaginary)};
  }
  Complex slice(Complex x, int64_t axis, int64_t start, int64_t size) {
    return map(
        x, [&](NodeValue part) { return op.slice(part, axis, start, size); });
  }
  /// Those of \p phase(0), ..., in radians.
  Twiddles makeTwiddles(int64_t size,
                        llvm::function_ref<double(int64_t)> phase);

  TFLiteOp &op;
  int64_t count;
};

} // namespace

Twiddles
SpectrumBuilder::makeTwiddles(int64_t size,
                              llvm::function_ref<double(int64_t)> phase) {
  auto make = [&](double (*fn)(double)) {
    return op.table(ElemKind::Int32, {size}, [&](DimsRef index) {
      return std::floor(.5 + INT16_MAX * fn(phase(index[0])));
    });
  };
  return {make(std::cos), make(std::sin)};
}

Complex SpectrumBuilder::transform(Complex x, int64_t batch, int64_t length) {
  if (length == 1)
    return x;
  int64_t radix = length % 4 == 0 ? 4 : 2, rest = length / radix;
  // Number i of a part is number i * radix + j of the row.
  Complex parts = map(x, [&](NodeValue values) {
    values = op.transpose(op.reshape(values, {batch, rest, radix}), {0, 2, 1});
    return op.reshape(values, {batch * radix, rest});
  });
  parts = map(transform(parts, batch * radix, rest), [&](NodeValue values) {
    return op.reshape(values, {batch, radix, rest});
  });
  parts = divide(parts, radix);
  llvm::SmallVector<Complex, 4> p;
  for (int64_t j = 0; j < radix; ++j) {
    p.push_back(slice(parts, 1, j, 1));
    if (j == 0)
      continue;
    p[j] = multiply(p[j], makeTwiddles(rest, [&](int64_t i) {
                      int64_t step = i * j * (count / length);
                      return -2 * M_PI * double(step) / double(count);
                    }));
  }
  llvm::SmallVector<Complex, 4> results;
  if (radix == 2) {
    results = {add(p[0], p[1]), subtract(p[0], p[1])};
  } else {
    Complex even = add(p[0], p[2]), evenDifference = subtract(p[0], p[2]);
    Complex odd = add(p[1], p[3]);
    Complex turned = turn(subtract(p[1], p[3]));
    results = {add(even, odd), add(evenDifference, turned), subtract(even, odd),
               subtract(evenDifference, turned)};
  }
  auto join = [&](NodeValue Complex::*part) {
    llvm::SmallVector<NodeValue, 4> values;
    for (const Complex &result : results)
      values.push_back(result.*part);
    return op.reshape(op.concat(values, 1), {batch, length});
  };
  return {join(&Complex::real), join(&Complex::imaginary)};
}

Complex SpectrumBuilder::separate(Complex x) {
  // Numbers 1 ... count / 2, and those as far from the end.
  int64_t half = count / 2;
  Complex low = divide(slice(x, 1, 1, half), 2);
  std::vector<int64_t> backwards;
  for (int64_t i = 1; i <= half; ++i)
    backwards.push_back(count - i);
  Complex high = map(x, [&](NodeValue values) {
    return op.gather(values, op.int64s(backwards), 1);
  });
  high.imaginary = wrap(op.sub(0, high.imaginary));
  high = divide(high, 2);

  Complex even = add(low, high);
  Complex odd =
      multiply(subtract(low, high), makeTwiddles(half, [&](int64_t i) {
                 return -M_PI * (double(i + 1) / double(count) + .5);
               }));
  auto halve = [&](NodeValue values) { return shiftRight(op, values, 1); };
  Complex first = {halve(op.add(even.real, odd.real)),
                   halve(op.add(even.imaginary, odd.imaginary))};
  Complex second = {halve(op.sub(even.real, odd.real)),
                    halve(op.sub(odd.imaginary, even.imaginary))};

  // The middle number is in both; the second counts.
  std::vector<int64_t> reversed;
  for (int64_t i = half; i-- > 0;)
    reversed.push_back(i);
  Complex ends = divide(slice(x, 1, 0, 1), 2);
  NodeValue nothing = op.mul(ends.real, 0);
  auto join = [&](NodeValue begin, NodeValue first, NodeValue second,
                  NodeValue end) {
    return op.concat({begin, op.slice(first, 1, 0, half - 1),
                      op.gather(second, op.int64s(reversed), 1), end},
                     1);
  };
  return {join(wrap(op.add(ends.real, ends.imaginary)), first.real, second.real,
               wrap(op.sub(ends.real, ends.imaginary))),
          join(nothing, first.imaginary, second.imaginary, nothing)};
}

//===- The transform of real numbers --------------------------------------===//

/// The spectra of the rows, with zeros behind them up to `fft_length`; complex
/// numbers lie as two elements.
static llvm::Error importRfft(TFLiteOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkKind(0, ElemKind::Int16));
  GLOWISH_ASSIGN_OR_RETURN(CustomOptions options, CustomOptions::read(op));
  GLOWISH_ASSIGN_OR_RETURN(int64_t length,
                           options.getInt("fft_length", 4, 1 << 15));
  // The kind of the elements, which may be left out.
  int64_t kind = options.get("T").AsInt64();
  if (kind != 0 && kind != int64_t(schema::TensorType::INT16))
    return makeError("option T is {0}; accepted: {1}, which is int16", kind,
                     int64_t(schema::TensorType::INT16));
  DimsRef shape = op.getShape(0);
  if (!llvm::isPowerOf2_64(uint64_t(length)))
    return makeError("option fft_length is {0}; accepted: powers of two",
                     length);
  if (shape.empty() || shape.back() > length)
    return op.refuseInput(0, "rows of at most fft_length elements");
  int64_t rows = countElements(shape.drop_back()), count = length / 2;
  NodeValue x =
      op.reshape(op.cast(op.input(0), ElemKind::Int32), {rows, shape.back()});
  x = op.pad(x, {0, 0, 0, length - shape.back()}, 0);
  x = op.reshape(x, {rows, count, 2});
  auto part = [&](int64_t index) {
    return op.reshape(op.slice(x, 2, index, 1), {rows, count});
  };
  SpectrumBuilder builder(op, count);
  Complex spectrum =
      builder.separate(builder.transform({part(0), part(1)}, rows, count));
  NodeValue result = op.concat(
      {op.unsqueeze(spectrum.real, 2), op.unsqueeze(spectrum.imaginary, 2)}, 2);
  Dims resultShape(shape);
  resultShape.back() = length + 2;
  return op.setOutput(
      0, op.reshape(op.cast(result, ElemKind::Int16), resultShape));
}

static const TFLiteOperators operators = {
    {"SignalFftAutoScale",
     importAutoScale,
     {.minOutputs = 2, .needsKnownExtents = true, .limit = "int16"}},
    {"SignalRfft",
     importRfft,
     {.needsKnownExtents = true, .limit = "int16, powers of two"}}};

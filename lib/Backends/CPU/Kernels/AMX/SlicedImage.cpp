//===- SlicedImage.cpp - Floats as three int8 slices ----------------------===//

#include "Kernels/AMX/SlicedImage.h"
#include "Kernels/Memory/Transpose.h"
#include "llvm/IR/IntrinsicsX86.h"
#include <cmath>

using namespace glowish;
using llvm::Value;

SlicedImage SlicedImage::forInput(const ConvolutionShape &shape) {
  int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  return {std::min(shape.strideH, reachH + 1),
          std::min(shape.strideW, reachW + 1),
          shape.batch,
          shape.outHeight + reachH / shape.strideH,
          shape.outWidth + reachW / shape.strideW,
          (shape.channels + matrixDepth - 1) / matrixDepth};
}

//===- Weights ------------------------------------------------------------===//

/// Rounds so that the lower slices may be negative.
static std::array<int8_t, numSlices> getSlices(int64_t integer) {
  return {int8_t((integer + 0x8080) >> 16), int8_t((integer + 0x80) >> 8),
          int8_t(integer)};
}

static int64_t roundToInteger(double value) {
  return int64_t(value + (value < 0 ? -0.5 : 0.5));
}

int64_t glowish::getSlicedSize(DimsRef shape) {
  int64_t blocks = (shape[3] + tileChannels - 1) / tileChannels;
  int64_t groups = (shape[2] + matrixDepth - 1) / matrixDepth;
  return blocks * groups * shape[0] * shape[1] * numSlices * sliceStepBytes;
}

SlicedWeights glowish::sliceWeights(const ConvolutionShape &shape,
                                    const float *weights, DimsRef strides) {
  int64_t blocks = (shape.outChannels + tileChannels - 1) / tileChannels;
  int64_t steps = getSliceSteps(shape);
  int64_t size = getSlicedSize(
      {shape.kernelH, shape.kernelW, shape.channels, shape.outChannels});
  SlicedWeights result{Tensor(Type(ElemKind::Int8, {size})),
                       Tensor(Type(ElemKind::Float, {shape.outChannels}))};
  auto *slices = reinterpret_cast<int8_t *>(result.slices.getBytes());
  auto *scales = reinterpret_cast<float *>(result.scales.getBytes());
  int64_t taps = shape.kernelH * shape.kernelW;
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t first = block * tileChannels;
    int64_t count = std::min(tileChannels, shape.outChannels - first);
    auto forWeights = [&](auto body) {
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t c = 0; c < shape.channels; ++c) {
          const float *element = weights + tap / shape.kernelW * strides[0] +
                                 tap % shape.kernelW * strides[1] +
                                 c * strides[2] + first * strides[3];
          for (int64_t n = 0; n < count; ++n)
            body(tap, c, n, double(element[n * strides[3]]));
        }
    };
    std::array<double, tileChannels> largest = {}, factors = {};
    forWeights([&](int64_t, int64_t, int64_t n, double weight) {
      largest[n] = std::max(largest[n], std::abs(weight));
    });
    for (int64_t n = 0; n < count; ++n) {
      // The lowest partial products that are added have weight 2^16.
      scales[first + n] = float(largest[n] / maxSlicedInteger * 65536);
      factors[n] = largest[n] == 0 ? 0 : maxSlicedInteger / largest[n];
    }
    forWeights([&](int64_t tap, int64_t c, int64_t n, double weight) {
      auto parts = getSlices(roundToInteger(weight * factors[n]));
      int64_t step = block * steps + c / matrixDepth * taps + tap;
      int64_t row = c % matrixRows, byte = c % matrixDepth / matrixRows;
      for (int64_t slice = 0; slice < numSlices; ++slice)
        slices[(step * numSlices + slice) * sliceStepBytes + row * matrixDepth +
               n * 4 + byte] = parts[size_t(slice)];
    });
  }
  return result;
}

//===- Vectors ------------------------------------------------------------===//

std::array<Value *, 4> glowish::loadSliceGroup(KernelBuilder &b, Value *source,
                                               int64_t channels) {
  std::array<Value *, 4> values;
  for (int64_t i = 0; i < 4; ++i) {
    int64_t first = i * matrixColumns;
    Value *zero = b.literal(ElemKind::Float, 0, matrixColumns);
    unsigned lanes = unsigned(
        std::clamp(channels - first, int64_t(0), int64_t(matrixColumns)));
    values[size_t(i)] = zero;
    if (lanes == 0)
      continue;
    Value *loaded = b.loadElement(ElemKind::Float, source, first, lanes);
    values[size_t(i)] = widenWithZeros(b, loaded);
  }
  return values;
}

Value *glowish::widenWithZeros(KernelBuilder &b, Value *floats) {
  unsigned lanes = KernelBuilder::getLanes(floats);
  if (lanes == matrixColumns)
    return floats;
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = 0; i < matrixColumns; ++i)
    mask.push_back(i < lanes ? int(i) : int(matrixColumns));
  return b.CreateShuffleVector(b.widen(floats, matrixColumns),
                               b.literal(ElemKind::Float, 0, matrixColumns),
                               mask);
}

Value *glowish::joinMagnitudes(KernelBuilder &b, Value *a, Value *c) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, c);
}

Value *glowish::getMagnitudes(KernelBuilder &b, Value *floats) {
  auto *intTy = llvm::FixedVectorType::get(b.getInt32Ty(),
                                           KernelBuilder::getLanes(floats));
  return b.CreateAnd(b.CreateBitCast(floats, intTy),
                     llvm::ConstantInt::get(intTy, 0x7fffffff));
}

Value *glowish::reduceMagnitudes(KernelBuilder &b, Value *bits) {
  return b.reduceLanes(
      bits, [&](Value *x, Value *y) { return joinMagnitudes(b, x, y); });
}

Value *glowish::findLargestOfGroup(KernelBuilder &b, Value *source,
                                   int64_t channels) {
  Values bits;
  for (Value *value : loadSliceGroup(b, source, channels))
    bits.push_back(getMagnitudes(b, value));
  return joinMagnitudes(b, joinMagnitudes(b, bits[0], bits[1]),
                        joinMagnitudes(b, bits[2], bits[3]));
}

SliceScale glowish::getSliceScale(KernelBuilder &b, Value *largest) {
  unsigned lanes = KernelBuilder::getLanes(largest);
  // For smaller magnitudes, the factor would be infinite.
  Value *least = b.literal(ElemKind::Float, 1e-30, lanes);
  Value *magnitude =
      b.CreateBitCast(largest, b.getComputeTy(ElemKind::Float, lanes));
  Value *isSmall = b.CreateFCmpOLT(magnitude, least);
  magnitude = b.CreateSelect(isSmall, least, magnitude);
  // Slightly below the largest integer, as the factor is rounded.
  Value *most = b.literal(ElemKind::Float, double(maxSlicedInteger - 2), lanes);
  return {b.CreateFDiv(most, magnitude), b.CreateFDiv(magnitude, most)};
}

std::array<Value *, numSlices>
glowish::sliceFloats(KernelBuilder &b, std::array<Value *, 4> values,
                     Value *factors) {
  auto *intTy = llvm::FixedVectorType::get(b.getInt32Ty(), matrixColumns);
  auto constant = [&](uint32_t bits) {
    return llvm::ConstantInt::get(intTy, bits);
  };
  std::array<Value *, 4> integers;
  for (auto [integer, value] : llvm::zip(integers, values)) {
    // Rounds to nearest, by the current rounding mode, without a mask.
    integer = b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
        {b.CreateFMul(value, factors), llvm::PoisonValue::get(intTy),
         b.getInt16(-1), b.getInt32(4)});
  }
  constexpr uint32_t roundings[numSlices] = {0x8080, 0x80, 0};
  std::array<Value *, numSlices> slices;
  for (int64_t slice = 0; slice < numSlices; ++slice) {
    Value *bytes = nullptr;
    for (int64_t i = 0; i < 4; ++i) {
      Value *rounded = integers[size_t(i)];
      if (roundings[slice])
        rounded = b.CreateAdd(rounded, constant(roundings[slice]));
      // Byte 2 - slice of the integer becomes byte i of the group's.
      int64_t shift = 8 * (i - (2 - slice));
      Value *moved = shift > 0   ? b.CreateShl(rounded, uint64_t(shift))
                     : shift < 0 ? b.CreateLShr(rounded, uint64_t(-shift))
                                 : rounded;
      Value *byte = b.CreateAnd(moved, constant(0xffu << (8 * i)));
      bytes = bytes ? b.CreateOr(bytes, byte) : byte;
    }
    slices[size_t(slice)] = bytes;
  }
  return slices;
}

//===- Rows and columns ---------------------------------------------------===//

void glowish::sliceRows(
    KernelBuilder &b, const SlicedRows &rows, Value *factors,
    llvm::function_ref<void(Value *, int64_t, Value *)> store) {
  auto slice = [&](Value *row, int64_t channels) {
    Value *source = b.CreateGEP(b.getFloatTy(), rows.source,
                                b.scaleIndex(row, rows.stride));
    std::array<Value *, 4> values;
    for (int64_t i = 0; i < 4; ++i) {
      Value *&value = values[size_t(i)];
      value = b.literal(ElemKind::Float, 0, unsigned(matrixColumns));
      if (i * matrixRows >= channels)
        continue;
      Value *address = b.CreateGEP(b.getFloatTy(), source,
                                   b.index(i * matrixRows * rows.stride));
      value = widenWithZeros(b, b.loadStrided(ElemKind::Float, address,
                                              rows.lanes, rows.laneStride));
    }
    for (auto [slice, bytes] : llvm::enumerate(sliceFloats(b, values, factors)))
      store(row, int64_t(slice), bytes);
  };
  // Rows from `left` on have a channel less.
  int64_t left = rows.channels % matrixRows, least = rows.channels - left;
  b.forLoop(left, [&](Value *row) { slice(row, least + matrixRows); });
  b.forLoop(b.index(left), b.index(matrixRows), 1,
            [&](Value *row) { slice(row, least); });
}

void glowish::transposeSlices(KernelBuilder &b, Value *from, int64_t fromBytes,
                              Value *to, int64_t toBytes) {
  auto at = [&](Value *base, int64_t row) {
    return b.getElement(base, ElemKind::Int8, row * matrixDepth);
  };
  b.forLoop(numSlices, [&](Value *slice) {
    Value *source = b.getElement(from, ElemKind::Int8, slice, fromBytes);
    Value *target = b.getElement(to, ElemKind::Int8, slice, toBytes);
    Values square;
    for (int64_t i = 0; i < matrixRows; ++i)
      square.push_back(loadRow(b, at(source, i)));
    square = transposeSquare(b, std::move(square));
    for (int64_t i = 0; i < matrixRows; ++i)
      storeRow(b, square[size_t(i)], at(target, i));
  });
}

//===- SplitImage.cpp - Floats as digits ----------------------------------===//

#include "SplitImage.h"
#include "llvm/IR/IntrinsicsX86.h"
#include <cmath>

using namespace glowish;
using llvm::Value;

SplitImage SplitImage::forInput(const ConvolutionShape &shape) {
  int64_t reachH = (shape.kernelH - 1) * shape.dilationH;
  int64_t reachW = (shape.kernelW - 1) * shape.dilationW;
  return {std::min(shape.strideH, reachH + 1),
          std::min(shape.strideW, reachW + 1),
          shape.batch,
          shape.outHeight + reachH / shape.strideH,
          shape.outWidth + reachW / shape.strideW,
          (shape.channels + matrixDepth - 1) / matrixDepth};
}

//===- Weights -----------------------------------------------------------===//

/// Rounds so that the lower digits may be negative.
static std::array<int8_t, numDigits> getDigits(int64_t integer) {
  return {int8_t((integer + 0x8080) >> 16), int8_t((integer + 0x80) >> 8),
          int8_t(integer)};
}

static int64_t roundToInteger(double value) {
  return int64_t(value + (value < 0 ? -0.5 : 0.5));
}

SplitWeights glowish::splitWeights(const ConvolutionShape &shape,
                                   const float *weights, DimsRef strides) {
  int64_t blocks = (shape.outChannels + splitChannels - 1) / splitChannels;
  int64_t steps = getSplitSteps(shape);
  SplitWeights result{Tensor(Type(ElemKind::Int8, {blocks * steps * numDigits *
                                                   splitStepBytes})),
                      Tensor(Type(ElemKind::Float, {shape.outChannels}))};
  auto *digits = reinterpret_cast<int8_t *>(result.digits.getBytes());
  auto *scales = reinterpret_cast<float *>(result.scales.getBytes());
  int64_t taps = shape.kernelH * shape.kernelW;
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t first = block * splitChannels;
    int64_t count = std::min(splitChannels, shape.outChannels - first);
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
    std::array<double, splitChannels> largest = {}, factors = {};
    forWeights([&](int64_t, int64_t, int64_t n, double weight) {
      largest[n] = std::max(largest[n], std::abs(weight));
    });
    for (int64_t n = 0; n < count; ++n) {
      // The products of the lowest digits that are added count as 2^16.
      scales[first + n] = float(largest[n] / maxSplitInteger * 65536);
      factors[n] = largest[n] == 0 ? 0 : maxSplitInteger / largest[n];
    }
    forWeights([&](int64_t tap, int64_t c, int64_t n, double weight) {
      auto split = getDigits(roundToInteger(weight * factors[n]));
      int64_t step = block * steps + c / matrixDepth * taps + tap;
      int64_t row = c % matrixRows, byte = c % matrixDepth / matrixRows;
      for (int64_t digit = 0; digit < numDigits; ++digit)
        digits[(step * numDigits + digit) * splitStepBytes + row * matrixDepth +
               n * 4 + byte] = split[size_t(digit)];
    });
  }
  return result;
}

//===- Pixels ------------------------------------------------------------===//

std::array<Value *, numDigits>
glowish::splitFloats(KernelBuilder &b, std::array<Value *, 4> values,
                     Value *factors) {
  auto *intTy = llvm::FixedVectorType::get(b.getInt32Ty(), matrixColumns);
  auto constant = [&](uint32_t bits) {
    return llvm::ConstantInt::get(intTy, bits);
  };
  std::array<Value *, 4> integers;
  for (auto [integer, value] : llvm::zip(integers, values)) {
    // To the nearest; the current rounding mode and no mask.
    integer = b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
        {b.CreateFMul(value, factors), llvm::PoisonValue::get(intTy),
         b.getInt16(-1), b.getInt32(4)});
  }
  constexpr uint32_t roundings[numDigits] = {0x8080, 0x80, 0};
  std::array<Value *, numDigits> digits;
  for (int64_t digit = 0; digit < numDigits; ++digit) {
    Value *bytes = nullptr;
    for (int64_t i = 0; i < 4; ++i) {
      Value *rounded = integers[size_t(i)];
      if (roundings[digit])
        rounded = b.CreateAdd(rounded, constant(roundings[digit]));
      // Byte 2 - digit of the integer becomes byte i of the group's.
      int64_t shift = 8 * (i - (2 - digit));
      Value *moved = shift > 0   ? b.CreateShl(rounded, uint64_t(shift))
                     : shift < 0 ? b.CreateLShr(rounded, uint64_t(-shift))
                                 : rounded;
      Value *byte = b.CreateAnd(moved, constant(0xffu << (8 * i)));
      bytes = bytes ? b.CreateOr(bytes, byte) : byte;
    }
    digits[size_t(digit)] = bytes;
  }
  return digits;
}

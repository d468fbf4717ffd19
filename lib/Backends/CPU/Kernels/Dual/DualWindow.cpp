//===- DualWindow.cpp - Two windows of one channel in assembly ------------===//

#include "Kernels/Dual/DualWindow.h"
#include "Kernels/Dual/Assembly.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using llvm::Value;

// Operands of the assembly.
static constexpr unsigned firstSum = 0, firstElements = 2, startOperand = 4,
                          pixelOperand = 5, firstTaps = 6;

bool DualWindow::isPossible(const TargetDescription &target) const {
  constexpr int64_t mostPairs = 6, reach = 1020;
  int64_t lastRow = 2 * (shape.kernelH - 1) * shape.dilationH * rowStride;
  return target.hasDualMultiply && shape.kernelW == 3 && shape.dilationW == 1 &&
         shape.strideW <= 2 && shape.kernelH * taps.getPairs() <= mostPairs &&
         lastRow + 8 <= reach;
}

/// The pairs of taps are 0 and 1, and 1 and 2. Elements 0 to 3 are two pairs;
/// windows two columns apart also take element 4, in the place of the first
/// pair.
std::string DualWindow::getRow(int64_t kh) const {
  unsigned x = firstElements, y = x + 1, first = firstSum,
           second = firstSum + 1;
  auto low = firstTaps + unsigned(kh * taps.getPairs()), high = low + 1;
  int64_t offset = 2 * kh * shape.dilationH * rowStride;
  // The first row begins the sums.
  unsigned from = kh == 0 ? startOperand : first;
  unsigned fromSecond = kh == 0 ? startOperand : second;
  std::string text =
      llvm::formatv("ldrd ${0}, ${1}, [${2}, #{3}]\n"
                    "smlad ${4}, ${0}, ${5}, ${6}\n"
                    "smlabt ${4}, ${1}, ${7}, ${4}\n",
                    x, y, pixelOperand, offset, first, low, from, high);
  if (shape.strideW == 1)
    return text + llvm::formatv("smlatb ${0}, ${1}, ${2}, ${3}\n"
                                "smlad ${0}, ${4}, ${5}, ${0}\n",
                                second, x, low, fromSecond, y, high)
                      .str();
  return text + llvm::formatv("ldr ${0}, [${1}, #{2}]\n"
                              "smlad ${3}, ${4}, ${5}, ${6}\n"
                              "smlabt ${3}, ${0}, ${7}, ${3}\n",
                              x, pixelOperand, offset + 8, second, y, low,
                              fromSecond, high)
                    .str();
}

Values DualWindow::emit(KernelBuilder &b, Value *start, Value *pixel,
                        Value *weights) const {
  std::string text, constraints = "=&r,=&r,=&r,=&r,r,r,";
  for (int64_t kh = 0; kh < shape.kernelH; ++kh)
    text += getRow(kh);
  Values values = {start, pixel};
  for (int64_t i = 0; i < shape.kernelH * taps.getPairs(); ++i) {
    constraints += "r,";
    values.push_back(b.loadElement(ElemKind::Int32, weights, i, 1));
  }
  constraints += "~{memory}";
  llvm::Type *i32 = b.getInt32Ty();
  llvm::CallInst *done =
      emitAssembly(b, text, constraints, {i32, i32, i32, i32}, values);
  return {b.CreateExtractValue(done, firstSum),
          b.CreateExtractValue(done, firstSum + 1)};
}

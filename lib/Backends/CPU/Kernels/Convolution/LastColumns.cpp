//===- LastColumns.cpp - Tiles behind the last whole one ------------------===//

#include "Kernels/Convolution/LastColumns.h"

using namespace glowish;
using llvm::Value;

LastColumns::LastColumns(Tile tile, int64_t extent,
                         const TargetDescription &target)
    : pixels(tile.pixels) {
  fewest = double(getFewestSums(target)) / tile.vectors;
  // A kernel for each size would be much code where tiles are large; there, a
  // column more is a small share.
  constexpr unsigned mostSizes = 8;
  unsigned step = (pixels + mostSizes - 1) / mostSizes;
  // Behind the last whole tile of all columns there may be none to spare.
  auto rest = unsigned(extent % pixels);
  for (unsigned size = 1; size < pixels; ++size)
    if (size == 1 || size % step == 0 || size == rest)
      sizes.push_back(size);
  for (bool mayTakeWhole : {false, true})
    for (unsigned left = 0; left < pixels; ++left)
      plans.push_back(divide(left, mayTakeWhole));
}

LastColumns::Plan LastColumns::divide(unsigned left, bool mayTakeWhole) const {
  if (left == 0)
    return {};
  auto getCost = [&](unsigned size) { return std::max(double(size), fewest); };
  auto *size = llvm::find_if(sizes, [&](unsigned s) { return s >= left; });
  // A whole tile, which is not the last of all columns.
  unsigned single = size == sizes.end() ? pixels : *size;
  Plan best = {{single}, false};
  if (!mayTakeWhole)
    return best;
  double least = getCost(pixels) + getCost(single);
  for (unsigned first : sizes) {
    unsigned second = pixels + left - first;
    if (second > first || !llvm::is_contained(sizes, second))
      continue;
    double cost = getCost(first) + getCost(second);
    if (cost < least) {
      least = cost;
      best = {{first, second}, true};
    }
  }
  return best;
}

Value *LastColumns::getPlan(KernelBuilder &b, Value *left, Value *whole,
                            Value *low) const {
  return b.CreateSelect(b.CreateICmpSGT(whole, low),
                        b.CreateNSWAdd(left, b.index(pixels)), left);
}

Value *LastColumns::getEnd(KernelBuilder &b, Value *plan, Value *whole) const {
  std::vector<int8_t> taken;
  for (const Plan &each : plans) {
    bool isWhole = !each.sizes.empty() && each.sizes[0] == pixels;
    taken.push_back(each.takesWhole ? -1 : isWhole ? 1 : 0);
  }
  return b.CreateNSWAdd(whole, b.lookUp<int8_t>(taken, plan));
}

Value *
LastColumns::emit(KernelBuilder &b, Value *needed, Value *low, Value *high,
                  llvm::function_ref<void(unsigned, Value *)> emitTile) const {
  Value *whole = b.CreateUDiv(needed, b.index(pixels));
  Value *first = b.scaleIndex(whole, pixels);
  Value *isOwn =
      b.CreateAnd(b.CreateICmpSLE(low, whole), b.CreateICmpSLT(whole, high));
  Value *left =
      b.CreateSelect(isOwn, b.CreateNSWSub(needed, first), b.index(0));
  Value *plan = getPlan(b, left, whole, low);
  forTiles(b, plan, first, emitTile);
  return b.CreateSelect(isOwn, getEnd(b, plan, whole), high);
}

void LastColumns::forTiles(
    KernelBuilder &b, Value *plan, Value *first,
    llvm::function_ref<void(unsigned, Value *)> emitTile) const {
  for (unsigned size : sizes) {
    // From the first column on: one tile, two side by side, or none.
    std::vector<int8_t> begins, ends;
    bool mayBeTwo = false;
    for (const Plan &each : plans) {
      int column = each.takesWhole ? -int(pixels) : 0, begin = 0, end = 0;
      for (unsigned own : each.sizes) {
        if (own == size) {
          begin = begin == end ? column : begin;
          end = column + int(size);
        }
        column += int(own);
      }
      begins.push_back(int8_t(begin));
      ends.push_back(int8_t(end));
      mayBeTwo |= end - begin > int(size);
    }
    Value *begin = b.CreateNSWAdd(first, b.lookUp<int8_t>(begins, plan));
    Value *end = b.CreateNSWAdd(first, b.lookUp<int8_t>(ends, plan));
    if (mayBeTwo)
      b.forLoop(begin, end, size,
                [&](Value *column) { emitTile(size, column); });
    else
      // LLVM would load all weights of a loop in front of it, and spill them.
      b.ifThen(b.CreateICmpSLT(begin, end), [&] { emitTile(size, begin); });
  }
}

//===- ConvolutionChoice.cpp - Ways to compute a convolution --------------===//

#include "ConvolutionChoice.h"
#include "SplitImage.h"
#include <cmath>

using namespace glowish;

bool glowish::isSameWay(const ConvolutionChoice &a,
                        const ConvolutionChoice &b) {
  if (a.algorithm != b.algorithm)
    return false;
  switch (a.algorithm) {
  case ConvolutionChoice::Algorithm::Direct:
    return a.tile.pixels == b.tile.pixels && a.tile.vectors == b.tile.vectors;
  case ConvolutionChoice::Algorithm::Winograd:
    return a.size.height == b.size.height && a.size.width == b.size.width &&
           a.block == b.block;
  case ConvolutionChoice::Algorithm::Split:
    return true;
  }
  llvm_unreachable("not an algorithm");
}

std::vector<ConvolutionChoice>
glowish::rankConvolutions(const ConvolutionShape &shape, ElemKind kind,
                          DimsRef inputStrides, const TargetDescription &target,
                          int64_t maxWinograd) {
  TargetDescription oneThread = target;
  oneThread.numThreads = 1;
  int64_t lanes = target.getLanes(4);
  std::vector<ConvolutionChoice> choices;
  for (const TileChoice &choice : rankTiles(shape, kind, oneThread)) {
    choices.emplace_back();
    choices.back().tile = choice.tile;
    choices.back().cycles = choice.cycles;
  }
  auto add = [&](ConvolutionChoice choice) {
    if (std::isfinite(choice.cycles))
      choices.push_back(choice);
  };
  // Filters at the points take up to four times the memory.
  if (kind == ElemKind::Float && target.vectorBits > 0 && target.isHosted)
    for (int64_t limit = 2; limit <= maxWinograd; limit += 2)
      if (std::optional<WinogradSize> size = getWinogradSize(shape, limit)) {
        WinogradPlan plan(shape, *size, oneThread);
        ConvolutionChoice choice;
        choice.algorithm = ConvolutionChoice::Algorithm::Winograd;
        choice.size = *size;
        choice.block = plan.registers.vectors * unsigned(lanes);
        choice.cycles = plan.cycles;
        add(choice);
      }
  if (kind == ElemKind::Float) {
    ConvolutionChoice choice;
    choice.algorithm = ConvolutionChoice::Algorithm::Split;
    // Its estimate counts no cache misses, and is fitted to vectors at four
    // fifths of their peak.
    double vectors = double(getNumOperations(shape)) *
                     double(llvm::alignTo(shape.outChannels, lanes)) /
                     double(shape.outChannels) / (double(lanes) * 4 * 0.8);
    choice.cycles = estimateSplit(shape, inputStrides, oneThread) / vectors *
                    choices.front().cycles;
    add(choice);
  }
  llvm::sort(choices, [](const auto &a, const auto &b) {
    return std::tie(a.cycles, a.algorithm, a.tile.vectors, a.size.height) <
           std::tie(b.cycles, b.algorithm, b.tile.vectors, b.size.height);
  });
  return choices;
}

/// Cycles that packing takes a weight: into digits some 0.8, and into blocks
/// 0.5, as measured in the cache. Weights that lie as rows of output channels
/// can be used as they are; a tile then reads a step's from a place of its own,
/// which takes a tenth longer.
ConvolutionChoice glowish::choosePacking(const ConvolutionShape &shape,
                                         ElemKind kind, DimsRef inputStrides,
                                         const TargetDescription &target,
                                         int64_t numUses, bool canStay) {
  constexpr double splitCycles = 0.8, blockCycles = 0.5, plainSlowdown = 1.1;
  double weights = double(shape.kernelH * shape.kernelW * shape.outChannels) *
                   double(shape.getGroupChannels()) / double(numUses);
  ConvolutionChoice best;
  best.cycles = std::numeric_limits<double>::infinity();
  auto consider = [&](const ConvolutionChoice &choice) {
    if (choice.cycles < best.cycles)
      best = choice;
  };
  for (ConvolutionChoice choice :
       rankConvolutions(shape, kind, inputStrides, target, /*maxWinograd=*/0)) {
    double cycles = choice.cycles;
    bool isSplit = choice.algorithm == ConvolutionChoice::Algorithm::Split;
    choice.cycles += weights * (isSplit ? splitCycles : blockCycles);
    consider(choice);
    if (isSplit || !canStay)
      continue;
    choice.isBlocked = false;
    choice.cycles = cycles * plainSlowdown;
    consider(choice);
  }
  return best;
}

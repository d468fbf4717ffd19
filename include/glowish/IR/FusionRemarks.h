//===- FusionRemarks.h - Why a loop has not been fused ----------*- C++ -*-===//

#ifndef GLOWISH_IR_FUSIONREMARKS_H
#define GLOWISH_IR_FUSIONREMARKS_H

#include "glowish/IR/Instrs.h"
#include <string>
#include <vector>

namespace glowish {

/// The reason why an element-wise loop is not fused into the instruction that
/// computes one of its inputs.
struct MissedFusion {
  const Instruction *producer;
  /// Part of a sentence: "another instruction reads its result, too".
  llvm::StringRef reason;
};

/// An element-wise loop that is an instruction of its own.
struct UnfusedLoop {
  const ElementWiseLoopInstr *loop;
  /// One for each input that an anchor (a convolution, a matmul, a
  /// normalization) or another loop makes, in the order of the inputs. None:
  /// there is nothing that it could join.
  std::vector<MissedFusion> missedFusions;
};

/// The loops of \p function, without those of bodies, and why the passes
/// fuse-epilogues and fuse-loops leave them as they are. Asked after these
/// have run; changes nothing.
std::vector<UnfusedLoop> findUnfusedLoops(IRFunction &function);

/// An UnfusedLoop in words, which stay when the loop is gone.
struct UnfusedLoopText {
  std::string name, type;
  /// The attributes, as the text form has them.
  std::string program;
  /// The producers, `Convolution "conv1"`, and what keeps the loop from them.
  std::vector<std::pair<std::string, std::string>> missedFusions;
};

/// Describes the loops of \p function and its bodies.
std::vector<UnfusedLoopText> describeUnfusedLoops(IRFunction &function);

} // namespace glowish

#endif // GLOWISH_IR_FUSIONREMARKS_H

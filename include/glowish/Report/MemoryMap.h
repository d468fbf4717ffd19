//===- MemoryMap.h - An image of the arena over time ------------*- C++ -*-===//

#ifndef GLOWISH_REPORT_MEMORYMAP_H
#define GLOWISH_REPORT_MEMORYMAP_H

#include "glowish/IR/MemoryPlan.h"
#include <string>

namespace glowish {

/// A program whose arena is drawn; the title is above the image.
struct MappedProgram {
  std::string title;
  const IRFunction *function;
  const MemoryPlan *plan;
};

/// Draws the arenas of \p programs as one SVG image, one below the other: a
/// rectangle for each activation, from the instruction that first uses it to
/// the last one, and from its offset to its end. Bodies of branches and loops
/// follow the instruction that has them. Tooltips show name, type, bytes,
/// writers and readers. Below are the bytes that are live at each
/// instruction, and their peak.
void printMemoryMap(llvm::raw_ostream &os,
                    llvm::ArrayRef<MappedProgram> programs);

} // namespace glowish

#endif // GLOWISH_REPORT_MEMORYMAP_H

//===- GraphTree.h - Collapsible tree of a graph ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_REPORT_GRAPHTREE_H
#define GLOWISH_LIB_REPORT_GRAPHTREE_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// Writes the nodes of \p function in order, one line each, with operands,
/// types and attributes. Neighbours whose names have the same beginning, up to
/// a slash or a dot, are a group that can be folded; bodies are inside the
/// node that has them. \p prefix begins the ids of the lines.
void printGraphTree(llvm::raw_ostream &os, const Function &function,
                    llvm::StringRef prefix);

/// Writes the attributes \p attrs of a node or an instruction as printAttrs
/// does, behind a blank.
void printAttrCode(llvm::raw_ostream &os, const OpInfo &info,
                   llvm::ArrayRef<AttrValue> attrs, unsigned numInputs);

} // namespace glowish

#endif // GLOWISH_LIB_REPORT_GRAPHTREE_H

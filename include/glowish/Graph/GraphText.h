//===- GraphText.h - Text form of the graph ---------------------*- C++ -*-===//
//
//   module "lenet"
//   placeholder %data : float<1x28x28x1> input "Input3"
//   constant %b : float<2> = [0.5, 1.0]
//   constant %w : float<500x800> = external 0
//   function "main" {
//     %conv1 = Convolution(%data, %w1, none) {strides = [1, 1], ...}
//         : float<1x24x24x20>
//     Save(%prob, %out)
//   }
//
// A node with several results is written `%topk:2`, and its results are
// referred to as `%topk:0` and `%topk:1`. An attribute that is a body is
// written `body "then" (%p : float<2>) -> (%r : float<2>) { ... }`; its Save
// nodes store to its results.
// docs/text-forms.md has the grammar.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_GRAPH_GRAPHTEXT_H
#define GLOWISH_GRAPH_GRAPHTEXT_H

#include "glowish/Graph/Module.h"
#include "llvm/Support/MemoryBuffer.h"

namespace glowish {

/// Prints \p module. Large constants are written to \p sideFile, or elided if
/// it is null.
void printModule(llvm::raw_ostream &os, const Module &module,
                 llvm::raw_ostream *sideFile);
/// Prints one node, for messages and dumps.
void printNode(llvm::raw_ostream &os, const Node &node);

/// Parses the output of printModule. Types are inferred and the module is
/// verified: a type in the text that differs from the inferred one is an error,
/// and nodes may come without types.
llvm::Expected<std::unique_ptr<Module>>
parseModule(llvm::StringRef text, llvm::StringRef fileName,
            std::shared_ptr<llvm::MemoryBuffer> sideFile);

/// Parses constants and then a body, as they stand in the text of a module, and
/// creates them in \p module, whose names may be the same as those of the text.
/// The body is not verified as a whole; each of its results is saved to once.
llvm::Expected<std::shared_ptr<FunctionBody>>
parseBody(llvm::StringRef text, llvm::StringRef fileName, Module &module);

} // namespace glowish

#endif // GLOWISH_GRAPH_GRAPHTEXT_H

//===- GraphText.h - The graph's text form --------------------*- C++ -*-===//
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
// A node with several results is written `%topk:2`, and its results are used
// as `%topk:0` and `%topk:1`. A body, in an attribute, is `body "then" (%p :
// float<2>) -> (%r : float<2>) { ... }`; it saves to its results. A predicate
// follows the operands: `if (%p)`.
// docs/text-forms.md has the grammar.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_GRAPH_GRAPHTEXT_H
#define GLOWISH_GRAPH_GRAPHTEXT_H

#include "glowish/Graph/Module.h"
#include "llvm/Support/MemoryBuffer.h"

namespace glowish {

/// Prints \p module; large constants go to \p sideFile, or are elided when it
/// is null.
void printModule(llvm::raw_ostream &os, const Module &module,
                 llvm::raw_ostream *sideFile);
/// One node in the text form, for messages and dumps.
void printNode(llvm::raw_ostream &os, const Node &node);

/// Parses what printModule prints. The result is structurally verified and
/// typed: a type that the text states and the rule does not infer is an error.
llvm::Expected<std::unique_ptr<Module>>
parseModule(llvm::StringRef text, llvm::StringRef fileName,
            std::shared_ptr<llvm::MemoryBuffer> sideFile);

} // namespace glowish

#endif // GLOWISH_GRAPH_GRAPHTEXT_H

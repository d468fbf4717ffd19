//===- Pipeline.cpp - The IR passes and their order -----------------------===//

#include "glowish/IR/Passes.h"

using namespace glowish;

llvm::ArrayRef<IRPass> glowish::getIRPasses() {
  static const IRPass passes[] = {
#define IR_PASS(FUNCTION, NAME, EXACTNESS, DOC)                                \
  {NAME, Exactness::EXACTNESS, DOC, FUNCTION},
#include "glowish/IR/Passes.def"
  };
  return passes;
}

const Pipeline &glowish::getIRPipeline() {
  static const Pipeline pipeline = {
      // Nesting first: it looks for parts that are copied twice, and the
      // elimination of copies would remove one of the two.
      {{"nest-concats", "copy-elimination", "fuse-loops", "fuse-epilogues",
        "dse"},
       /*toFixedPoint=*/true},
      {{"share-buffers", "merge-views", "place-lifetimes"},
       /*toFixedPoint=*/false},
  };
  return pipeline;
}

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
      // Concatenations first: the pass looks for parts that are copied twice,
      // and copy-elimination would remove one of the two copies. Epilogues
      // before loops: an anchor then takes one loop after the other, in the
      // order of the graph. But what only widens first: an anchor reads its
      // further inputs as they are stored.
      {{"coalesce-concats", "copy-elimination", "fuse-widening-loops",
        "fuse-epilogues", "fuse-loops", "dse"},
       /*toFixedPoint=*/true},
      {{"share-buffers", "merge-views", "insert-lifetimes"},
       /*toFixedPoint=*/false},
  };
  return pipeline;
}

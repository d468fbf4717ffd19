//===- Pipeline.cpp - The IR passes and their order -----------------------===//

#include "glowish/IR/Passes.h"
#include "glowish/Support/PassRegistry.h"

using namespace glowish;

static constexpr IRPass commonPasses[] = {
#define IR_PASS(FUNCTION, NAME, EXACTNESS, DOC)                                \
  {NAME, Exactness::EXACTNESS, DOC, FUNCTION},
#include "glowish/IR/Passes.def"
};

bool glowish::isCommonPass(const IRPass &pass) {
  return findPass(llvm::ArrayRef(commonPasses), pass.name);
}

using IRPassRegistry = PassRegistry<IRFunction, IRPassContext>;

/// Created on first use, as back ends register passes in static initializers.
static IRPassRegistry &getRegistry() {
  static IRPassRegistry registry(
      {std::begin(commonPasses), std::end(commonPasses)});
  return registry;
}

llvm::ArrayRef<IRPass> glowish::getIRPasses() {
  return getRegistry().getPasses();
}

IRPassRegistration::IRPassRegistration(const IRPass &pass) {
  getRegistry().add(pass);
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

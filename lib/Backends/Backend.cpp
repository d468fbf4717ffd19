//===- Backend.cpp - What back ends have in common ------------------------===//

#include "glowish/Backends/Backend.h"

using namespace glowish;

llvm::Error Backend::prepare(IRFunction &function, const SharedChoices *choices,
                             const PassHooks<IRFunction> &hooks) {
  IRPassContext context;
  context.backend = getPassInput(choices);
  llvm::Expected<bool> changed = runPipeline<IRFunction, IRPassContext>(
      getIRPipeline(), getIRPasses(), function, context, hooks);
  return changed ? checkCancelled() : changed.takeError();
}

//===- RunErrors.cpp - Errors of running programs -------------------------===//

#include "glowish/Backends/RunErrors.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Plugin/ExternalFunction.h"

using namespace glowish;

llvm::Error glowish::checkExternalFunctions(const IRFunction &function) {
  const ExternalCallInstr *missing = nullptr;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const Instruction &instr : each.getInstrs())
      if (auto *call = llvm::dyn_cast<ExternalCallInstr>(&instr))
        if (!missing && !findExternalFunction(call->getFunction()))
          missing = call;
  });
  if (!missing)
    return llvm::Error::success();
  return makeNoFunctionError(missing->getOperatorName(),
                             missing->getFunction());
}

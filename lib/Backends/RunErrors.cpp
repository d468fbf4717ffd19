//===- RunErrors.cpp - Errors of running programs -------------------------===//

#include "glowish/Backends/RunErrors.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Plugin/ExternalFunction.h"

using namespace glowish;

llvm::Error glowish::makeFunctionError(llvm::StringRef operatorName) {
  if (operatorName.empty())
    return makeError("the function of an external operator failed");
  return makeError("the function of the operator '{0}' failed", operatorName);
}

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
  return makeError("the operator '{0}' is a function of the application, "
                   "'{1}'; accepted here: bundles, or -operators=FILE with it",
                   missing->getOperatorName(), missing->getFunction());
}

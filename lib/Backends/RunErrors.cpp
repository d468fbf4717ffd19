//===- RunErrors.cpp - Errors of running programs -------------------------===//

#include "glowish/Backends/RunErrors.h"
#include "glowish/IR/FindInstr.h"
#include "glowish/Plugin/ExternalFunction.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

std::string glowish::describeOrigin(const LoopInstr &loop) {
  if (!loop.getOrigin().empty())
    return loop.getOrigin().str();
  return "instruction '" + loop.getName().str() + "'";
}

std::string glowish::describeFailure(const LoopInstr &loop) {
  int64_t most = loop.getMaxTripCount();
  std::string message = llvm::formatv(
      "{0}: the loop has more than the {1} iteration{2} that it was compiled "
      "for; state a larger bound with «max-trip-count=N»",
      describeOrigin(loop), most, most == 1 ? "" : "s");
  bool hasScans = int64_t(loop.getResults().size()) > loop.getNumStates() + 1;
  if (hasScans)
    message += ", or, if the model states it, as the extent of what the loop "
               "collects";
  return message;
}

std::string glowish::describeFailure(const ExternalCallInstr &call) {
  return llvm::formatv("the function of the operator '{0}' failed",
                       call.getOperatorName());
}

llvm::Error glowish::checkExternalFunctions(const IRFunction &function) {
  auto *missing = llvm::cast_or_null<ExternalCallInstr>(
      findInstr(function, [](const Instruction &instr) {
        auto *call = llvm::dyn_cast<ExternalCallInstr>(&instr);
        return call && !findExternalFunction(call->getFunction());
      }));
  if (!missing)
    return llvm::Error::success();
  return makeError("the operator '{0}' is a function of the application, "
                   "'{1}'; accepted here: bundles, or «operators=FILE» with it",
                   missing->getOperatorName(), missing->getFunction());
}

//===- External.cpp - Functions of plug-ins -------------------------------===//

#include "Run.h"
#include "glowish/Plugin/ExternalFunction.h"

using namespace glowish;
using namespace glowish::interpreter;

void interpreter::runExternalCall(const Memory &memory,
                                  const ExternalCallInstr &instr) {
  CallArguments arguments(instr.getValues());
  llvm::ArrayRef<int64_t> absent = instr.getAbsent();
  llvm::ArrayRef<Buffer *> inputs = instr.getInputs();
  size_t numInputs = inputs.size() + absent.size();
  for (size_t position = 0; position < numInputs; ++position) {
    if (!absent.empty() && size_t(absent.front()) == position) {
      absent = absent.drop_front();
      arguments.addAbsentInput();
      continue;
    }
    const Buffer *input = inputs.front();
    inputs = inputs.drop_front();
    arguments.addInput(input->getType(), memory.getAddress(input));
  }
  for (const Buffer *result : instr.getResults())
    arguments.addOutput(result->getType(), memory.getAddress(result));
  const ExternalFunction *function = findExternalFunction(instr.getFunction());
  if (function->reference(&arguments.get()) != 0)
    memory.setFailedOperator(instr.getOperatorName());
}

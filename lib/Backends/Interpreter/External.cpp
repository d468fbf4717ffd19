//===- External.cpp - Functions of plug-ins -------------------------------===//

#include "Run.h"
#include "glowish/Plugin/ExternalFunction.h"

using namespace glowish;
using namespace glowish::interpreter;

void interpreter::runExternalCall(const Memory &memory,
                                  const ExternalCallInstr &instr) {
  CallArguments arguments(instr.getValues());
  for (const Buffer *input :
       insertAbsent(instr.getInputs(), instr.getAbsent())) {
    if (input)
      arguments.addInput(input->getType(), memory.getAddress(input));
    else
      arguments.addAbsentInput();
  }
  for (const Buffer *result : instr.getResults())
    arguments.addOutput(result->getType(), memory.getAddress(result));
  const ExternalFunction *function = findExternalFunction(instr.getFunction());
  if (function->reference(&arguments.get()) != 0)
    memory.setFailedOperator(instr.getOperatorName());
}

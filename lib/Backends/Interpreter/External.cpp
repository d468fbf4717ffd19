//===- External.cpp - Functions outside the program -----------------------===//

#include "Run.h"
#include "glowish/Backends/RunErrors.h"
#include "glowish/Distributed/AllReduce.h"
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
    memory.fail(describeFailure(instr));
}

void interpreter::runStartAllReduce(const Memory &memory,
                                    const StartAllReduceInstr &instr) {
  const Type &type = instr.getBuffer()->getType();
  glowish_start_all_reduce(memory.getAddress(instr.getBuffer()),
                           type.getNumElements(), int32_t(type.getKind()));
}

void interpreter::runFinishAllReduce(const Memory &memory,
                                     const FinishAllReduceInstr &instr) {
  glowish_finish_all_reduce(memory.getAddress(instr.getBuffer()));
}

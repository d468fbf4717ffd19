//===- Control.cpp - Branches and loops -----------------------------------===//

#include "Run.h"
#include "glowish/Backends/RunErrors.h"

using namespace glowish;
using namespace glowish::interpreter;

static void runBody(const IRFunction &body, const Memory &memory) {
  for (const Instruction &instr : body.getInstrs())
    runInstr(memory, instr);
}

void interpreter::runIf(const Memory &memory, const IfInstr &instr) {
  bool condition = getDense<const bool>(memory, instr.getCondition())[0];
  const IRFunction &body =
      getIRFunction(condition ? instr.getThenBody() : instr.getElseBody());
  Memory inner = memory;
  for (auto [parameter, value] :
       llvm::zip_equal(body.getInputs(), instr.getCaptures()))
    inner.bind(parameter, memory.getAddress(value));
  for (auto [result, value] :
       llvm::zip_equal(body.getOutputs(), instr.getResults()))
    inner.bind(result, memory.getAddress(value));
  runBody(body, inner);
}

namespace {

/// One run of a loop.
class LoopRun {
public:
  LoopRun(const LoopInstr &loop, const Memory &memory)
      : loop(loop), memory(memory), inner(memory),
        body(getIRFunction(loop.getBody())), inputs(body.getInputs()),
        outputs(body.getOutputs()), numStates(unsigned(loop.getNumStates())) {
    bindParameters();
  }

  void run() {
    int64_t trips = loop.getMaxTripCount();
    if (const Buffer *buffer = loop.getTripCount())
      trips = getDense<const int64_t>(memory, buffer)[0];
    int64_t bound = std::min(loop.getMaxTripCount(), trips);
    bool condition = true;
    if (const Buffer *first = loop.getCondition())
      condition = getDense<const bool>(memory, first)[0];
    int64_t number = 0;
    for (; number < bound && condition; ++number) {
      getDense<int64_t>(inner, inputs[0])[0] = number;
      getDense<bool>(inner, inputs[1])[0] = condition;
      bindScans(number);
      runBody(body, inner);
      condition = getDense<const bool>(inner, outputs[0])[0];
      for (unsigned i = 0; i < numStates; ++i)
        copy(memory.getAddress(loop.getResults()[i]),
             inner.getAddress(outputs[1 + i]), outputs[1 + i]->getType());
    }
    if (condition && number < trips)
      memory.fail(describeFailure(loop));
    clearScans(number);
    getDense<int64_t>(memory, loop.getResults().back())[0] = number;
  }

private:
  static void copy(uint8_t *target, const uint8_t *source, const Type &type) {
    if (int64_t bytes = type.getSizeInBytes())
      std::memcpy(target, source, bytes);
  }

  /// States are in the loop's results, the next ones in the arena; captures are
  /// where they were.
  void bindParameters() {
    for (const Buffer *buffer : getLoopStorage(loop))
      inner.bind(buffer, memory.getArenaAddress(buffer));
    for (unsigned i = 0; i < loop.getValues().size(); ++i) {
      uint8_t *address = memory.getAddress(loop.getValues()[i]);
      if (i < numStates) {
        uint8_t *state = memory.getAddress(loop.getResults()[i]);
        copy(state, address, inputs[2 + i]->getType());
        address = state;
      }
      inner.bind(inputs[2 + i], address);
    }
  }

  uint8_t *getScan(unsigned i, int64_t number) const {
    return memory.getAddress(loop.getResults()[i]) +
           number * outputs[1 + i]->getType().getSizeInBytes();
  }

  void bindScans(int64_t number) {
    for (unsigned i = numStates; i + 1 < outputs.size(); ++i)
      inner.bind(outputs[1 + i], getScan(i, number));
  }

  void clearScans(int64_t number) {
    for (unsigned i = numStates; i + 1 < outputs.size(); ++i)
      if (int64_t bytes = (loop.getMaxTripCount() - number) *
                          outputs[1 + i]->getType().getSizeInBytes())
        std::memset(getScan(i, number), 0, bytes);
  }

  const LoopInstr &loop;
  const Memory &memory;
  Memory inner;
  const IRFunction &body;
  llvm::SmallVector<Buffer *, 4> inputs, outputs;
  unsigned numStates;
};

} // namespace

void interpreter::runLoop(const Memory &memory, const LoopInstr &instr) {
  LoopRun(instr, memory).run();
}

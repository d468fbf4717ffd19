//===- IRHelpers.h - Helpers of the IR tests --------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_IRHELPERS_H
#define GLOWISH_TESTS_UNIT_IRHELPERS_H

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/IRText.h"
#include "glowish/IR/Passes.h"
#include "glowish/IR/PlanProof.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"

namespace glowish::test {

/// The text form of \p function; constants are small in tests.
inline std::string print(const IRFunction &function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIR(os, function, /*sideFile=*/nullptr);
  return text;
}

/// Parses text that is right.
inline std::unique_ptr<IRFunction> parse(llvm::StringRef text) {
  auto function = parseIR(text, "test.ir", nullptr);
  if (!function) {
    ADD_FAILURE() << llvm::toString(function.takeError()) << "\n" << text.str();
    return nullptr;
  }
  return std::move(*function);
}

/// The program of the first function of a module in text form.
inline std::unique_ptr<IRFunction> generateFrom(llvm::StringRef text) {
  auto module = llvm::cantFail(parseModule(text, "test.graph", nullptr));
  Function &function = *module->getFunctions().front();
  return llvm::cantFail(generateIR(function, scheduleNodes(function)));
}

/// The last instruction of the kind T; null if there is none.
template <typename T> const T *findInstr(const IRFunction &function) {
  const T *found = nullptr;
  for (const Instruction &instr : function.getInstrs())
    if (auto *candidate = llvm::dyn_cast<T>(&instr))
      found = candidate;
  return found;
}

/// The message with which \p text is refused.
inline std::string parseError(llvm::StringRef text) {
  auto function = parseIR(text, "test.ir", nullptr);
  if (function)
    return "accepted";
  return llvm::toString(function.takeError());
}

inline const IRPass &getPass(llvm::StringRef name) {
  for (const IRPass &pass : getIRPasses())
    if (pass.name == name)
      return pass;
  llvm::report_fatal_error("no such pass");
}

/// Runs a pass and verifies what it leaves; returns whether it says that it
/// changed something.
inline bool runPass(IRFunction &function, llvm::StringRef name) {
  llvm::Expected<bool> changed = getPass(name).run(function, IRPassContext());
  EXPECT_TRUE(bool(changed)) << llvm::toString(changed.takeError());
  if (llvm::Error error = verify(function))
    ADD_FAILURE() << "after " << name.str() << ": "
                  << llvm::toString(std::move(error)) << "\n"
                  << print(function);
  return changed && *changed;
}

/// Runs \p function, laid out by \p plan, on numbers made from \p seed; returns
/// the mutable region and the arena, which begins with signalling rubbish.
inline std::pair<Tensor, Tensor>
interpret(const IRFunction &function, uint64_t seed, const MemoryPlan &plan) {
  llvm::cantFail(provePlan(function, plan));
  Tensor constants = makeConstantRegion(function, plan);
  auto makeRegion = [](uint64_t bytes) {
    return Tensor(Type(ElemKind::UInt8, {int64_t(bytes)}));
  };
  Tensor mutables = makeRegion(plan.mutableSize);
  Tensor activations = makeRegion(plan.activationSize);
  std::fill(activations.data<uint8_t>().begin(),
            activations.data<uint8_t>().end(), 0xA5 ^ uint8_t(seed));
  Random random(seed);
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    bool isInArena = plan.isInArena(buffer.get());
    Tensor tensor =
        Tensor::borrow(buffer->getType(),
                       static_cast<uint8_t *>(
                           (isInArena ? activations : mutables).getBytes()) +
                           plan.getOffset(buffer.get()));
    for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
      double value = double(random.below(9)) - 4;
      // Inputs may lie there.
      if (!isInArena || buffer->isInput())
        tensor.setFromDouble(i, value);
    }
  }
  std::unique_ptr<Backend> backend = createInterpreter();
  auto executable = llvm::cantFail(backend->compile(function, plan));
  llvm::cantFail(
      executable->run(static_cast<const uint8_t *>(constants.getBytes()),
                      static_cast<uint8_t *>(mutables.getBytes()),
                      static_cast<uint8_t *>(activations.getBytes())));
  return {std::move(mutables), std::move(activations)};
}

/// The mutable region after a run, with the inputs as they were.
inline std::vector<uint8_t> interpret(const IRFunction &function,
                                      uint64_t seed) {
  Tensor mutables = interpret(function, seed, planMemory(function)).first;
  return {mutables.data<uint8_t>().begin(), mutables.data<uint8_t>().end()};
}

/// Those of plans with inputs and outputs in the arena.
inline PlanOptions getArenaOptions() {
  PlanOptions options;
  options.placesIOInArena = true;
  return options;
}
inline MemoryPlan planInArena(const IRFunction &function) {
  return planMemory(function, getArenaOptions());
}

/// What a run leaves in outputs and states, in the order of creation.
inline std::vector<uint8_t> interpretOutputs(const IRFunction &function,
                                             uint64_t seed,
                                             const PlanOptions &options) {
  MemoryPlan plan = planMemory(function, options);
  auto [mutables, activations] = interpret(function, seed, plan);
  std::vector<uint8_t> bytes;
  for (const Buffer *output : function.getOutputs()) {
    Tensor &region = plan.isInArena(output) ? activations : mutables;
    llvm::append_range(
        bytes, Tensor::borrow(output->getType(),
                              static_cast<uint8_t *>(region.getBytes()) +
                                  plan.getOffset(output))
                   .getByteRange());
  }
  return bytes;
}

} // namespace glowish::test

#endif // GLOWISH_TESTS_UNIT_IRHELPERS_H

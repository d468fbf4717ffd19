//===- Comparison.cpp - LLVM IR before and after its passes ---------------===//

#include "Comparison.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/Random.h"
#include <cmath>

using namespace glowish;
using namespace glowish::irinterp;

static constexpr llvm::StringLiteral entryName = "entry";

/// Floats of [-1, 1), and integers that are indices of anything.
static Tensor makeInput(const Type &type, uint64_t seed) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    tensor.setFromDouble(i, isFloatKind(type.getKind())
                                ? double(random.uniform(-1, 1))
                                : double(random.below(2)));
  return tensor;
}

static llvm::Expected<PlannedProgram> compileFor(Backend &backend,
                                                 llvm::StringRef path) {
  Compilation compilation(backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation.import(path, ImportOptions()));
  return compilation.compile(std::move(graph));
}

llvm::Expected<CheckedModel>
CheckedModel::create(CPUBackend &backend, llvm::StringRef path, uint64_t seed) {
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program, compileFor(backend, path));
  return CheckedModel(backend, std::move(program), path.str(), seed);
}

llvm::Expected<std::unique_ptr<llvm::Module>>
CheckedModel::emit(llvm::LLVMContext &context) const {
  EntryForm form;
  form.bindsPlaceholders = true;
  return backend->emitModule(context, program.getIR(), program.getPlan(),
                             entryName, form);
}

//===- Interpreting -------------------------------------------------------===//

/// The arguments of the entry, and where each placeholder is.
struct CheckedModel::Places {
  llvm::SmallVector<Lane, 4> arguments;
  std::vector<std::pair<const Buffer *, uint64_t>> placeholders;
};

static llvm::ArrayRef<uint8_t> getBytes(const Tensor &tensor) {
  return {static_cast<const uint8_t *>(tensor.getBytes()),
          size_t(tensor.getType().getSizeInBytes())};
}

llvm::Expected<CheckedModel::Places>
CheckedModel::placeAll(Memory &memory, const llvm::Module &module) const {
  const MemoryPlan &plan = program.getPlan();
  Places places;
  auto place = [&](const llvm::Twine &name, uint64_t size,
                   uint64_t alignment) -> llvm::Expected<uint64_t> {
    return memory.allocate(name.str(), size, alignment);
  };
  Tensor weights = makeConstantRegion(program.getIR(), plan);
  GLOWISH_ASSIGN_OR_RETURN(
      uint64_t constants,
      place("the weights", getBytes(weights).size(), plan.alignment));
  memory.initialize(constants, getBytes(weights), /*isWritable=*/false);
  // Those that can't have a place of their own.
  GLOWISH_ASSIGN_OR_RETURN(
      uint64_t mutables,
      place("the region of placeholders", plan.mutableSize, plan.alignment));
  GLOWISH_ASSIGN_OR_RETURN(
      uint64_t activations,
      place("the activations", plan.activationSize, plan.alignment));
  std::vector<uint8_t> table;
  unsigned pointerBytes = module.getDataLayout().getPointerSize();
  uint64_t number = seed;
  for (const auto &buffer : program.getIR().getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    const Type &type = buffer->getType();
    uint64_t address = mutables + plan.getOffset(buffer.get()), given = 0;
    if (isBindable(*buffer)) {
      GLOWISH_ASSIGN_OR_RETURN(
          given, place("the placeholder '" + buffer->getName() + "'",
                       uint64_t(type.getSizeInBytes()), plan.alignment));
      address = given;
    }
    if (buffer->isInput())
      memory.initialize(address, getBytes(makeInput(type, number++)),
                        /*isWritable=*/given == 0);
    places.placeholders.push_back({buffer.get(), address});
    for (unsigned i = 0; i < pointerBytes; ++i)
      table.push_back(uint8_t(given >> (8 * i)));
  }
  GLOWISH_ASSIGN_OR_RETURN(uint64_t bound, place("the table of placeholders",
                                                 table.size(), pointerBytes));
  memory.initialize(bound, table, /*isWritable=*/false);
  for (uint64_t address : {constants, mutables, activations, bound})
    places.arguments.push_back({address, false});
  return places;
}

llvm::Expected<Tensor> CheckedModel::readOutput(const Memory &memory,
                                                uint64_t address,
                                                const Buffer *output) const {
  uint64_t size = uint64_t(output->getType().getSizeInBytes());
  llvm::ArrayRef<uint8_t> poison = memory.getPoison(address, size);
  const uint8_t *first = llvm::find(poison, 1);
  // Nothing is outside of the extents that a run leaves.
  if (first != poison.end() && isBindable(*output))
    return makeError("byte {0} of output '{1}' has no value",
                     first - poison.begin(), output->getName());
  Tensor tensor(output->getType());
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  llvm::copy(memory.getBytes(address, size), bytes);
  for (auto [i, isPoison] : llvm::enumerate(poison))
    bytes[i] = isPoison ? 0 : bytes[i];
  return tensor;
}

llvm::Expected<Outputs>
CheckedModel::interpret(const llvm::Module &module) const {
  Memory memory(module.getDataLayout().getPointerSizeInBits());
  GLOWISH_ASSIGN_OR_RETURN(Places places, placeAll(memory, module));
  Interpreter interpreter(module, memory);
  GLOWISH_ASSIGN_OR_RETURN(
      auto returned,
      interpreter.run(*module.getFunction(entryName), places.arguments));
  if (returned[0].isPoison || returned[0].bits != 0)
    return makeError("the entry returned {0}", returned[0].bits);
  Outputs outputs;
  outputs.numSteps = interpreter.getNumSteps();
  for (auto [buffer, address] : places.placeholders) {
    if (!buffer->isOutput())
      continue;
    GLOWISH_ASSIGN_OR_RETURN(Tensor tensor,
                             readOutput(memory, address, buffer));
    outputs.names.push_back(buffer->getName().str());
    outputs.tensors.push_back(std::move(tensor));
  }
  return outputs;
}

//===- Comparisons --------------------------------------------------------===//

llvm::Expected<Outputs> CheckedModel::getReference() const {
  std::unique_ptr<Backend> reference = createInterpreter();
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram plain, compileFor(*reference, path));
  GLOWISH_ASSIGN_OR_RETURN(auto session, Session::create(plain));
  uint64_t number = seed;
  for (const Buffer *placeholder : session->getPlaceholders())
    if (placeholder->isInput())
      GLOWISH_RETURN_IF_ERROR(session->setInput(
          placeholder, makeInput(placeholder->getType(), number++)));
  GLOWISH_RETURN_IF_ERROR(session->run());
  Outputs outputs;
  for (const Buffer *placeholder : session->getPlaceholders()) {
    if (!placeholder->isOutput())
      continue;
    outputs.names.push_back(placeholder->getName().str());
    outputs.tensors.push_back(session->getTensor(placeholder).clone());
  }
  return outputs;
}

llvm::Error glowish::irinterp::compareBits(const Outputs &before,
                                           const Outputs &after) {
  for (auto [name, a, b] :
       llvm::zip(before.names, before.tensors, after.tensors))
    for (int64_t i = 0; i < a.getType().getNumElements(); ++i) {
      size_t size = size_t(a.getType().getSizeInBytes()) /
                    size_t(a.getType().getNumElements());
      if (getBytes(a).slice(size_t(i) * size, size) !=
          getBytes(b).slice(size_t(i) * size, size))
        return makeError("element {0} of '{1}' is {2} before LLVM's passes and "
                         "{3} behind them",
                         i, name, a.getAsDouble(i), b.getAsDouble(i));
    }
  return llvm::Error::success();
}

llvm::Error glowish::irinterp::compareValues(const Outputs &actual,
                                             const Outputs &expected,
                                             double tolerance) {
  for (auto [name, a, b] :
       llvm::zip(actual.names, actual.tensors, expected.tensors)) {
    double largest = 0;
    int64_t count = b.getType().getNumElements();
    for (int64_t i = 0; i < count; ++i)
      largest = std::max(largest, std::abs(b.getAsDouble(i)));
    for (int64_t i = 0; i < count; ++i) {
      double difference = std::abs(a.getAsDouble(i) - b.getAsDouble(i));
      if (!(difference <= tolerance * largest))
        return makeError("element {0} of '{1}' is {2}, and the reference {3}",
                         i, name, a.getAsDouble(i), b.getAsDouble(i));
    }
  }
  return llvm::Error::success();
}

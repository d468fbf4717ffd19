//===- Interpreter.cpp - The reference back end ---------------------------===//

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "Run.h"
#include "glowish/Backends/BackendRegistry.h"
#include "glowish/Backends/RunErrors.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/IR/FindInstr.h"
#include "glowish/Support/Task.h"

using namespace glowish;
using namespace glowish::interpreter;

uint8_t *Memory::getAddress(const Buffer *buffer) const {
  const Buffer *root = buffer->getRoot();
  int64_t offset = buffer->getOffset() * getElemSize(root->getType().getKind());
  if (uint8_t *bound = bindings.lookup(root))
    return bound + offset;
  assert(root->getKind() != Buffer::Kind::View && "a root is not a view");
  uint8_t *base = plan.isInArena(root)                        ? activations
                  : root->getKind() == Buffer::Kind::Constant ? constants
                                                              : mutables;
  return base + plan.getOffset(root) + offset;
}

Tensor interpreter::readOperand(const Memory &memory, const Buffer *buffer) {
  if (!buffer->isDense())
    return gatherOperand(memory, buffer);
  return Tensor::borrow(buffer->getType(), memory.getAddress(buffer));
}

/// Calls \p copy with the address of each element of a view with the shape and
/// the strides of \p buffer, from \p first on, and that of the same element of
/// \p dense, a tensor of the shape. Elements have \c Size bytes.
template <size_t Size, typename Byte, typename DenseByte, typename CopyFn>
static void forEachPlace(const Buffer &buffer, Byte *first, DenseByte *dense,
                         CopyFn copy) {
  DimsRef shape = buffer.getShape(), strides = buffer.getStrides();
  if (shape.empty())
    return copy(first, dense);
  int64_t length = shape.back(), step = strides.back() * int64_t(Size);
  forEachIndex(shape.drop_back(), [&](DimsRef index) {
    Byte *place = first + getOffset(index, strides.drop_back()) * int64_t(Size);
    for (int64_t i = 0; i < length; ++i, place += step, dense += Size)
      copy(place, dense);
  });
}

/// Calls \p body with the size in bytes of elements of \p kind, a constant.
template <typename BodyFn>
static void dispatchSize(ElemKind kind, const BodyFn &body) {
  switch (getElemSize(kind)) {
  case 1:
    return body(std::integral_constant<size_t, 1>());
  case 2:
    return body(std::integral_constant<size_t, 2>());
  case 4:
    return body(std::integral_constant<size_t, 4>());
  default:
    assert(getElemSize(kind) == 8 && "an element of no size");
    return body(std::integral_constant<size_t, 8>());
  }
}

Tensor interpreter::gatherOperand(const Memory &memory, const Buffer *buffer) {
  if (buffer->isDense())
    return readOperand(memory, buffer).clone();
  Tensor result(buffer->getType());
  const uint8_t *source = memory.getAddress(buffer);
  auto *target = static_cast<uint8_t *>(result.getBytes());
  dispatchSize(buffer->getType().getKind(), [&](auto size) {
    forEachPlace<size>(*buffer, source, target,
                       [](const uint8_t *from, uint8_t *to) {
                         std::memcpy(to, from, decltype(size)::value);
                       });
  });
  return result;
}

void interpreter::scatterOperand(const Memory &memory, const Buffer *buffer,
                                 const Tensor &tensor) {
  assert(tensor.getType().getKind() == buffer->getType().getKind() &&
         tensor.getType().getShape() == buffer->getType().getShape());
  uint8_t *target = memory.getAddress(buffer);
  auto *next = static_cast<const uint8_t *>(tensor.getBytes());
  if (buffer->isDense()) {
    if (int64_t bytes = tensor.getSizeInBytes())
      std::memcpy(target, next, bytes);
    return;
  }
  dispatchSize(tensor.getType().getKind(), [&](auto size) {
    forEachPlace<size>(*buffer, target, next,
                       [](uint8_t *to, const uint8_t *from) {
                         std::memcpy(to, from, decltype(size)::value);
                       });
  });
}

void Memory::readSymbols(const IRFunction &function) {
  for (const Buffer *input : function.getInputs())
    if (const auto &range = input->getInputExtents().range)
      symbols[range->symbol] = *getDense<const int64_t>(*this, input).data();
}

int64_t interpreter::countNeeded(const Memory &memory, const Instruction &instr,
                                 unsigned operand, unsigned dim) {
  for (const LoopBound &bound : instr.getLoopBounds())
    if (bound.operand == operand && bound.dim == dim)
      return *bound.extent.evaluate(
          [&](llvm::StringRef symbol) -> std::optional<int64_t> {
            return memory.getSymbol(symbol.str());
          });
  return instr.getOperand(operand)->getType().getDim(dim);
}

void interpreter::storeThroughEpilogue(const Memory &memory,
                                       const Buffer *destination, Tensor result,
                                       const ScalarProgram &epilogue,
                                       llvm::ArrayRef<Buffer *> fused) {
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(result));
  for (const Buffer *buffer : fused)
    inputs.push_back(gatherOperand(memory, buffer));
  scatterOperand(memory, destination,
                 evaluateProgram(epilogue, std::move(inputs)));
}

static void computeInstr(const Memory &memory, const Instruction &instr) {
  switch (instr.getKind()) {
#define LIFETIME_MARKER(NAME)                                                  \
  case InstrKind::NAME:                                                        \
    return;
#define INSTR(NAME)                                                            \
  case InstrKind::NAME:                                                        \
    return run##NAME(memory, llvm::cast<NAME##Instr>(instr));
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"
  }
  llvm_unreachable("compile() refuses instructions of other back ends");
}

/// Overwrites the rows of \p buffer that \p isNeeded, of one or all rows, is
/// false for.
static void clearRows(const Memory &memory, const Buffer *buffer,
                      llvm::ArrayRef<bool> isNeeded) {
  Tensor tensor = gatherOperand(memory, buffer);
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  int64_t rowBytes = tensor.getSizeInBytes() / int64_t(isNeeded.size());
  int value = tensor.getType().getKind() == ElemKind::Bool ? 1 : 0xff;
  for (auto [row, isRowNeeded] : llvm::enumerate(isNeeded))
    if (!isRowNeeded)
      std::memset(bytes + int64_t(row) * rowBytes, value, size_t(rowBytes));
  scatterOperand(memory, buffer, tensor);
}

void interpreter::runInstr(const Memory &memory, const Instruction &instr) {
  const Buffer *predicate = instr.getPredicate();
  if (!predicate || !memory.overwritesUnneeded())
    return computeInstr(memory, instr);
  Tensor isNeeded = gatherOperand(memory, predicate);
  computeInstr(memory, instr);
  if (isNeeded.getNumElements() == 0)
    return;
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (instr.getOperand(i) && instr.writes(i))
      clearRows(memory, instr.getOperand(i), isNeeded.data<bool>());
}

namespace {

class InterpretedFunction final : public Executable {
public:
  InterpretedFunction(const IRFunction &function, const MemoryPlan &plan,
                      InstrClock *clock, const InterpreterOptions &options)
      : function(function), plan(plan), clock(clock), options(options) {}

  llvm::Error run(const uint8_t *constants, uint8_t *mutables,
                  uint8_t *activations, uint8_t *const *bound) const override {
    Memory memory(plan, constants, mutables, activations,
                  options.heedsPredicates);
    if (bound)
      bindPlaceholders(memory, bound);
    memory.readSymbols(function);
    if (clock)
      clock->mark();
    for (const Instruction &instr : function.getInstrs()) {
      if (instr.isLifetimeMarker())
        continue;
      GLOWISH_RETURN_IF_ERROR(checkCancelled());
      runInstr(memory, instr);
      if (!memory.getFailure().empty())
        return makeError("{0}", memory.getFailure());
      if (clock)
        clock->mark();
    }
    return llvm::Error::success();
  }

private:
  void bindPlaceholders(Memory &memory, uint8_t *const *bound) const {
    for (const auto &buffer : function.getBuffers())
      if (buffer->getKind() == Buffer::Kind::Mutable)
        if (uint8_t *address = *bound++)
          memory.bind(buffer.get(), address);
  }

  const IRFunction &function;
  const MemoryPlan &plan;
  InstrClock *clock;
  InterpreterOptions options;
};

class Interpreter final : public Backend {
public:
  explicit Interpreter(const InterpreterOptions &options) : options(options) {}

  llvm::StringRef getName() const override { return "Interpreter"; }

  bool isSupported(const Node &node) const override {
    return isElementWise(node) || hasInstr(node);
  }

  llvm::Expected<std::unique_ptr<Executable>>
  compile(const IRFunction &function, const MemoryPlan &plan,
          InstrClock *clock) override {
    if (const Instruction *unknown =
            findInstr(function, [](const Instruction &instr) {
              return !isCommonInstr(instr.getKind());
            }))
      return makeError("the interpreter has no instruction '{0}'",
                       unknown->getKindName());
    GLOWISH_RETURN_IF_ERROR(checkExternalFunctions(function));
    return std::make_unique<InterpretedFunction>(function, plan, clock,
                                                 options);
  }

private:
  InterpreterOptions options;
};

} // namespace

std::unique_ptr<Backend>
glowish::createInterpreter(InterpreterOptions options) {
  return std::make_unique<Interpreter>(options);
}

static const BackendRegistration registration(
    {.name = "Interpreter",
     .description = "plain loops that the others are checked against",
     .create = [](const TargetOptions & /*target*/)
         -> llvm::Expected<std::unique_ptr<Backend>> {
       return createInterpreter();
     }});

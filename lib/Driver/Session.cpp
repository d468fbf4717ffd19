//===- Session.cpp - Running a compiled model in this process -------------===//

#include "glowish/Driver/Session.h"
#include "glowish/Base/CopyCorner.h"
#include "glowish/Driver/RunnableProgram.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <set>

using namespace glowish;

static Tensor makeRegion(uint64_t size) {
  return Tensor(Type(ElemKind::UInt8, {int64_t(size)}));
}

static Tensor makeExtent(int64_t value) {
  return Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {value});
}

/// NaN, as floats: what reads elements that do not matter stands out.
static void fillUnspecified(Tensor &tensor) {
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  std::fill_n(bytes, tensor.getSizeInBytes(), uint8_t(0xff));
}

llvm::Error glowish::checkMemory(const MemoryPlan &plan) {
  uint64_t size = plan.constantSize + plan.mutableSize + plan.activationSize;
  // The compiler would remove an allocation that is not used.
  void *volatile memory = std::calloc(size + Tensor::alignment, 1);
  if (!memory)
    return makeError("there is no memory for the model: {0} bytes of weights, "
                     "{1} of inputs and outputs and {2} of activations",
                     plan.constantSize, plan.mutableSize, plan.activationSize);
  std::free(memory);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Session>>
Session::create(Backend &backend, const IRFunction &function,
                const MemoryPlan &plan, InstrClock *clock,
                std::shared_ptr<const Tensor> constants) {
  GLOWISH_RETURN_IF_ERROR(checkMemory(plan));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                           backend.compile(function, plan, clock));
  if (!constants)
    constants =
        std::make_shared<const Tensor>(makeConstantRegion(function, plan));
  return create(function, plan, std::move(executable), std::move(constants));
}

llvm::Expected<std::unique_ptr<Session>>
Session::create(const RunnableProgram &program) {
  return create(*program.placeholders, *program.plan, program.executable,
                program.constants);
}

llvm::Expected<std::unique_ptr<Session>>
Session::create(const IRFunction &function, const MemoryPlan &plan,
                std::shared_ptr<const Executable> executable,
                std::shared_ptr<const Tensor> constants) {
  GLOWISH_RETURN_IF_ERROR(checkMemory(plan));
  std::unique_ptr<Session> session(new Session(plan));
  session->executable = std::move(executable);
  session->constants = std::move(constants);
  session->mutables = makeRegion(plan.mutableSize);
  session->activations = makeRegion(plan.activationSize);
  fillUnspecified(session->activations);
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    session->placeholders.push_back(buffer.get());
    if (buffer->isInput() && plan.isInArena(buffer.get()))
      session->arenaInputs.insert({buffer.get(), Tensor(buffer->getType())});
    if (const auto &range = buffer->getInputExtents().range) {
      session->symbols[range->symbol] = buffer.get();
      session->write(buffer.get(), makeExtent(range->bounds.high));
    }
  }
  return session;
}

llvm::Expected<const Buffer *>
Session::findPlaceholder(llvm::StringRef name) const {
  std::vector<std::string> names;
  for (const Buffer *buffer : placeholders) {
    if (buffer->getModelName() == name)
      return buffer;
    names.push_back(("'" + buffer->getModelName() + "'").str());
  }
  return makeError("the model has no input or output '{0}'; it has {1}", name,
                   llvm::join(names, ", "));
}

void Session::write(const Buffer *placeholder, const Tensor &tensor) {
  Tensor target = getTensor(placeholder);
  llvm::copy(tensor.getByteRange(), static_cast<uint8_t *>(target.getBytes()));
}

bool Session::bind(const Buffer *placeholder, void *memory) {
  if (!isBindable(*placeholder) || plan.isInArena(placeholder))
    return false;
  bound.resize(placeholders.size());
  auto index = llvm::find(placeholders, placeholder) - placeholders.begin();
  bound[size_t(index)] = static_cast<uint8_t *>(memory);
  return true;
}

llvm::Error Session::setInput(const Buffer *placeholder, const Tensor &tensor) {
  // What the caller has is not written to.
  if (!bound.empty())
    bind(placeholder, nullptr);
  if (!placeholder->getInputExtents().dims.empty())
    return setPart(placeholder, tensor);
  if (tensor.getType() != placeholder->getType())
    return makeError("input '{0}' is {1}, not {2}", placeholder->getModelName(),
                     placeholder->getType().str(), tensor.getType().str());
  write(placeholder, tensor);
  return llvm::Error::success();
}

//===- Stated extents -----------------------------------------------------===//

llvm::Error Session::setPart(const Buffer *placeholder, const Tensor &tensor) {
  const Type &type = tensor.getType();
  const ExtentList &dims = placeholder->getInputExtents().dims;
  Type largest = placeholder->getType().withExtents(dims);
  if (!fitsExtents(type, largest))
    return makeError("input '{0}' is {1}, not {2}", placeholder->getModelName(),
                     largest.str(), type.str());
  for (auto [dim, extent] : llvm::zip_equal(dims, type.getShape()))
    if (dim && !dim->getSymbol().empty())
      write(symbols.at(dim->getSymbol().str()), makeExtent(extent));
  givenShapes[placeholder] = Dims(type.getShape());
  Tensor whole(placeholder->getType());
  fillUnspecified(whole);
  copyCorner(tensor, whole);
  write(placeholder, whole);
  return llvm::Error::success();
}

std::optional<int64_t> Session::getSymbolValue(llvm::StringRef symbol) const {
  auto buffer = symbols.find(symbol.str());
  if (buffer == symbols.end())
    return std::nullopt;
  return getTensor(buffer->second).getAsInt(0);
}

Type Session::getLargestType(const Buffer *placeholder) const {
  SymbolRanges ranges;
  for (const auto &[symbol, buffer] : symbols)
    ranges.set(symbol, buffer->getInputExtents().range->bounds);
  Dims shape(placeholder->getShape());
  // The verifier has bounded them.
  for (auto [bound, extent] :
       llvm::zip(shape, placeholder->getInputExtents().dims))
    if (extent)
      bound = ranges.getRange(*extent)->high;
  return placeholder->getType().withShape(shape);
}

llvm::Error Session::checkExtents() const {
  for (const auto &[symbol, buffer] : symbols) {
    int64_t value = getTensor(buffer).getAsInt(0);
    IntRange bounds = buffer->getInputExtents().range->bounds;
    if (value < bounds.low || value > bounds.high)
      return makeError("the extent '{0}' is {1}; accepted: {2} to {3}", symbol,
                       value, bounds.low, bounds.high);
  }
  for (const auto &[buffer, given] : givenShapes) {
    const ExtentList &extents = buffer->getInputExtents().dims;
    Dims actual = evaluateShape(given, extents, [&](llvm::StringRef symbol) {
      return getSymbolValue(symbol);
    });
    for (unsigned d = 0; d < given.size(); ++d)
      if (actual[d] != given[d])
        return makeError("input '{0}' has the extent {1} where '{2}' is {3}",
                         buffer->getModelName(), given[d],
                         extents[d]->describe(), actual[d]);
  }
  return llvm::Error::success();
}

uint8_t *Session::getAddress(const Buffer *placeholder) const {
  for (auto [buffer, address] : llvm::zip(placeholders, bound))
    if (buffer == placeholder && address)
      return address;
  const Tensor &region = plan.isInArena(placeholder) ? activations : mutables;
  auto *base = static_cast<uint8_t *>(const_cast<void *>(region.getBytes()));
  return base + plan.getOffset(placeholder);
}

Tensor Session::getTensor(const Buffer *placeholder) const {
  auto input = arenaInputs.find(placeholder);
  uint8_t *bytes = input == arenaInputs.end()
                       ? getAddress(placeholder)
                       : static_cast<uint8_t *>(
                             const_cast<void *>(input->second.getBytes()));
  return Tensor::borrow(placeholder->getType(), bytes);
}

std::vector<const Buffer *> Session::getOutputs() const {
  std::set<const Buffer *> extents;
  for (const Buffer *buffer : placeholders)
    extents.insert(buffer->getExtents());
  std::vector<const Buffer *> outputs;
  for (const Buffer *buffer : placeholders)
    if (buffer->isOutput() && !extents.count(buffer))
      outputs.push_back(buffer);
  return outputs;
}

Tensor Session::getOutput(const Buffer *placeholder) const {
  Tensor whole = getTensor(placeholder);
  Dims shape(placeholder->getShape());
  if (placeholder->getExtents()) {
    Tensor extents = getTensor(placeholder->getExtents());
    for (auto [d, extent] : llvm::enumerate(shape))
      extent = std::clamp<int64_t>(extents.getAsInt(d), 0, extent);
  }
  // What run() has checked is in the ranges.
  shape = evaluateShape(
      shape, placeholder->getInputExtents().next,
      [&](llvm::StringRef symbol) { return getSymbolValue(symbol); });
  if (DimsRef(shape) == placeholder->getShape())
    return whole;
  Tensor result(whole.getType().withShape(shape));
  copyCorner(whole, result);
  return result;
}

llvm::Error
Session::copyInputs(const Session &from,
                    llvm::function_ref<bool(const Buffer *input)> isOther) {
  for (const Buffer *buffer : placeholders) {
    if (!buffer->isInput() || (isOther && isOther(buffer)))
      continue;
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *source,
                             from.findPlaceholder(buffer->getModelName()));
    GLOWISH_RETURN_IF_ERROR(setInput(buffer, from.getTensor(source)));
  }
  return llvm::Error::success();
}

void Session::takeStates(const Session &other) {
  for (const Buffer *state : other.placeholders) {
    if (!state->isInput() || !state->isOutput())
      continue;
    // A model has the same states whatever its extents are.
    const Buffer *own = llvm::cantFail(findPlaceholder(state->getModelName()));
    Tensor left = other.getOutput(state), target = getTensor(own);
    copyCorner(left, target);
  }
}

llvm::Error Session::run() {
  GLOWISH_RETURN_IF_ERROR(checkExtents());
  for (const auto &[buffer, tensor] : arenaInputs)
    llvm::copy(tensor.getByteRange(), getAddress(buffer));
  return executable->run(constants->data<uint8_t>().data(),
                         mutables.data<uint8_t>().data(),
                         activations.data<uint8_t>().data(),
                         bound.empty() ? nullptr : bound.data());
}

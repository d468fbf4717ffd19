//===- Session.cpp - Running a compiled model in this process -------------===//

#include "glowish/Driver/Session.h"
#include "GivenTypes.h"
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
      session->ranges.set(range->symbol, range->bounds);
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

llvm::Error Session::checkInput(const Buffer *placeholder,
                                const Type &type) const {
  return checkGivenType(
      placeholder->getModelName(), type,
      placeholder->getType().withExtents(placeholder->getInputExtents().dims),
      ranges);
}

llvm::Error Session::setInput(const Buffer *placeholder, const Tensor &tensor) {
  GLOWISH_RETURN_IF_ERROR(checkInput(placeholder, tensor.getType()));
  // What the caller has is not written to.
  if (!bound.empty())
    bind(placeholder, nullptr);
  if (placeholder->getInputExtents().dims.empty())
    write(placeholder, tensor);
  else
    writePart(placeholder, tensor);
  return llvm::Error::success();
}

//===- Stated extents -----------------------------------------------------===//

void Session::writePart(const Buffer *placeholder, const Tensor &tensor) {
  DimsRef shape = tensor.getType().getShape();
  for (auto [dim, extent] :
       llvm::zip_equal(placeholder->getInputExtents().dims, shape)) {
    if (dim && !dim->getSymbol().empty())
      write(symbols.at(dim->getSymbol().str()), makeExtent(extent));
  }
  givenShapes[placeholder] = Dims(shape);
  Tensor whole(placeholder->getType());
  fillUnspecified(whole);
  copyCorner(tensor, whole);
  write(placeholder, whole);
}

std::map<std::string, int64_t> Session::getSymbolValues() const {
  std::map<std::string, int64_t> values;
  for (const auto &[symbol, buffer] : symbols)
    values[symbol] = getTensor(buffer).getAsInt(0);
  return values;
}

std::optional<int64_t> Session::getSymbolValue(llvm::StringRef symbol) const {
  auto buffer = symbols.find(symbol.str());
  if (buffer == symbols.end())
    return std::nullopt;
  return getTensor(buffer->second).getAsInt(0);
}

const Buffer *Session::findStating(llvm::StringRef symbol,
                                   int64_t value) const {
  for (const auto &[buffer, shape] : givenShapes)
    for (auto [dim, extent] :
         llvm::zip_equal(buffer->getInputExtents().dims, shape))
      if (dim && dim->getSymbol() == symbol && extent == value)
        return buffer;
  return nullptr;
}

Type Session::getLargestType(const Buffer *placeholder) const {
  SymbolRanges possible = ranges;
  for (const auto &[symbol, buffer] : symbols) {
    int64_t value = *getSymbolValue(symbol);
    if (findStating(symbol, value))
      possible.set(symbol, {value, value});
  }
  Dims shape(placeholder->getShape());
  // The verifier has bounded them.
  for (auto [bound, extent] :
       llvm::zip(shape, placeholder->getInputExtents().dims))
    if (extent)
      bound = possible.getRange(*extent)->high;
  return placeholder->getType().withShape(shape);
}

llvm::Error Session::checkExtents() const {
  for (const auto &[symbol, buffer] : symbols) {
    int64_t value = *getSymbolValue(symbol);
    IntRange range = *ranges.find(symbol);
    if (value < range.low || value > range.high)
      return makeError("the extent '{0}' is {1}; accepted: {2} to {3}", symbol,
                       value, range.low, range.high);
  }
  auto getValue = [&](llvm::StringRef symbol) {
    return getSymbolValue(symbol);
  };
  for (const auto &[symbol, buffer] : symbols)
    for (const auto &[a, b] : buffer->getInputExtents().required) {
      std::optional<int64_t> x = a.evaluate(getValue), y = b.evaluate(getValue);
      if (!x || x != y)
        return makeError("the extents '{0}' and '{1}' are {2} and {3}; "
                         "accepted: equal ones",
                         a.describe(), b.describe(), x.value_or(-1),
                         y.value_or(-1));
    }
  for (const auto &[buffer, given] : givenShapes) {
    Dims actual = evaluateShape(
        given, buffer->getInputExtents().dims,
        [&](llvm::StringRef symbol) { return getSymbolValue(symbol); });
    for (size_t d = 0; d < given.size(); ++d)
      if (actual[d] != given[d])
        return reportContradiction(*buffer, given, d);
  }
  return llvm::Error::success();
}

/// Returns the error that input \p buffer is given \p shape, and that its
/// dimension \p d is not what follows from the values of symbols.
llvm::Error Session::reportContradiction(const Buffer &buffer, DimsRef shape,
                                         size_t d) const {
  const Extent &extent = *buffer.getInputExtents().dims[d];
  std::vector<std::string> parts;
  for (const std::string &symbol : extent.getSymbols()) {
    int64_t value = *getSymbolValue(symbol);
    const Buffer *other = findStating(symbol, value);
    parts.push_back(llvm::formatv("{0} is {1}", symbol, value));
    if (other)
      parts.back() += (" in input '" + other->getModelName() + "'").str();
  }
  return makeError("input '{0}' is {1}: dimension {2} is {3}, and {4}",
                   buffer.getModelName(),
                   buffer.getType().withShape(shape).str(), d,
                   extent.describe(), llvm::join(parts, ", "));
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
    Tensor tensor = from.getTensor(source);
    auto given = from.givenShapes.find(source);
    if (given != from.givenShapes.end()) {
      Tensor part(tensor.getType().withShape(given->second));
      copyCorner(tensor, part);
      tensor = std::move(part);
    }
    GLOWISH_RETURN_IF_ERROR(setInput(buffer, tensor));
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

//===- Generator.cpp - Tokens of a language model -------------------------===//

#include "Generator.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Base/Extent.h"
#include "llvm/ADT/StringSwitch.h"
#include <chrono>

using namespace glowish;

static bool isState(const Buffer *buffer) {
  return buffer->isInput() && buffer->isOutput();
}

/// The extent of dimension \p d that each run states; empty if it is static.
static std::optional<Extent>
getExtent(llvm::ArrayRef<std::optional<Extent>> extents, size_t d) {
  return d < extents.size() ? extents[d] : std::nullopt;
}

/// Returns the symbol that is the extent of dimension \p d of \p buffer; empty
/// if none is.
static llvm::StringRef getSymbol(const Buffer &buffer, size_t d) {
  std::optional<Extent> extent = getExtent(buffer.getInputExtents().dims, d);
  return extent ? extent->getSymbol() : llvm::StringRef();
}

/// The symbol with the number of tokens in the states: the extent of a
/// dimension in which one grows. Empty if none does.
static llvm::StringRef findPastSymbol(const Session &session) {
  for (const Buffer *buffer : session.getPlaceholders()) {
    const InputExtents &extents = buffer->getInputExtents();
    for (size_t d = 0; isState(buffer) && d < extents.dims.size(); ++d)
      if (extents.dims[d] && extents.dims[d] != getExtent(extents.next, d))
        return extents.dims[d]->getSymbol();
  }
  return {};
}

/// int32 or int64, whose first dimension, the batch, is 1, as all are.
static bool isTokensLike(const Buffer *buffer) {
  return isIntegerKind(buffer->getType().getKind()) &&
         buffer->getShape().size() == 2 && buffer->getShape()[0] == 1;
}

static const Buffer *findTokens(const Session &session) {
  const Buffer *found = nullptr;
  for (const Buffer *buffer : session.getPlaceholders()) {
    llvm::StringRef name = buffer->getModelName();
    if (!buffer->isInput() || isState(buffer) || !isTokensLike(buffer))
      continue;
    if (name == "input_ids")
      return buffer;
    if (name != "position_ids" && name != "attention_mask" && !found)
      found = buffer;
  }
  return found;
}

llvm::Error Generator::findInputs(Program &program, const GivenTensors &given) {
  Session &session = *program.session;
  program.tokens = findTokens(session);
  if (!program.tokens)
    return makeError("the model has no input of tokens; accepted: an input of "
                     "integers with the extents [1, N]");
  llvm::StringRef past = findPastSymbol(session);
  for (const Buffer *buffer : session.getPlaceholders()) {
    if (!buffer->isInput() || isState(buffer))
      continue;
    Role role = llvm::StringSwitch<Role>(buffer->getModelName())
                    .Case("position_ids", Role::Positions)
                    .Case("attention_mask", Role::Mask)
                    .Case("seqlens_k", Role::LastPosition)
                    .Cases("total_sequence_length", "total", Role::Total)
                    .Default(Role::Other);
    if (buffer == program.tokens)
      role = Role::Tokens;
    if (const auto &range = buffer->getInputExtents().range) {
      // The others are those of inputs, which state them.
      if (range->symbol != past)
        continue;
      role = Role::Symbol;
      program.past = range->bounds;
    }
    if (role == Role::Other) {
      auto own = given.byName.find(buffer->getModelName().str());
      if (own == given.byName.end())
        return makeError("input '{0}' ({1}) does not follow from the tokens; "
                         "state -input={0}=FILE",
                         buffer->getModelName(), buffer->getType().str());
      GLOWISH_RETURN_IF_ERROR(session.setInput(buffer, own->second.tensor));
      continue;
    }
    program.inputs.push_back({buffer, role});
  }
  return llvm::Error::success();
}

/// Leaves in \p count the numbers of tokens with which a mask of the extent
/// \p mask covers these and the \p past ones: "past + 1" covers one. \p tokens:
/// the symbol with that number, which may be empty.
static void limitToMask(IntRange &count, const Extent &mask,
                        llvm::StringRef past, llvm::StringRef tokens) {
  std::optional<Extent> extent = subtract(mask, Extent::symbol(past));
  auto covers = [&](int64_t number) {
    std::optional<int64_t> covered;
    if (extent)
      covered = extent->evaluate([&](llvm::StringRef symbol) {
        return symbol == tokens ? std::optional(number) : std::nullopt;
      });
    // Of another symbol a run states the value.
    return !covered || *covered == number;
  };
  while (count.low <= count.high && !covers(count.low))
    ++count.low;
  while (count.low <= count.high && !covers(count.high))
    --count.high;
}

/// Returns the bounds of \p symbol, if runs state it.
static std::optional<IntRange> findBounds(const Session &session,
                                          llvm::StringRef symbol) {
  for (const Buffer *buffer : session.getPlaceholders())
    if (const auto &range = buffer->getInputExtents().range)
      if (range->symbol == symbol)
        return range->bounds;
  return std::nullopt;
}

void Generator::findCount(Program &program) {
  const Session &session = *program.session;
  int64_t most = program.tokens->getShape()[1];
  llvm::StringRef tokens = getSymbol(*program.tokens, 1);
  std::optional<IntRange> bounds = findBounds(session, tokens);
  program.count = {bounds ? std::max<int64_t>(1, bounds->low) : most, most};
  llvm::StringRef past = findPastSymbol(session);
  for (auto [buffer, role] : program.inputs) {
    std::optional<Extent> mask = getExtent(buffer->getInputExtents().dims, 1);
    // A run states the extent of a mask that is a symbol of its own.
    if (role == Role::Mask && !past.empty() && mask &&
        !findBounds(session, mask->getSymbol()))
      limitToMask(program.count, *mask, past, tokens);
  }
}

llvm::Error Generator::findLogits(Program &program) {
  bool hasState = false;
  for (const Buffer *buffer : program.session->getPlaceholders())
    hasState |= isState(buffer);
  if (!hasState)
    return makeError("the model keeps nothing between runs; accepted: a model "
                     "with a cache, and -state=INPUT,OUTPUT");
  for (const Buffer *buffer : program.session->getOutputs())
    if (!isState(buffer) && isFloatKind(buffer->getType().getKind()) &&
        buffer->getShape().size() >= 2 && !program.logits)
      program.logits = buffer;
  if (!program.logits)
    return makeError("the model has no output of logits; accepted: floats with "
                     "the extents [1, N, WORDS] or [1, WORDS]");
  return llvm::Error::success();
}

llvm::Error Generator::findPlaceholders(Program &program,
                                        const GivenTensors &given) {
  GLOWISH_RETURN_IF_ERROR(findLogits(program));
  GLOWISH_RETURN_IF_ERROR(findInputs(program, given));
  findCount(program);
  return llvm::Error::success();
}

llvm::Expected<Generator>
Generator::create(llvm::StringLiteral option, const CompiledVariants &compiled,
                  const GivenTensors &given,
                  std::shared_ptr<const Tensor> constants) {
  Generator generator(option);
  for (const PlannedProgram &planned : compiled.getPrograms()) {
    Program program;
    program.planned = &planned;
    GLOWISH_ASSIGN_OR_RETURN(program.session,
                             Session::create(planned, nullptr, constants));
    GLOWISH_RETURN_IF_ERROR(
        addContext(findPlaceholders(program, given), option + ": "));
    generator.programs.push_back(std::move(program));
  }
  return generator;
}

int64_t Generator::getVocabulary() const {
  return programs.front().logits->getShape().back();
}

std::optional<int64_t> Generator::getMostPast() const {
  if (!programs.front().past)
    return std::nullopt;
  return programs.front().past->high;
}

llvm::StringRef Generator::getTokensName() const {
  return programs.front().tokens->getModelName();
}

bool Generator::hasAllLogits() const {
  return llvm::all_of(programs, [&](const Program &program) {
    return (CheckedInt(program.count.high) * getVocabulary())
        .isBetween(0, program.logits->getType().getNumElements());
  });
}

llvm::Error Generator::checkIds(llvm::StringRef what,
                                llvm::ArrayRef<int64_t> ids) const {
  for (int64_t id : ids)
    if (id < 0 || id >= getVocabulary())
      return makeError("{0} has the id {1}; accepted: 0 to {2}", what, id,
                       getVocabulary() - 1);
  return llvm::Error::success();
}

const PlannedProgram &Generator::getSmallestProgram() const {
  return *llvm::min_element(programs, [](const Program &a, const Program &b) {
            return a.count.high < b.count.high;
          })->planned;
}

/// The program whose next call takes most of \p left tokens, and of these the
/// one that is made for the fewest; null if all take more.
Generator::Program *Generator::choose(int64_t left) {
  Program *best = nullptr;
  auto take = [&](const Program &p) { return std::min(p.count.high, left); };
  for (Program &program : programs) {
    if (program.count.low > take(program))
      continue;
    if (!best || take(program) > take(*best) ||
        (take(program) == take(*best) && program.count.high < best->count.high))
      best = &program;
  }
  return best;
}

/// A tensor of the kind of \p buffer with first, first + step, ...
static Tensor makeIntegers(const Buffer *buffer, DimsRef shape, int64_t first,
                           int64_t step) {
  Tensor tensor(buffer->getType().withShape(shape));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, double(first + i * step));
  return tensor;
}

llvm::Error Generator::setInputs(Program &program,
                                 llvm::ArrayRef<int64_t> tokens,
                                 int64_t length) {
  int64_t count = int64_t(tokens.size());
  for (auto [buffer, role] : program.inputs) {
    Tensor tensor;
    DimsRef own = buffer->getShape();
    switch (role) {
    case Role::Tokens:
      tensor = makeIntegers(buffer, {1, count}, 0, 0);
      for (int64_t i = 0; i < count; ++i)
        tensor.setFromDouble(i, double(tokens[size_t(i)]));
      break;
    case Role::Positions:
      tensor = makeIntegers(buffer, {1, count}, length, 1);
      break;
    case Role::Mask:
      tensor = makeIntegers(buffer, {1, length + count}, 1, 0);
      break;
    case Role::LastPosition:
      tensor = makeIntegers(buffer, own, length + count - 1, 0);
      break;
    case Role::Total:
      tensor = makeIntegers(buffer, own, length + count, 0);
      break;
    case Role::Symbol:
      tensor = makeIntegers(buffer, own, length, 0);
      break;
    case Role::Other:
      llvm_unreachable("given once");
    }
    GLOWISH_RETURN_IF_ERROR(program.session->setInput(buffer, tensor));
  }
  return llvm::Error::success();
}

llvm::Expected<size_t> Generator::appendSome(llvm::ArrayRef<int64_t> tokens,
                                             Calls &calls) {
  using Clock = std::chrono::steady_clock;
  Program *program = choose(int64_t(tokens.size()));
  if (!program)
    return makeError("{0}: no program of the model takes {1} tokens; accepted: "
                     "-define-symbol with a range from 1, or with 1 among "
                     "the values",
                     option, tokens.size());
  if (last && program != last)
    program->session->takeStates(*last->session);
  int64_t count =
      std::min<int64_t>(int64_t(tokens.size()), program->count.high);
  GLOWISH_RETURN_IF_ERROR(
      setInputs(*program, tokens.take_front(size_t(count)), length));
  Clock::time_point start = Clock::now();
  GLOWISH_RETURN_IF_ERROR(program->session->run());
  calls.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  ++calls.number;
  last = program;
  lastCount = count;
  length += count;
  return size_t(count);
}

llvm::Expected<Generator::Calls>
Generator::append(llvm::ArrayRef<int64_t> tokens) {
  Calls calls;
  while (!tokens.empty()) {
    GLOWISH_ASSIGN_OR_RETURN(size_t count, appendSome(tokens, calls));
    tokens = tokens.drop_front(count);
  }
  return calls;
}

std::vector<double> Generator::getLogits(size_t token) const {
  Tensor logits = last->session->getTensor(last->logits);
  // A row for each token, or one for the last.
  int64_t words = getVocabulary();
  bool hasAll = logits.getNumElements() > words;
  int64_t row = hasAll ? int64_t(token) * words : 0;
  std::vector<double> values(static_cast<size_t>(words));
  for (int64_t i = 0; i < words; ++i)
    values[size_t(i)] = logits.getAsDouble(row + i);
  return values;
}

int64_t Generator::pickNext() const {
  std::vector<double> logits = getLogits(size_t(lastCount - 1));
  return llvm::max_element(logits) - logits.begin();
}

//===- Accesses.cpp - When a program accesses its buffers -----------------===//

#include "Checks.h"
#include "glowish/IR/StridedLayout.h"
#include "glowish/Support/Error.h"

using namespace glowish;

void glowish::forEachStored(const LoopInstr &loop,
                            llvm::function_ref<void(const Buffer &)> visit) {
  const IRFunction &body = getIRFunction(loop.getBody());
  auto inputs = body.getInputs(), outputs = body.getOutputs();
  for (const Buffer *buffer : llvm::ArrayRef(inputs).take_front(2))
    visit(*buffer);
  for (const Buffer *buffer :
       llvm::ArrayRef(outputs).take_front(1 + loop.getNumStates()))
    visit(*buffer);
}

std::vector<const Buffer *>
glowish::getUntouchedOutputs(const IRFunction &function) {
  std::vector<const Buffer *> untouched;
  for (const Buffer *output : function.getOutputs())
    if (output->getUsers().empty() &&
        llvm::all_of(output->getViews(), [](const Buffer *view) {
          return view->getUsers().empty();
        }))
      untouched.push_back(output);
  return untouched;
}

namespace {

class AccessRecorder {
public:
  explicit AccessRecorder(const MemoryPlan &plan) : plan(plan) {}

  llvm::Error run(const IRFunction &function, const ProofOptions &options);
  PlanProof take() { return std::move(proof); }

private:
  ProvedBuffer &add(const Buffer &buffer, MemoryKind memory);
  void addConstants(const IRFunction &function);
  llvm::Error visit(const IRFunction &function);
  llvm::Error visit(const Instruction &instr);
  llvm::Error visitMark(const Instruction &instr);
  llvm::Error visitBodies(const Instruction &instr, unsigned number);
  llvm::Error visitOperand(const Instruction &instr, unsigned index,
                           PositionRange range);
  llvm::Error checkAverages(const Instruction &instr);
  llvm::Error finish(const IRFunction &function) const;
  /// Null where \p root is bound to an operand of the instruction whose body it
  /// is in, which is accessed as long as the body runs.
  ProvedBuffer *find(const Buffer *root) {
    auto number = numbers.find(root);
    return number == numbers.end() ? nullptr : &proof.buffers[number->second];
  }
  void record(const Buffer *root, const ProvedAccess &access);

  const MemoryPlan &plan;
  PlanProof proof;
  llvm::DenseMap<const Buffer *, size_t> numbers;
  /// The activations between their marks, and those behind them.
  llvm::DenseSet<const Buffer *> live, over;
  /// What processes average now.
  llvm::SmallVector<const Buffer *, 4> averaged;
  unsigned position = 0;
  /// Where the names of what is added begin: the body that is visited.
  std::string prefix;
};

} // namespace

static std::string describe(const Instruction &instr) {
  return (instr.getKindName() + " '" + instr.getName() + "': ").str();
}

ProvedBuffer &AccessRecorder::add(const Buffer &buffer, MemoryKind memory) {
  numbers[&buffer] = proof.buffers.size();
  proof.buffers.push_back(
      {.buffer = &buffer,
       .name = prefix + buffer.getName().str(),
       .memory = memory,
       .bytes = uint64_t(buffer.getType().getSizeInBytes())});
  return proof.buffers.back();
}

void AccessRecorder::addConstants(const IRFunction &function) {
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Constant)
      add(*buffer, MemoryKind::Constants);
}

void AccessRecorder::record(const Buffer *root, const ProvedAccess &access) {
  ProvedBuffer *found = find(root);
  if (!found || found->memory == MemoryKind::Constants)
    return;
  std::vector<ProvedAccess> &accesses = found->accesses;
  if (accesses.empty() || accesses.back().range != access.range)
    accesses.push_back({.range = access.range});
  accesses.back().reads |= access.reads;
  accesses.back().writes |= access.writes;
}

llvm::Error AccessRecorder::run(const IRFunction &function,
                                const ProofOptions &options) {
  addConstants(function);
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable)
      add(*buffer, plan.arenaPlaceholders.contains(buffer.get())
                       ? MemoryKind::Arena
                       : MemoryKind::Mutables);
  for (const Buffer *input : function.getInputs())
    record(input, {.range = {0, 0}, .writes = true});
  if (options.keepsOutputs)
    for (const Buffer *output : getUntouchedOutputs(function))
      record(output, {.range = {0, 0}, .writes = true});
  GLOWISH_RETURN_IF_ERROR(visit(function));
  proof.end = ++position;
  for (const Buffer *output : function.getOutputs())
    record(output, {.range = {position, position}, .reads = true});
  // They have no marks.
  for (ProvedBuffer &buffer : proof.buffers)
    if (plan.arenaPlaceholders.contains(buffer.buffer) &&
        !buffer.accesses.empty())
      buffer.live = {buffer.accesses.front().range.first,
                     buffer.accesses.back().range.last};
  return llvm::Error::success();
}

llvm::Error AccessRecorder::visit(const IRFunction &function) {
  for (const Instruction &instr : function.getInstrs())
    GLOWISH_RETURN_IF_ERROR(addContext(visit(instr), describe(instr)));
  return finish(function);
}

llvm::Error AccessRecorder::finish(const IRFunction &function) const {
  for (const auto &buffer : function.getBuffers())
    if (live.contains(buffer.get()))
      return makeError("internal: the lifetime of '{0}' does not end",
                       buffer->getName());
  for (const Buffer *buffer : averaged)
    return makeError("internal: nothing waits until '{0}' is averaged",
                     buffer->getName());
  return llvm::Error::success();
}

llvm::Error AccessRecorder::visitMark(const Instruction &instr) {
  const Buffer *root = instr.getOperand(0);
  if (root->getKind() != Buffer::Kind::Activation)
    return makeError("internal: '{0}' is no activation", root->getName());
  if (llvm::isa<AllocInstr>(instr)) {
    if (over.contains(root) || !live.insert(root).second)
      return makeError("internal: '{0}' is allocated twice", root->getName());
    add(*root, MemoryKind::Arena).live = {position + 1, position};
    return llvm::Error::success();
  }
  if (!live.erase(root))
    return makeError("internal: '{0}' is not live", root->getName());
  over.insert(root);
  find(root)->live.last = position;
  return llvm::Error::success();
}

llvm::Error AccessRecorder::visit(const Instruction &instr) {
  if (instr.isLifetimeMarker())
    return visitMark(instr);
  ++proof.numInstrs;
  PositionRange range = {++position, position};
  if (instr.getInfo().hasBodies()) {
    GLOWISH_RETURN_IF_ERROR(visitBodies(instr, range.first));
    range.last = ++position;
  }
  GLOWISH_RETURN_IF_ERROR(checkAverages(instr));
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (instr.getOperand(i))
      GLOWISH_RETURN_IF_ERROR(visitOperand(instr, i, range));
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    forEachStored(*loop, [&](const Buffer &buffer) {
      ProvedBuffer &own = *find(&buffer);
      own.live = range;
      own.accesses = {{.range = range, .reads = true, .writes = true}};
    });
  return llvm::Error::success();
}

llvm::Error AccessRecorder::visitBodies(const Instruction &instr,
                                        unsigned number) {
  std::string outer = prefix;
  for (const IRFunction *body : getBodies(instr)) {
    prefix = llvm::formatv("{0}{1}:{2}/", outer, number, body->getName());
    addConstants(*body);
    if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
      forEachStored(
          *loop, [&](const Buffer &buffer) { add(buffer, MemoryKind::Arena); });
    // What is averaged outside is not accessed inside: it would be an operand.
    auto own = std::exchange(averaged, {});
    GLOWISH_RETURN_IF_ERROR(visit(*body));
    averaged = std::move(own);
  }
  prefix = outer;
  return llvm::Error::success();
}

llvm::Error AccessRecorder::visitOperand(const Instruction &instr,
                                         unsigned index, PositionRange range) {
  const Buffer &operand = *instr.getOperand(index);
  ++proof.numAccesses;
  if (operand.getType().getNumElements() == 0)
    return llvm::Error::success();
  const Buffer *root = operand.getRoot();
  auto bounds = StridedLayout::of(operand).getBounds();
  if (!bounds || bounds->first < 0 ||
      bounds->second >= root->getType().getNumElements())
    return makeError("internal: '{0}' reaches outside of '{1}'",
                     operand.getName(), root->getName());
  bool reads = instr.reads(index), writes = instr.writes(index);
  if (writes && root->getKind() == Buffer::Kind::Constant)
    return makeError("internal: the constant '{0}' is written",
                     root->getName());
  if (root->getKind() == Buffer::Kind::Activation) {
    if (!live.contains(root))
      return makeError("internal: '{0}' is accessed outside of its lifetime",
                       root->getName());
    ProvedBuffer *found = find(root);
    if (reads &&
        (found->accesses.empty() || (found->accesses.size() == 1 &&
                                     found->accesses.front().range == range)))
      return makeError("internal: '{0}' is read before it is written",
                       root->getName());
  }
  record(root, {.range = range, .reads = reads, .writes = writes});
  return llvm::Error::success();
}

/// Nothing accesses a buffer between StartAllReduce and FinishAllReduce.
llvm::Error AccessRecorder::checkAverages(const Instruction &instr) {
  auto isAveraged = [&](const Buffer *buffer) {
    return isSame(StridedLayout::of(*buffer),
                  StridedLayout::of(*instr.getOperand(0))) &&
           buffer->getRoot() == instr.getOperand(0)->getRoot();
  };
  if (llvm::isa<FinishAllReduceInstr>(instr)) {
    auto found = llvm::find_if(averaged, isAveraged);
    if (found == averaged.end())
      return makeError("internal: '{0}' is not averaged",
                       instr.getOperand(0)->getName());
    averaged.erase(found);
  }
  for (const Buffer *operand : instr.getOperands())
    for (const Buffer *buffer : averaged)
      if (operand && operand->getRoot() == buffer->getRoot() &&
          !areDisjoint(StridedLayout::of(*buffer), StridedLayout::of(*operand)))
        return makeError("internal: '{0}' is accessed while '{1}' is averaged",
                         operand->getName(), buffer->getName());
  if (llvm::isa<StartAllReduceInstr>(instr))
    averaged.push_back(instr.getOperand(0));
  return llvm::Error::success();
}

llvm::Expected<PlanProof> glowish::recordAccesses(const IRFunction &function,
                                                  const MemoryPlan &plan,
                                                  const ProofOptions &options) {
  AccessRecorder recorder(plan);
  GLOWISH_RETURN_IF_ERROR(recorder.run(function, options));
  return recorder.take();
}

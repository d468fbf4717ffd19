//===- IR.cpp - Buffers and instructions ----------------------------------===//

#include "glowish/IR/IR.h"
#include "InstrFactory.h"
#include "glowish/IR/LoopBounds.h"
#include "glowish/IR/StridedLayout.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;

//===- Buffer -------------------------------------------------------------===//

bool Buffer::isDense() const {
  if (!isView())
    return true;
  if (type.getNumElements() == 0)
    return true;
  Dims dense = getDenseStrides(type.getShape());
  for (unsigned i = 0; i < dense.size(); ++i)
    if (type.getDim(i) != 1 && strides[i] != dense[i])
      return false;
  return true;
}

//===- Instruction --------------------------------------------------------===//

Instruction::Instruction(InstrDraft draft, llvm::StringRef name)
    : kind(draft.kind), name(name), operands(std::move(draft.operands)),
      attrs(std::move(draft.attrs)), bounds(std::move(draft.bounds)) {
  for (Buffer *buffer : operands)
    if (buffer)
      buffer->users.push_back(this);
  setPredicate(draft.predicate);
}

/// Removes one entry of \p value; the order of the others stays, because users
/// are walked and output must not depend on how they were edited.
template <typename T> static void eraseOne(std::vector<T> &list, T value) {
  auto found = llvm::find(list, value);
  assert(found != list.end());
  list.erase(found);
}

Instruction::~Instruction() {
  for (Buffer *buffer : operands)
    if (buffer)
      eraseOne(buffer->users, this);
}

void Instruction::setOperand(unsigned index, Buffer *buffer) {
  if (operands[index])
    eraseOne(operands[index]->users, this);
  operands[index] = buffer;
  if (buffer)
    buffer->users.push_back(this);
}

void Instruction::setPredicate(Buffer *predicate) {
  if (predicated) {
    setOperand(operands.size() - 1, nullptr);
    operands.pop_back();
  }
  predicated = predicate;
  if (!predicate)
    return;
  operands.push_back(nullptr);
  setOperand(operands.size() - 1, predicate);
}

Buffer *glowish::getPredicateFor(const Instruction &instr, DimsRef shape) {
  Buffer *predicate = instr.getPredicate();
  return predicate && isPredicateOf(predicate->getType(), shape) ? predicate
                                                                 : nullptr;
}

bool glowish::haveSamePredicate(const Instruction &a, const Instruction &b) {
  const Buffer *first = a.getPredicate(), *second = b.getPredicate();
  if (!first || !second)
    return first == second;
  return first->getRoot() == second->getRoot() &&
         first->getType() == second->getType() &&
         isSame(StridedLayout::of(*first), StridedLayout::of(*second));
}

llvm::ArrayRef<Buffer *> Instruction::getSegment(unsigned number) const {
  llvm::ArrayRef<int64_t> counts =
      getAttr<std::vector<int64_t>>(getInfo().segmentsAttr);
  size_t begin = 0;
  for (int64_t count : counts.take_front(number))
    begin += count;
  return llvm::ArrayRef<Buffer *>(operands).slice(begin, counts[number]);
}

InstrDraft Instruction::getDraft() const {
  return {kind, llvm::SmallVector<Buffer *, 4>(getRecordOperands()), attrs,
          bounds, getPredicate()};
}

unsigned Instruction::getNumProgramInputs() const {
  return getInfo().countProgramInputs(getNumRecordOperands());
}

//===- IRFunction ---------------------------------------------------------===//

IRFunction::IRFunction(llvm::StringRef name) : name(name) {}

IRFunction::~IRFunction() {
  // The buffers are deleted, too: updating their use lists, which may be very
  // long, would waste time.
  for (Instruction &instr : instrs)
    instr.operands.clear();
  instrs.clear();
}

Buffer *IRFunction::addBuffer(llvm::StringRef base, Buffer::Kind kind,
                              const Type &type) {
  std::string unique = base.empty() ? "b" : base.str();
  if (byName.count(unique)) {
    unsigned &suffix = nextSuffix[base];
    do
      unique = (base + "_" + llvm::Twine(++suffix)).str();
    while (byName.count(unique));
  }
  buffers.push_back(std::make_unique<Buffer>());
  Buffer *buffer = buffers.back().get();
  buffer->kind = kind;
  buffer->name = unique;
  buffer->type = type.withoutExtents();
  buffer->strides = getDenseStrides(type.getShape());
  buffer->position = std::prev(buffers.end());
  byName[unique] = buffer;
  return buffer;
}

Buffer *IRFunction::createConstant(llvm::StringRef name,
                                   std::shared_ptr<const Tensor> payload) {
  Buffer *buffer = addBuffer(name, Buffer::Kind::Constant, payload->getType());
  buffer->payload = std::move(payload);
  return buffer;
}

Buffer *IRFunction::createMutable(llvm::StringRef name, const Type &type,
                                  llvm::StringRef modelName, bool input,
                                  bool output) {
  Buffer *buffer = addBuffer(name, Buffer::Kind::Mutable, type);
  buffer->modelName = modelName.str();
  buffer->input = input;
  buffer->output = output;
  return buffer;
}

Buffer *IRFunction::createActivation(llvm::StringRef name, const Type &type) {
  return addBuffer(name, Buffer::Kind::Activation, type);
}

/// Scales that run along a dimension of the buffer run along none of a view:
/// the readers of a view only move integers.
static Type dropScalesOfAxis(const Type &type) {
  if (!type.isQuantized() || type.getQuantParams().axis < 0)
    return type;
  return Type(type.getKind(), type.getShape(), QuantParams{{1.0f}, {0}, -1});
}

Buffer *IRFunction::createView(llvm::StringRef name, Buffer *base,
                               const Type &type, int64_t offset,
                               DimsRef strides) {
  assert(strides.size() == type.getRank() && "one stride a dimension");
  assert(type.getKind() == base->getType().getKind());
  Buffer *buffer = addBuffer(name, Buffer::Kind::View, dropScalesOfAxis(type));
  buffer->base = base->getRoot();
  buffer->offset = offset;
  buffer->strides.assign(strides.begin(), strides.end());
  buffer->base->views.push_back(buffer);
  return buffer;
}

void IRFunction::eraseBuffer(Buffer *buffer) {
  assert(buffer->users.empty() && buffer->views.empty() && "still in use");
  if (buffer->base)
    eraseOne(buffer->base->views, buffer);
  byName.erase(buffer->name);
  buffers.erase(buffer->position);
}

Buffer *IRFunction::findBuffer(llvm::StringRef name) const {
  return byName.lookup(name);
}

llvm::SmallVector<Buffer *, 4> IRFunction::getInputs() const {
  llvm::SmallVector<Buffer *, 4> found;
  for (const auto &buffer : buffers)
    if (buffer->getKind() == Buffer::Kind::Mutable && buffer->isInput())
      found.push_back(buffer.get());
  return found;
}

llvm::SmallVector<Buffer *, 4> IRFunction::getOutputs() const {
  llvm::SmallVector<Buffer *, 4> found;
  for (const auto &buffer : buffers)
    if (buffer->getKind() == Buffer::Kind::Mutable && buffer->isOutput())
      found.push_back(buffer.get());
  return found;
}

Instruction *IRFunction::create(llvm::StringRef name, InstrDraft draft,
                                Instruction *before) {
  Instruction *instr = makeInstr(std::move(draft), name);
  instr->parent = this;
  instrs.insert(before ? before->getIterator() : instrs.end(), instr);
  return instr;
}

Instruction *IRFunction::replace(Instruction *old, InstrDraft draft) {
  assert(
      llvm::all_of(old->getLoopBounds(),
                   [](const LoopBound &bound) { return bound.operand == 0; }) &&
      "bounds of inputs would be lost");
  DimsRef shape = draft.operands[0]->getShape();
  draft.bounds = getResultBounds(*old, shape);
  draft.predicate = getPredicateFor(*old, shape);
  Instruction *made = create(old->getName(), std::move(draft), old);
  erase(old);
  return made;
}

void IRFunction::erase(Instruction *instr) {
  assert(instr->parent == this);
  instrs.erase(instr);
}

void IRFunction::moveBefore(Instruction *instr, Instruction *before) {
  instrs.splice(before ? before->getIterator() : instrs.end(), instrs,
                instr->getIterator());
}

//===- Bodies -------------------------------------------------------------===//

static TypeList getTypes(llvm::ArrayRef<Buffer *> buffers) {
  TypeList types;
  for (const Buffer *buffer : buffers)
    types.push_back(buffer->getType());
  return types;
}

TypeList IRBody::getParameterTypes() const {
  return getTypes(function->getInputs());
}

TypeList IRBody::getResultTypes() const {
  return getTypes(function->getOutputs());
}

llvm::SmallVector<IRFunction *, 2>
glowish::getBodies(const Instruction &instr) {
  llvm::SmallVector<IRFunction *, 2> bodies;
  for (const AttrValue &attr : instr.getAttrs())
    if (auto *body = std::get_if<std::shared_ptr<Body>>(&attr))
      bodies.push_back(&getIRFunction(*body));
  return bodies;
}

std::vector<IRFunction *> glowish::getNested(const IRFunction &function) {
  std::vector<IRFunction *> nested;
  for (const Instruction &instr : function.getInstrs())
    if (instr.getInfo().hasBodies())
      llvm::append_range(nested, getBodies(instr));
  return nested;
}

void glowish::forEachFunction(
    const IRFunction &function,
    llvm::function_ref<void(const IRFunction &function)> visit) {
  visit(function);
  for (const IRFunction *body : getNested(function))
    forEachFunction(*body, visit);
}

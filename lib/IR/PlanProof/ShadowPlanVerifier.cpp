//===- ShadowPlanVerifier.cpp - A program in its plan, byte by byte -------===//
//
// Checks addresses alone, and not the marked lifetimes: it finds errors that
// the insertion of lifetimes and the planner have in common.
//
// Views of billions of runs would take minutes and gigabytes. One of more than
// ProofOptions::maxRuns counts as written from its first byte to its last: what
// lies between its runs belongs to the same buffer where the lifetimes are
// right. When it is read, its first runs are checked.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "ShadowMemory.h"
#include "glowish/IR/LoopBounds.h"
#include "glowish/IR/MemoryPlan.h"
#include "glowish/IR/StridedLayout.h"
#include "glowish/Support/Error.h"

using namespace glowish;

namespace {

/// The location of a root and the owner of its bytes: parameters and results of
/// a body are owned by the operands that they are bound to.
struct Place {
  uint64_t address = 0;
  const Buffer *owner = nullptr;
};

class ShadowPlanVerifier {
public:
  ShadowPlanVerifier(const MemoryPlan &plan, const ProofOptions &options)
      : plan(plan), options(options) {}

  llvm::Error run(const IRFunction &function) {
    symbols = getSymbolRanges(function);
    for (const Buffer *input : function.getInputs())
      GLOWISH_RETURN_IF_ERROR(write(*input));
    if (options.keepsOutputs)
      for (const Buffer *output : getUntouchedOutputs(function))
        GLOWISH_RETURN_IF_ERROR(write(*output));
    // The application may write them in any order.
    for (const Buffer *input : function.getInputs())
      GLOWISH_RETURN_IF_ERROR(checkOwned(*input, "is given"));
    GLOWISH_RETURN_IF_ERROR(visit(function));
    for (const Buffer *output : function.getOutputs())
      GLOWISH_RETURN_IF_ERROR(
          checkOwned(*output, "is left", getLargestLeft(*output)));
    return llvm::Error::success();
  }

private:
  /// The mutable region lies behind the largest arena.
  static constexpr uint64_t mutableStart = uint64_t(1) << 62;

  llvm::Error visit(const IRFunction &function);
  llvm::Error visit(const Instruction &instr);
  llvm::Error visitIf(const IfInstr &instr);
  llvm::Error runBranch(const IfInstr &instr, const IRFunction &body);
  llvm::Error visitLoop(const LoopInstr &loop);
  llvm::Error runIteration(const LoopInstr &loop, int64_t number);

  Place locate(const Buffer &root) const;
  void bind(const Buffer *inner, const Buffer &outer, uint64_t bytes = 0);
  /// The most of \p extent that runs have; \p dim if that is not known.
  int64_t getLargest(const std::optional<Extent> &extent, int64_t dim) const;
  Dims getLargestLeft(const Buffer &output) const;
  Dims getLargestRead(const Instruction &instr, const Buffer &operand) const;
  llvm::Error
  forEachRange(const Buffer &buffer, const StridedLayout &layout,
               llvm::function_ref<llvm::Error(uint64_t begin, uint64_t end)>
                   visit) const;
  llvm::Error write(const Buffer &buffer);
  llvm::Error checkOwned(const Buffer &buffer, llvm::StringRef what) const {
    return checkOwned(buffer, what, buffer.getShape());
  }
  llvm::Error checkOwned(const Buffer &buffer, llvm::StringRef what,
                         DimsRef shape) const;

  const MemoryPlan &plan;
  const ProofOptions &options;
  /// The bounds of what runs state.
  SymbolRanges symbols;
  llvm::DenseMap<const Buffer *, Place> bindings;
  ShadowMemory shadow;
};

} // namespace

Place ShadowPlanVerifier::locate(const Buffer &root) const {
  auto bound = bindings.find(&root);
  if (bound != bindings.end())
    return bound->second;
  uint64_t start = plan.isInArena(&root) ? 0 : mutableStart;
  return {start + plan.getOffset(&root), &root};
}

/// \p inner lies \p bytes behind the begin of \p outer.
void ShadowPlanVerifier::bind(const Buffer *inner, const Buffer &outer,
                              uint64_t bytes) {
  Place place = locate(*outer.getRoot());
  place.address +=
      bytes + outer.getOffset() * getElemSize(outer.getType().getKind());
  bindings[inner] = place;
}

int64_t ShadowPlanVerifier::getLargest(const std::optional<Extent> &extent,
                                       int64_t dim) const {
  std::optional<IntRange> range =
      extent ? symbols.getRange(*extent) : std::nullopt;
  return range ? std::clamp<int64_t>(range->high, 0, dim) : dim;
}

/// What runs leave in \p output at most.
Dims ShadowPlanVerifier::getLargestLeft(const Buffer &output) const {
  Dims shape(output.getShape());
  for (auto [bound, extent] : llvm::zip(shape, output.getInputExtents().next))
    bound = getLargest(extent, bound);
  return shape;
}

/// What \p instr reads of \p operand at most: a copy not more than it writes.
Dims ShadowPlanVerifier::getLargestRead(const Instruction &instr,
                                        const Buffer &operand) const {
  Dims shape(operand.getShape());
  if (!llvm::isa<CopyInstr>(instr))
    return shape;
  for (const LoopBound &bound : instr.getLoopBounds())
    shape[bound.dim] = getLargest(bound.extent, shape[bound.dim]);
  return shape;
}

/// The bytes of the elements \p layout of the root of \p buffer.
llvm::Error ShadowPlanVerifier::forEachRange(
    const Buffer &buffer, const StridedLayout &layout,
    llvm::function_ref<llvm::Error(uint64_t begin, uint64_t end)> visit) const {
  const Buffer &root = *buffer.getRoot();
  // Nothing writes constants, and bodies read them where they are.
  if (root.getKind() == Buffer::Kind::Constant)
    return llvm::Error::success();
  Place place = locate(root);
  if (place.owner->getKind() == Buffer::Kind::Constant)
    return llvm::Error::success();
  uint64_t size = getElemSize(root.getType().getKind());
  llvm::Error result = llvm::Error::success();
  auto visitRun = [&](int64_t first, int64_t count) {
    if (result)
      return;
    uint64_t begin = place.address + uint64_t(first) * size;
    result = visit(begin, begin + uint64_t(count) * size);
  };
  forEachRun(layout, visitRun, options.maxRuns);
  return result;
}

/// All elements from the first to the last one of \p layout.
static StridedLayout getHull(const StridedLayout &layout) {
  auto bounds = layout.getBounds();
  if (!bounds)
    return layout;
  return {{bounds->second - bounds->first + 1}, bounds->first, {1}};
}

llvm::Error ShadowPlanVerifier::write(const Buffer &buffer) {
  auto take = [&](uint64_t begin, uint64_t end) -> llvm::Error {
    bool isInside = begin >= mutableStart
                        ? end - mutableStart <= plan.mutableSize
                        : end <= plan.activationSize;
    if (!isInside)
      return makeError("internal: '{0}' is written outside of its region",
                       buffer.getName());
    shadow.write(begin, end, locate(*buffer.getRoot()).owner);
    return llvm::Error::success();
  };
  StridedLayout layout = StridedLayout::of(buffer);
  if (countRuns(layout) > options.maxRuns)
    layout = getHull(layout);
  return forEachRange(buffer, layout, take);
}

/// Checks that \p buffer owns its bytes, as far as \p shape. The error says
/// \p what happens to it, and names another owner.
llvm::Error ShadowPlanVerifier::checkOwned(const Buffer &buffer,
                                           llvm::StringRef what,
                                           DimsRef shape) const {
  auto check = [&](uint64_t begin, uint64_t end) -> llvm::Error {
    const Buffer *other = nullptr;
    if (shadow.isOwned(begin, end, locate(*buffer.getRoot()).owner, other))
      return llvm::Error::success();
    return makeError("internal: '{0}' {1} with bytes that {2}",
                     buffer.getName(), what,
                     other ? "belong to '" + other->getName().str() + "'"
                           : "nothing has written");
  };
  StridedLayout layout = StridedLayout::of(buffer);
  layout.shape.assign(shape.begin(), shape.end());
  return forEachRange(buffer, layout, check);
}

llvm::Error ShadowPlanVerifier::visit(const IRFunction &function) {
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker())
      GLOWISH_RETURN_IF_ERROR(addContext(
          visit(instr), instr.getKindName() + " '" + instr.getName() + "': "));
  return llvm::Error::success();
}

llvm::Error ShadowPlanVerifier::visit(const Instruction &instr) {
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (const Buffer *operand = instr.getOperand(i); operand && instr.reads(i))
      GLOWISH_RETURN_IF_ERROR(
          checkOwned(*operand, "is read", getLargestRead(instr, *operand)));
  if (auto *branch = llvm::dyn_cast<IfInstr>(&instr))
    GLOWISH_RETURN_IF_ERROR(visitIf(*branch));
  else if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    GLOWISH_RETURN_IF_ERROR(visitLoop(*loop));
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (instr.getOperand(i) && instr.writes(i))
      GLOWISH_RETURN_IF_ERROR(write(*instr.getOperand(i)));
  // A kernel reads while it writes: nothing that is written may lie over
  // another operand.
  for (const Buffer *operand : instr.getOperands())
    if (operand)
      GLOWISH_RETURN_IF_ERROR(
          checkOwned(*operand, "is used", getLargestRead(instr, *operand)));
  return llvm::Error::success();
}

llvm::Error ShadowPlanVerifier::runBranch(const IfInstr &instr,
                                          const IRFunction &body) {
  for (auto [parameter, value] :
       llvm::zip_equal(body.getInputs(), instr.getCaptures()))
    bind(parameter, *value);
  for (auto [result, value] :
       llvm::zip_equal(body.getOutputs(), instr.getResults()))
    bind(result, *value);
  GLOWISH_RETURN_IF_ERROR(visit(body));
  for (const Buffer *result : body.getOutputs())
    GLOWISH_RETURN_IF_ERROR(checkOwned(*result, "is left"));
  return llvm::Error::success();
}

llvm::Error ShadowPlanVerifier::visitIf(const IfInstr &instr) {
  ShadowMemory before = shadow;
  GLOWISH_RETURN_IF_ERROR(runBranch(instr, getIRFunction(instr.getThenBody())));
  ShadowMemory afterThen = std::exchange(shadow, std::move(before));
  GLOWISH_RETURN_IF_ERROR(runBranch(instr, getIRFunction(instr.getElseBody())));
  shadow.meet(afterThen);
  return llvm::Error::success();
}

llvm::Error ShadowPlanVerifier::runIteration(const LoopInstr &loop,
                                             int64_t number) {
  const IRFunction &body = getIRFunction(loop.getBody());
  auto inputs = body.getInputs(), outputs = body.getOutputs();
  unsigned numStates = unsigned(loop.getNumStates());
  GLOWISH_RETURN_IF_ERROR(write(*inputs[0]));
  GLOWISH_RETURN_IF_ERROR(write(*inputs[1]));
  for (unsigned i = numStates; i + 1 < outputs.size(); ++i)
    bind(outputs[1 + i], *loop.getResults()[i],
         number * outputs[1 + i]->getType().getSizeInBytes());
  GLOWISH_RETURN_IF_ERROR(visit(body));
  for (const Buffer *output : outputs)
    GLOWISH_RETURN_IF_ERROR(checkOwned(*output, "is left"));
  for (unsigned i = 0; i < numStates; ++i)
    GLOWISH_RETURN_IF_ERROR(write(*loop.getResults()[i]));
  return llvm::Error::success();
}

/// Two iterations: the second reads what the first may have written over.
llvm::Error ShadowPlanVerifier::visitLoop(const LoopInstr &loop) {
  const IRFunction &body = getIRFunction(loop.getBody());
  auto inputs = body.getInputs();
  for (unsigned i = 0; i < loop.getValues().size(); ++i) {
    bool isState = i < unsigned(loop.getNumStates());
    const Buffer &storage =
        isState ? *loop.getResults()[i] : *loop.getValues()[i];
    if (isState)
      GLOWISH_RETURN_IF_ERROR(write(storage));
    bind(inputs[2 + i], storage);
  }
  // The loop's own storage lies in the arena, as the plan says.
  forEachStored(loop, [&](const Buffer &buffer) {
    bindings[&buffer] = {plan.getOffset(&buffer), &buffer};
  });
  ShadowMemory withoutIteration = shadow;
  for (int64_t i = 0; i < std::min<int64_t>(2, loop.getMaxTripCount()); ++i)
    GLOWISH_RETURN_IF_ERROR(runIteration(loop, i));
  shadow.meet(withoutIteration);
  return llvm::Error::success();
}

llvm::Error glowish::checkBytes(const IRFunction &function,
                                const MemoryPlan &plan,
                                const ProofOptions &options) {
  return ShadowPlanVerifier(plan, options).run(function);
}

//===- RunProgram.cpp - A program as one run has it -----------------------===//

#include "glowish/IR/RunProgram.h"

using namespace glowish;

namespace {

/// Makes a RunProgram, an instruction at a time.
class RunProgramMaker {
public:
  RunProgramMaker(const IRFunction &function, const MemoryPlan &plan,
                  const std::map<std::string, int64_t> &values)
      : function(function), plan(plan), values(values) {}

  RunProgram make();

private:
  Buffer *copyRoot(const Buffer &root);
  void copyInstr(const Instruction &instr);
  /// Returns \p shape with the values of \p extents.
  Dims evaluate(DimsRef shape, const ExtentList &extents) const;
  /// Returns the shape of operand \p index in the run.
  Dims getShape(const Instruction &instr, unsigned index) const;
  /// Adds the first elements of \p view, as many as \p shape has, to those that
  /// exist of its root.
  void addWritten(const Buffer &view, DimsRef shape);

  const IRFunction &function;
  const MemoryPlan &plan;
  const std::map<std::string, int64_t> &values;
  RunProgram made;
  llvm::DenseMap<const Buffer *, Buffer *> roots;
  /// How far the elements of a root exist along each dimension, those of an
  /// activation when something has written it.
  llvm::DenseMap<const Buffer *, Dims> existing;
};

} // namespace

Dims RunProgramMaker::evaluate(DimsRef shape, const ExtentList &extents) const {
  return evaluateShape(shape, extents, [&](llvm::StringRef symbol) {
    auto found = values.find(symbol.str());
    return found == values.end() ? std::nullopt
                                 : std::optional<int64_t>(found->second);
  });
}

Buffer *RunProgramMaker::copyRoot(const Buffer &root) {
  Buffer *&copy = roots[&root];
  if (copy)
    return copy;
  IRFunction &target = *made.function;
  copy = root.getKind() == Buffer::Kind::Constant
             ? target.createConstant(root.getName(), root.getPayload())
         : root.getKind() == Buffer::Kind::Mutable
             ? target.createMutable(root.getName(), root.getType(),
                                    root.getModelName(), root.isInput(),
                                    root.isOutput())
             : target.createActivation(root.getName(), root.getType());
  made.plan.offsets[copy] = plan.getOffset(&root);
  if (plan.arenaPlaceholders.contains(&root))
    made.plan.arenaPlaceholders.insert(copy);
  return copy;
}

/// Where a view begins along a dimension of its root.
struct RootDim {
  unsigned dim;
  int64_t start;
};

/// Returns the dimension of its root that dimension \p d of \p view is along;
/// none where it repeats elements or is of several dimensions.
static std::optional<RootDim> findRootDim(const Buffer &view, unsigned d) {
  const Buffer &root = *view.getRoot();
  for (unsigned r = 0; r < root.getType().getRank(); ++r) {
    int64_t extent = root.getShape()[r], stride = root.getStrides()[r];
    if (extent > 1 && stride > 0 && stride == view.getStrides()[d] &&
        extent >= view.getShape()[d])
      return RootDim{r, view.getOffset() / stride % extent};
  }
  return std::nullopt;
}

Dims RunProgramMaker::getShape(const Instruction &instr, unsigned index) const {
  const Buffer &buffer = *instr.getOperand(index);
  ExtentList bounds(buffer.getType().getRank());
  bool isOfResult = instr.getInfo().has(OpTrait::ElementByElement);
  for (const LoopBound &bound : instr.getLoopBounds())
    if (bound.operand == index || (isOfResult && bound.operand == 0))
      bounds[bound.dim] = bound.extent;
  Dims shape = evaluate(buffer.getShape(), bounds);
  auto known = existing.find(buffer.getRoot());
  if (!instr.reads(index) || known == existing.end())
    return shape;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (auto root = findRootDim(buffer, d))
      shape[d] = std::clamp<int64_t>(known->second[root->dim] - root->start, 0,
                                     shape[d]);
  return shape;
}

void RunProgramMaker::addWritten(const Buffer &view, DimsRef shape) {
  const Buffer &root = *view.getRoot();
  Dims reach(root.getShape());
  for (unsigned d = 0; d < shape.size(); ++d)
    if (auto along = findRootDim(view, d))
      reach[along->dim] = along->start + shape[d];
  auto [found, isFirst] = existing.try_emplace(&root, reach);
  if (!isFirst)
    for (auto [own, other] : llvm::zip_equal(found->second, reach))
      own = std::max(own, other);
}

void RunProgramMaker::copyInstr(const Instruction &instr) {
  InstrDraft draft = instr.getDraft();
  llvm::SmallVector<Dims, 4> shapes;
  for (unsigned i = 0; i < draft.operands.size(); ++i) {
    const Buffer *buffer = draft.operands[i];
    shapes.push_back(buffer ? getShape(instr, i) : Dims());
    if (buffer)
      draft.operands[i] = made.function->createView(
          buffer->getName(), copyRoot(*buffer->getRoot()),
          buffer->getType().withShape(shapes[i]), buffer->getOffset(),
          buffer->getStrides());
  }
  if (draft.predicate)
    draft.predicate = copyRoot(*draft.predicate->getRoot());
  for (unsigned i = 0; i < shapes.size(); ++i)
    if (const Buffer *buffer = instr.getOperand(i); buffer && instr.writes(i)) {
      // What is overwritten in part may be any part.
      bool isAny = instr.reads(i) && !buffer->getRoot()->isWeight();
      addWritten(*buffer, isAny ? buffer->getShape() : DimsRef(shapes[i]));
    }
  draft.bounds.clear();
  made.function->create(instr.getName(), std::move(draft));
}

RunProgram RunProgramMaker::make() {
  made.function = std::make_unique<IRFunction>(function.getName());
  made.plan.constantSize = plan.constantSize;
  made.plan.mutableSize = plan.mutableSize;
  made.plan.activationSize = plan.activationSize;
  for (const Buffer *input : function.getInputs()) {
    const InputExtents &extents = input->getInputExtents();
    addWritten(*input, evaluate(input->getShape(), extents.dims));
    // A state that grows.
    if (!extents.next.empty())
      addWritten(*input, evaluate(input->getShape(), extents.next));
  }
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker())
      copyInstr(instr);
  return std::move(made);
}

RunProgram
glowish::makeRunProgram(const IRFunction &function, const MemoryPlan &plan,
                        const std::map<std::string, int64_t> &values) {
  return RunProgramMaker(function, plan, values).make();
}

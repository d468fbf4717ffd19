//===- AccessEstimate.cpp - How often buffers are accessed ----------------===//

#include "glowish/IR/AccessEstimate.h"
#include "glowish/IR/Cost.h"
#include "glowish/IR/MemoryPlan.h"

using namespace glowish;

/// Whether operand \p index of \p instr, which has multiply-adds, is one that
/// is multiplied: in front of the epilogue, and no vector, as biases and scales
/// are.
static bool isMultiplied(const Instruction &instr, unsigned index) {
  int fused = instr.getInfo().fusedOperand;
  return (fused < 0 || int(index) < fused) &&
         instr.getOperand(index)->getType().getRank() > 1;
}

/// The elements of a window of \p instr; 1 where it has none.
static double getWindow(const Instruction &instr) {
  unsigned attr = instr.getInfo().findAttr("kernels");
  if (attr == instr.getAttrs().size())
    return 1;
  double count = 1;
  for (int64_t extent : instr.getAttr<std::vector<int64_t>>(attr))
    count *= double(extent);
  return count;
}

/// Loads of operand \p index, which is there.
static double countLoads(const Instruction &instr, unsigned index) {
  if (!instr.reads(index))
    return 0;
  auto elements = double(instr.getOperand(index)->getType().getNumElements());
  if (instr.getInfo().countMultiplyAdds) {
    double multiplyAdds = getCost(instr).flops / 2;
    return isMultiplied(instr, index) ? multiplyAdds : elements;
  }
  double window = getWindow(instr);
  return window == 1
             ? elements
             : window * double(instr.getOperand(0)->getType().getNumElements());
}

double glowish::countAccesses(const Instruction &instr, unsigned index) {
  const Buffer *buffer = instr.getOperand(index);
  if (!buffer)
    return 0;
  double loads = countLoads(instr, index);
  return instr.writes(index)
             ? loads + double(buffer->getType().getNumElements())
             : loads;
}

AccessEstimate::AccessEstimate(const IRFunction &function,
                               CountAccessesFn countAccesses)
    : countAccesses(std::move(countAccesses)) {
  visit(function, /*times=*/1);
}

void AccessEstimate::bind(const Buffer *inner, const Buffer *outer) {
  const Buffer *root = outer->getRoot();
  auto bound = bindings.find(root);
  bindings[inner] = bound == bindings.end() ? root : bound->second;
}

void AccessEstimate::bindBodies(const Instruction &instr) {
  if (auto *branch = llvm::dyn_cast<IfInstr>(&instr))
    for (const IRFunction *body : getBodies(instr)) {
      for (auto [parameter, value] :
           llvm::zip_equal(body->getInputs(), branch->getCaptures()))
        bind(parameter, value);
      for (auto [result, value] :
           llvm::zip_equal(body->getOutputs(), branch->getResults()))
        bind(result, value);
    }
  auto *loop = llvm::dyn_cast<LoopInstr>(&instr);
  if (!loop)
    return;
  // What the loop stores itself stands for itself (getLoopStorage).
  const IRFunction &body = getIRFunction(loop->getBody());
  auto inputs = body.getInputs(), outputs = body.getOutputs();
  auto numStates = unsigned(loop->getNumStates());
  for (auto [i, value] : llvm::enumerate(loop->getValues()))
    bind(inputs[2 + i], i < numStates ? loop->getResults()[i] : value);
  for (unsigned i = numStates; i + 1 < outputs.size(); ++i)
    bind(outputs[1 + i], loop->getResults()[i]);
}

void AccessEstimate::visit(const IRFunction &function, double times) {
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker())
      visit(instr, times);
}

void AccessEstimate::visit(const Instruction &instr, double times) {
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    const Buffer *buffer = instr.getOperand(i);
    if (!buffer)
      continue;
    const Buffer *root = buffer->getRoot();
    auto bound = bindings.find(root);
    accesses[bound == bindings.end() ? root : bound->second] +=
        times * countAccesses(instr, i);
  }
  bindBodies(instr);
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    times *= double(loop->getMaxTripCount());
  for (const IRFunction *body : getBodies(instr))
    visit(*body, times);
}

double AccessEstimate::getInside(const Instruction &instr) const {
  double sum = 0;
  for (const IRFunction *body : getBodies(instr)) {
    for (const auto &buffer : body->getBuffers())
      if (buffer->getKind() == Buffer::Kind::Activation)
        sum += get(buffer.get());
    for (const Instruction &inner : body->getInstrs())
      sum += getInside(inner);
  }
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    for (const Buffer *buffer : getLoopStorage(*loop))
      sum += get(buffer);
  return sum;
}

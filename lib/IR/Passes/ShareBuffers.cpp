//===- ShareBuffers.cpp - Results in the place of their inputs ------------===//
//
// An instruction that reads each element before it, and only it, is written may
// write over an input that is not read any more. The result's buffer becomes
// the input's. An input of the program is such a one where the application does
// not need it either.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"
#include "glowish/IR/PlaceholderLiveness.h"

using namespace glowish;

/// Whether \p instr is the last to touch \p root, and reads only the elements
/// of \p layout, each where it will be written.
static bool diesAt(const Buffer *root, const Instruction &instr,
                   const StridedLayout &layout, const AccessIndex &index) {
  unsigned time = index.getTime(&instr);
  if (index.get(root).rbegin()->time != time)
    return false;
  for (const Access &access : index.getBetween(root, time, time))
    if (access.isWrite() || !access.isInPlace() ||
        !isSame(access.getLayout(), layout))
      return false;
  return true;
}

/// Whether something else may come to lie where \p root is.
static bool isReusable(const Buffer &root, bool overwritesInputs) {
  return root.getKind() == Buffer::Kind::Activation ||
         (overwritesInputs && PlaceholderLiveness::hasLifetime(root) &&
          root.isInput());
}

/// The operand of \p instr whose memory the result \p result, all of an
/// activation that begins here, can take over.
static Buffer *findDyingInput(const Instruction &instr, const Buffer &result,
                              const AccessIndex &index, bool overwritesInputs) {
  for (unsigned in = 0; in < instr.getNumOperands(); ++in) {
    Buffer *input = instr.getOperand(in);
    if (!input || !instr.getOperandInfo(in).isInPlace ||
        !isReusable(*input->getRoot(), overwritesInputs) ||
        input->getRoot() == result.getRoot() ||
        input->getType() != result.getType() || !isWholeRoot(*input))
      continue;
    if (diesAt(input->getRoot(), instr, StridedLayout::of(*input), index))
      return input;
  }
  return nullptr;
}

llvm::Expected<bool> glowish::shareBuffers(IRFunction &function,
                                           const IRPassContext &context) {
  AccessIndex index(function);
  bool overwritesInputs = context.overwritesInputs == &function;
  bool changed = false;
  for (Instruction &instr : function.getInstrs()) {
    for (unsigned out = 0; out < instr.getNumOperands(); ++out) {
      if (instr.isLifetimeMarker())
        break;
      Buffer *result = instr.getOperand(out);
      if (!result || instr.getOperandInfo(out).role != OperandRole::Out ||
          result->getRoot()->getKind() != Buffer::Kind::Activation ||
          !isWholeRoot(*result) ||
          index.get(result->getRoot()).begin()->time != index.getTime(&instr))
        continue;
      Buffer *input = findDyingInput(instr, *result, index, overwritesInputs);
      if (!input)
        continue;
      Buffer *root = result->getRoot();
      Relocation relocation(function, index, root, input->getRoot(),
                            StridedLayout::dense(root->getShape()));
      if (!relocation.isPossible(nullptr))
        continue;
      relocation.apply(nullptr);
      changed = true;
    }
  }
  return finishPass(function, changed);
}

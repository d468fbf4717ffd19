//===- PlantedPasses.cpp - Passes over the IR that are wrong --------------===//

#include "PlantedPasses.h"
#include "glowish/IR/StridedLayout.h"

using namespace glowish;
using namespace glowish::proofs;

/// Makes the operands of \p instr that are \p from be \p to.
static bool replaceOperand(Instruction &instr, const Buffer *from, Buffer *to) {
  bool changed = false;
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (instr.getOperand(i) == from && !instr.writes(i)) {
      instr.setOperand(i, to);
      changed = true;
    }
  return changed;
}

/// The instructions behind \p instr.
static auto getLater(IRFunction &function, Instruction &instr) {
  return llvm::make_range(std::next(instr.getIterator()),
                          function.getInstrs().end());
}

static llvm::Expected<bool> forgetStrides(IRFunction &function,
                                          const IRPassContext &) {
  bool changed = false;
  for (const auto &buffer : function.getBuffers())
    for (Buffer *a : buffer->getViews())
      for (Buffer *b : buffer->getViews())
        if (a != b && a->getType() == b->getType() &&
            a->getOffset() == b->getOffset())
          for (Instruction &instr : function.getInstrs())
            changed |= replaceOperand(instr, b, a);
  return changed;
}

static llvm::Expected<bool> forgetWritesBetween(IRFunction &function,
                                                const IRPassContext &) {
  bool changed = false;
  for (Instruction &instr : function.getInstrs()) {
    auto *copy = llvm::dyn_cast<CopyInstr>(&instr);
    // Activations may not be there any more.
    if (!copy ||
        copy->getInput()->getRoot()->getKind() != Buffer::Kind::Mutable)
      continue;
    for (Instruction &reader : getLater(function, instr))
      if (llvm::isa<ElementWiseLoopInstr>(reader))
        changed |= replaceOperand(reader, copy->getResult(), copy->getInput());
  }
  return changed;
}

static llvm::Expected<bool> forgetViews(IRFunction &function,
                                        const IRPassContext &) {
  bool changed = false;
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();) {
    Instruction &instr = *it++;
    auto *copy = llvm::dyn_cast<CopyInstr>(&instr);
    if (!copy || copy->getResult()->getKind() != Buffer::Kind::Activation ||
        llvm::any_of(copy->getResult()->getUsers(),
                     [&](const Instruction *user) {
                       return user != &instr && !user->isLifetimeMarker();
                     }))
      continue;
    function.erase(&instr);
    changed = true;
  }
  return changed;
}

static llvm::Expected<bool> takeOverLiveInput(IRFunction &function,
                                              const IRPassContext &) {
  bool changed = false;
  for (Instruction &instr : function.getInstrs()) {
    auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr);
    if (!loop || loop->getInputs().empty())
      continue;
    Buffer *input = loop->getInputs().front(), *result = loop->getResult();
    if (input == result || input->getKind() != Buffer::Kind::Activation ||
        result->getKind() != Buffer::Kind::Activation ||
        input->getType() != result->getType() || !result->getViews().empty())
      continue;
    loop->setOperand(0, input);
    for (Instruction &reader : getLater(function, instr))
      replaceOperand(reader, result, input);
    changed = true;
  }
  return changed;
}

static llvm::Expected<bool> forgetOtherInputs(IRFunction &function,
                                              const IRPassContext &) {
  bool changed = false;
  for (Instruction &instr : function.getInstrs()) {
    auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr);
    if (!loop || loop->getInputs().size() != 1 ||
        loop->getInputs()[0]->getRoot()->getKind() != Buffer::Kind::Mutable)
      continue;
    for (Instruction &other : getLater(function, instr)) {
      auto *reader = llvm::dyn_cast<ElementWiseLoopInstr>(&other);
      if (!reader || reader->getInputs().size() != 1 ||
          reader->getInputs()[0] != loop->getResult())
        continue;
      // What the first loop has read may have been written over since.
      ScalarProgram joined = loop->getProgram();
      joined.append(reader->getProgram(), 1, 1);
      reader->setOperand(1, loop->getInputs()[0]);
      reader->setAttr(0, joined);
      changed = true;
    }
  }
  return changed;
}

llvm::ArrayRef<IRPass> proofs::getPlantedPasses() {
  static const IRPass all[] = {
      {"merge-views", Exactness::Exact,
       "views of one type and offset are merged whatever their strides",
       forgetStrides},
      {"copy-elimination", Exactness::Exact,
       "what is copied may be written over before the copy is read",
       forgetWritesBetween},
      {"dse", Exactness::Exact, "what is read through a view is not read",
       forgetViews},
      {"share-buffers", Exactness::Exact,
       "a result takes over the memory of an input that is read later",
       takeOverLiveInput},
      {"fuse-loops", Exactness::Exact,
       "what the first loop reads may be written over before the second",
       forgetOtherInputs},
  };
  return all;
}

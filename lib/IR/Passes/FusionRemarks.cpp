//===- FusionRemarks.cpp - Why a loop has not been fused ------------------===//

#include "glowish/IR/FusionRemarks.h"
#include "MissedFusions.h"
#include "glowish/Ops/TextForm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;

std::vector<UnfusedLoop> glowish::findUnfusedLoops(IRFunction &function) {
  std::vector<UnfusedLoop> loops;
  for (const Instruction &instr : function.getInstrs())
    if (auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr))
      loops.push_back({loop, {}});
  addMissedEpilogueFusions(function, loops);
  addMissedLoopFusions(function, loops);
  return loops;
}

std::string glowish::listOps(const ScalarProgram &program) {
  return llvm::join(llvm::map_range(program.steps,
                                    [](const ScalarStep &step) {
                                      return getScalarOpInfo(step.op).name;
                                    }),
                    ", ");
}

static UnfusedLoopText describe(const UnfusedLoop &unfused) {
  const ElementWiseLoopInstr &loop = *unfused.loop;
  UnfusedLoopText text;
  text.name = loop.getName().str();
  text.type = loop.getResult()->getType().str();
  llvm::raw_string_ostream os(text.program);
  printAttrs(os, loop.getInfo(), loop.getAttrs(), loop.getNumProgramInputs());
  for (const MissedFusion &missed : unfused.missedFusions)
    text.missedFusions.push_back({(missed.producer->getKindName() + " \"" +
                                   missed.producer->getName() + "\"")
                                      .str(),
                                  missed.reason.empty()
                                      ? "nothing; the passes came to their end"
                                      : missed.reason.str()});
  return text;
}

std::vector<UnfusedLoopText>
glowish::describeUnfusedLoops(IRFunction &function) {
  std::vector<UnfusedLoopText> texts;
  std::vector<IRFunction *> functions = {&function};
  for (size_t i = 0; i < functions.size(); ++i) {
    llvm::append_range(functions, getNested(*functions[i]));
    for (const UnfusedLoop &unfused : findUnfusedLoops(*functions[i]))
      texts.push_back(describe(unfused));
  }
  return texts;
}

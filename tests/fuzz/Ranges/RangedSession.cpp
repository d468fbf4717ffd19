//===- RangedSession.cpp - Many random models with ranges -----------------===//

#include "RangedSession.h"
#include "../../unit/ChildProcess.h"
#include "ModelGenerator.h"

using namespace glowish;
using namespace glowish::fuzz;

/// What is wrong with the refusals of \p made.
static std::string findComplaint(const GeneratedModel &made) {
  for (const RangeRefusal &refusal : made.refusals)
    if (refusal.op.empty())
      return "a refusal that names no node: " + refusal.message;
  return "";
}

GeneratedCase fuzz::makeRangedCase(uint64_t seed, unsigned maxNodes,
                                   const Form *form) {
  GeneratedModel made = makeRangedModel(seed, maxNodes, form);
  GeneratedCase result;
  result.features = describeFeatures(made.model);
  for (const RangeRefusal &refusal : made.refusals) {
    result.features.insert("refused:" + refusal.op);
    result.refusals.push_back(refusal.message);
  }
  if (!made.refusals.empty())
    result.features.insert("refused-operators");
  result.numOperators = made.numOperators;
  result.numRefused = unsigned(made.refusals.size());
  result.complaint = findComplaint(made);
  result.test = std::make_unique<RangedCase>(std::move(made.model));
  return result;
}

TracedModel fuzz::makeInChild(uint64_t seed, unsigned maxNodes,
                              const Form *form) {
  // In front of each model and behind it: no text has them.
  constexpr llvm::StringLiteral modelMark = "\x02", endMark = "\x03";
  ChildResult child = runChild([&] {
    limitMemory();
    GeneratedModel made =
        makeRangedModel(seed, maxNodes, form, [&](const RangedModel &model) {
          llvm::errs() << modelMark << model.print() << endMark;
        });
    llvm::errs() << modelMark << made.model.print() << endMark
                 << findComplaint(made);
    return 0;
  });
  // Behind the last model is a complaint, or what a crash says.
  auto [text, complaint] =
      llvm::StringRef(child.text).rsplit(modelMark).second.split(endMark);
  auto model = RangedModel::parse(text);
  if (!model)
    return {{}, llvm::toString(model.takeError())};
  // The empty text is one, too.
  if (text.empty())
    return {{}, "no model can be made: " + child.text};
  return {std::move(*model), child.exitCode == 0 ? complaint.str() : ""};
}

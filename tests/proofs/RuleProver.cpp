//===- RuleProver.cpp - Proves what rewrites do ---------------------------===//

#include "RuleProver.h"
#include "AdversarialInputs.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Support/Error.h"
#include <set>

using namespace glowish;
using namespace glowish::proofs;

unsigned Evidence::getNumApplications() const {
  unsigned count = 0;
  for (auto [verdict, number] : applications)
    count += number;
  return count;
}

namespace {

/// A module as text, so that it can be made again.
struct ModuleText {
  std::string text, side;

  static ModuleText print(const Module &module) {
    ModuleText result;
    llvm::raw_string_ostream os(result.text), side(result.side);
    printModule(os, module, &side);
    return result;
  }
  std::unique_ptr<Module> parse() const {
    return llvm::cantFail(
        parseModule(text, "case", llvm::MemoryBuffer::getMemBufferCopy(side)));
  }
};

/// Compares the graph before and after each rewrite.
class ProvingObserver final : public RewriteObserver {
public:
  ProvingObserver(const GraphPass &pass, PassEvidence &evidence,
                  std::set<std::string> &applied)
      : pass(pass), evidence(evidence), applied(applied) {}

  void list(llvm::StringRef rewrite) override { evidence[rewrite.str()]; }
  void willTry(Function &function) override {
    before = ModuleText::print(function.getModule());
  }
  void didApply(llvm::StringRef rewrite, Function &function) override {
    record(rewrite, ModuleText::print(function.getModule()));
  }

  /// Compares \p after with what was printed before.
  void record(llvm::StringRef rule, const ModuleText &after) {
    std::unique_ptr<Module> first = before.parse(), second = after.parse();
    Evidence &own = evidence[rule.str()];
    applied.insert(rule.str());
    bool isSmall = isExhaustible(*first) && isExhaustible(*second);
    Comparison comparison = isSmall ? Comparison{Verdict::Exhausted, ""}
                                    : compareGraphs(*first, *second);
    llvm::Error difference =
        interpretBoth(*first, *second, rule, pass.exactness);
    if (difference)
      comparison = {Verdict::Refuted, llvm::toString(std::move(difference))};
    else
      ++own.interpreted;
    ++own.applications[comparison.verdict];
    std::string &message =
        comparison.verdict == Verdict::Refuted ? own.refutation : own.doubt;
    if (comparison.verdict >= Verdict::Undecided && message.empty())
      message = comparison.reason + "\nbefore:\n" + before.text + "after:\n" +
                after.text;
  }

  ModuleText before;

private:
  const GraphPass &pass;
  PassEvidence &evidence;
  std::set<std::string> &applied;
};

} // namespace

static GraphPassContext makeContext(RewriteObserver *observer) {
  GraphPassContext context;
  context.evaluate = evaluateNode;
  context.observer = observer;
  return context;
}

llvm::Expected<PassProof> proofs::provePass(const GraphPass &pass,
                                            llvm::ArrayRef<RuleCase> cases,
                                            llvm::StringRef path) {
  PassProof proof;
  PassEvidence &evidence = proof.evidence;
  // By the line of the pattern: whether one of the combinations was rewritten.
  std::map<unsigned, std::pair<const RuleCase *, bool>> patterns;
  std::map<unsigned, std::string> refusals;
  for (const RuleCase &each : cases) {
    bool &isRewritten =
        patterns.try_emplace(each.line, &each, false).first->second.second;
    auto module = parseModule(each.text, path, nullptr);
    if (!module) {
      refusals[each.line] = llvm::toString(module.takeError());
      continue;
    }
    std::set<std::string> applied;
    ProvingObserver observer(pass, evidence, applied);
    ModuleText original = ModuleText::print(**module);
    Function &function = *(*module)->getFunctions().front();
    GLOWISH_ASSIGN_OR_RETURN(bool changed,
                             pass.run(function, makeContext(&observer)));
    GLOWISH_RETURN_IF_ERROR(verify(**module));
    // Where there are no rewrites to see one by one.
    if (changed && evidence.count("") == evidence.size()) {
      observer.before = original;
      observer.record("", ModuleText::print(**module));
    }
    isRewritten |=
        each.rule.empty() ? !applied.empty() : applied.count(each.rule) != 0;
  }
  for (auto &[line, pattern] : patterns)
    if (!pattern.second && proof.idleCase.empty())
      proof.idleCase = llvm::formatv(
          "{0}:{1}: '{2}' was not applied; {3}", path, line,
          pattern.first->rule,
          refusals.count(line) ? refusals[line] : pattern.first->text);
  return proof;
}

std::vector<std::string> proofs::listRewrites(const GraphPass &pass) {
  PassEvidence evidence;
  std::set<std::string> applied;
  ProvingObserver observer(pass, evidence, applied);
  Module module("none");
  if (pass.run)
    llvm::cantFail(
        pass.run(*module.createFunction("main"), makeContext(&observer)));
  std::vector<std::string> names;
  for (const auto &[name, own] : evidence)
    names.push_back(name);
  return names;
}

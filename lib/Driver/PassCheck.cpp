//===- PassCheck.cpp - Finds passes that change results -------------------===//

#include "glowish/Driver/PassCheck.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/Comparison.h"
#include "glowish/IR/PlanProof.h"
#include "glowish/IRGen/IRGen.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

PassCheck::PassCheck(Fill fill, Compare compare)
    : fill(std::move(fill)), compare(std::move(compare)),
      interpreter(createInterpreter()) {}

//===- Comparing ----------------------------------------------------------===//

double PassCheck::getRoundingTolerance(ElemKind kind) {
  switch (kind) {
  case ElemKind::Float16:
    return 8.0 / (1 << 10);
  case ElemKind::BFloat16:
    return 8.0 / (1 << 7);
  default:
    // A number of low precision may become the next one.
    return isLowPrecisionKind(kind) ? 0.5
           : isQuantizedKind(kind)  ? 8.0 / (1 << 8)
                                    : 1e-5;
  }
}

/// The largest tolerance of a value that \p function or one of its bodies
/// computes.
static double findTolerance(Function &function) {
  double tolerance = 0;
  auto visit = [&](Function &each) {
    for (const Node &node : each.getNodes())
      for (const Type &type : node.getTypes())
        tolerance = std::max(tolerance,
                             PassCheck::getRoundingTolerance(type.getKind()));
  };
  std::vector<Function *> waiting = {&function};
  while (!waiting.empty()) {
    Function *next = waiting.back();
    waiting.pop_back();
    visit(*next);
    llvm::append_range(waiting, getNested(*next));
  }
  return tolerance;
}

/// How an output differs; empty where it may.
static std::string describeOutput(const Tensor &before, const Tensor &after,
                                  double tolerance) {
  const Type &type = before.getType();
  if (after.getType() != type)
    return llvm::formatv("is {0} and was {1}", after.getType().str(),
                         type.str());
  if (before.isBitwiseEqual(after))
    return "";
  Comparison comparison = compareTensors(after, before, 0, 0);
  bool isInteger = isIntegerKind(type.getKind());
  if (!isInteger && (comparison.numMismatches == 0 ||
                     comparison.getRelativeError() <= tolerance))
    return "";
  return llvm::formatv("changed: element {0} by {1:E2} ({2:E2} of the largest "
                       "magnitude), {3} of {4} elements; accepted: {5}",
                       comparison.maxErrorIndex, comparison.maxError,
                       comparison.getRelativeError(), comparison.numMismatches,
                       type.getNumElements(),
                       tolerance > 0 && !isInteger
                           ? llvm::formatv("{0:E1}", tolerance).str()
                           : "no change");
}

std::string PassCheck::describeChange(const Outputs &before,
                                      const Outputs &after, double tolerance) {
  for (const auto &[name, tensor] : before) {
    auto found = after.find(name);
    if (found == after.end())
      return "output '" + name + "' is gone";
    std::string change = describeOutput(tensor, found->second, tolerance);
    if (!change.empty())
      return "output '" + name + "' " + change;
  }
  return "";
}

llvm::Error PassCheck::take(llvm::StringRef what, double tolerance,
                            Outputs outputs) {
  if (last) {
    ++numChecks;
    std::string change = compare(*last, outputs, tolerance);
    if (!change.empty())
      return makeError("after {0}: {1}", what, change);
  }
  last = std::move(outputs);
  return llvm::Error::success();
}

//===- Running ------------------------------------------------------------===//

llvm::Expected<PassCheck::Outputs> PassCheck::run(Backend &backend,
                                                  const IRFunction &function,
                                                  const MemoryPlan &plan) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::create(backend, function, plan));
  GLOWISH_RETURN_IF_ERROR(fill(*session));
  GLOWISH_RETURN_IF_ERROR(session->run());
  Outputs outputs;
  for (const Buffer *buffer : session->getPlaceholders())
    if (buffer->isOutput())
      outputs[buffer->getModelName().str()] =
          session->getTensor(buffer).clone();
  return outputs;
}

namespace {

/// A copy of a module's first function, and the constants that are made for it,
/// which the destructor removes.
class ScratchCopy {
public:
  explicit ScratchCopy(Module &module)
      : module(module), copy(module.getFunctions().front()->clone("check")) {
    for (const Node &constant : module.getConstants())
      known.insert(&constant);
  }
  ~ScratchCopy() {
    module.eraseFunction(copy);
    for (auto it = module.getConstants().begin();
         it != module.getConstants().end();) {
      auto &constant = llvm::cast<Constant>(*it++);
      if (!known.count(&constant))
        module.eraseConstant(&constant);
    }
  }
  Function &get() { return *copy; }

private:
  Module &module;
  Function *copy;
  llvm::DenseSet<const Node *> known;
};

} // namespace

llvm::Expected<PassCheck::Outputs> PassCheck::interpret(Module &module) {
  ScratchCopy copy(module);
  GLOWISH_RETURN_IF_ERROR(lowerForInterpreter(copy.get()));
  auto order = llvm::to_vector(llvm::make_pointer_range(copy.get().getNodes()));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> ir,
                           generateIR(copy.get(), order));
  return run(*interpreter, *ir, planMemory(*ir));
}

llvm::Error PassCheck::start(Module &module) {
  last.reset();
  roundingTolerance = findTolerance(*module.getFunctions().front());
  GLOWISH_ASSIGN_OR_RETURN(last, interpret(module));
  return llvm::Error::success();
}

llvm::Error PassCheck::start(const IRFunction &function) {
  last.reset();
  GLOWISH_ASSIGN_OR_RETURN(last,
                           run(*interpreter, function, planMemory(function)));
  return llvm::Error::success();
}

llvm::Error PassCheck::check(llvm::StringRef what, Exactness exactness,
                             Module &module) {
  GLOWISH_ASSIGN_OR_RETURN(
      Outputs outputs, addContext(interpret(module), "after " + what + ": "));
  return take(what, getTolerance(exactness), std::move(outputs));
}

/// Whether the interpreter has all instructions of \p function.
static bool isOfCommonInstrs(const IRFunction &function) {
  bool isCommon = true;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const Instruction &instr : each.getInstrs())
      isCommon &= isCommonInstr(instr.getKind());
  });
  return isCommon;
}

llvm::Error PassCheck::check(llvm::StringRef what, Exactness exactness,
                             const IRFunction &function) {
  if (!isOfCommonInstrs(function))
    return llvm::Error::success();
  return check(what, getTolerance(exactness), *interpreter, function,
               planMemory(function));
}

llvm::Error PassCheck::checkCode(Backend &backend, const IRFunction &function,
                                 const MemoryPlan &plan) {
  return check("code generation", std::max(roundingTolerance, codeTolerance),
               backend, function, plan);
}

llvm::Error PassCheck::check(llvm::StringRef what, double tolerance,
                             Backend &backend, const IRFunction &function,
                             const MemoryPlan &plan) {
  GLOWISH_RETURN_IF_ERROR(addContext(provePlan(function, plan).takeError(),
                                     "after " + what + ": "));
  GLOWISH_ASSIGN_OR_RETURN(
      Outputs outputs,
      addContext(run(backend, function, plan), "after " + what + ": "));
  return take(what, tolerance, std::move(outputs));
}

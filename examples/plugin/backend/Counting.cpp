// A back end that tells which instructions a program executes, and has the
// interpreter execute them. As if it divided slowly, it has a pass of its own
// that multiplies instead.

#include <cmath>
#include <glowish/Backends/BackendRegistry.h>
#include <glowish/Backends/Interpreter/Interpreter.h>
#include <glowish/Backends/Plugin.h>
#include <glowish/Graph/Module.h>
#include <glowish/Graph/Nodes.h>
#include <glowish/Optimizer/Passes.h>
#include <llvm/Support/raw_ostream.h>
#include <map>

using namespace glowish;

namespace {

/// Returns the reciprocals of \p divisors, or nothing unless all are exact:
/// those of powers of two, whose reciprocals are normal numbers.
std::optional<Tensor> getExactReciprocals(const Tensor &divisors) {
  if (divisors.getType().getKind() != ElemKind::Float)
    return std::nullopt;
  Tensor reciprocals(divisors.getType());
  for (int64_t i = 0; i < divisors.getType().getNumElements(); ++i) {
    float divisor = divisors.data<float>()[i], reciprocal = 1 / divisor;
    int exponent;
    if (std::abs(std::frexp(divisor, &exponent)) != 0.5f ||
        !std::isnormal(reciprocal))
      return std::nullopt;
    reciprocals.data<float>()[i] = reciprocal;
  }
  return reciprocals;
}

/// Replaces divisions by constants by multiplications, where that changes no
/// bit.
llvm::Expected<bool> multiplyByReciprocals(Function &function,
                                           const GraphPassContext &) {
  bool changed = false;
  for (Node &node : llvm::make_early_inc_range(function.getNodes())) {
    auto *quotient = llvm::dyn_cast<DivNode>(&node);
    auto *divisors =
        quotient ? quotient->getY().getNodeAs<Constant>() : nullptr;
    if (!divisors)
      continue;
    std::optional<Tensor> reciprocals =
        getExactReciprocals(divisors->getTensor());
    if (!reciprocals)
      continue;
    InsertionGuard guard(function, quotient);
    Constant *factors = function.getModule().createConstant(
        "reciprocals", std::move(*reciprocals));
    GLOWISH_ASSIGN_OR_RETURN(MulNode *scaled,
                             function.tryCreate<MulNode>(quotient->getName(),
                                                         quotient->getX(),
                                                         factors->getResult()));
    quotient->getResult().replaceAllUsesWith(scaled->getResult());
    function.erase(quotient);
    changed = true;
  }
  return changed;
}

/// Counts the instructions of bodies, too.
void count(const IRFunction &function,
           std::map<std::string, unsigned> &counts) {
  forEachFunction(function, [&](const IRFunction &each) {
    for (const Instruction &instr : each.getInstrs())
      ++counts[instr.getKindName().str()];
  });
}

class Counting final : public Backend {
public:
  llvm::StringRef getName() const override { return "Counting"; }

  bool isSupported(const Node &node) const override {
    return interpreter->isSupported(node);
  }

  Pipeline getLoweredPipeline() const override {
    return {{{"counting-reciprocals", "dce"}, /*toFixedPoint=*/false}};
  }

  llvm::Expected<std::unique_ptr<Executable>>
  compile(const IRFunction &function, const MemoryPlan &plan,
          InstrClock *clock) override {
    std::map<std::string, unsigned> counts;
    count(function, counts);
    for (const auto &[kind, number] : counts)
      llvm::errs() << kind << ": " << number << '\n';
    return interpreter->compile(function, plan, clock);
  }

private:
  std::unique_ptr<Backend> interpreter = createInterpreter();
};

} // namespace

GLOWISH_PLUGIN {
  static const GraphPassRegistration reciprocals(
      {.name = "counting-reciprocals",
       .exactness = Exactness::Exact,
       .doc = "Multiply by reciprocals instead of dividing by powers of two",
       .run = multiplyByReciprocals});
  static const BackendRegistration counting(
      {.name = "Counting",
       .description = "counts instructions, and interprets them",
       .create = [](const TargetOptions & /*target*/)
           -> llvm::Expected<std::unique_ptr<Backend>> {
         return std::make_unique<Counting>();
       }});
}

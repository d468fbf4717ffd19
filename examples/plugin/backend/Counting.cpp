// A back end that tells which instructions a program executes, and has the
// interpreter execute them.

#include <glowish/Backends/BackendRegistry.h>
#include <glowish/Backends/Interpreter/Interpreter.h>
#include <glowish/Backends/Plugin.h>
#include <llvm/Support/raw_ostream.h>
#include <map>

using namespace glowish;

namespace {

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
  static const BackendRegistration counting(
      {.name = "Counting",
       .description = "counts instructions, and interprets them",
       .create = [](const TargetOptions & /*target*/)
           -> llvm::Expected<std::unique_ptr<Backend>> {
         return std::make_unique<Counting>();
       }});
}

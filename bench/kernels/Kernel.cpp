//===- Kernel.cpp - One operator, compiled in this process ----------------===//

#include "Kernel.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/IR/Cost.h"
#include "glowish/Support/Random.h"

using namespace glowish;
using namespace glowish::bench;

Tensor bench::makeRandom(DimsRef shape, uint64_t seed) {
  Random random(seed);
  Tensor tensor(Type(ElemKind::Float, shape));
  for (float &element : tensor.data<float>())
    element = random.uniform(-1, 1);
  return tensor;
}

Kernel::Kernel(CPUBackend &backend, const Tensor &input, BuildFn build) {
  llvm::ExitOnError check("error: ");
  auto module = std::make_unique<Module>("kernel");
  Function *function = module->createFunction("main");
  Placeholder *x = module->createPlaceholder("x", input.getType(),
                                             /*input=*/true, /*output=*/false);
  NodeValue result = build(*module, *function, NodeValue(x));
  Placeholder *y = module->createPlaceholder("y", result.getType(),
                                             /*input=*/false, /*output=*/true);
  function->create<SaveNode>("save", result, NodeValue(y));
  Compilation compilation(backend, CompilationOptions());
  program = check(compilation.compile(std::move(module)));
  session = check(Session::create(*program));
  check(session->setInput(check(session->findPlaceholder("x")), input));
}

Tensor Kernel::getResult() const {
  return session->getTensor(llvm::cantFail(session->findPlaceholder("y")));
}

llvm::StringRef Kernel::getInstrKind() {
  for (const Instruction &instr : program->getIR().getInstrs())
    if (getCost(instr).flops > 0)
      return instr.getKindName();
  return "none";
}

bool bench::isClose(const Tensor &actual, llvm::ArrayRef<float> expected) {
  llvm::ArrayRef<float> elements = actual.data<float>();
  float error = 0, magnitude = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error = std::max(error, std::abs(elements[i] - expected[i]));
    magnitude = std::max(magnitude, std::abs(expected[i]));
  }
  return elements.size() == expected.size() && error <= 1e-4f * magnitude;
}

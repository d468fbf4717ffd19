//===- OnnxRuntimeTarget.cpp - Graphs in ONNX Runtime ---------------------===//

#include "OnnxRuntimeTarget.h"
#include "common/Foreign/OnnxRuntime.h"
#include "common/Foreign/TemporaryFolder.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Graph/Module.h"
#include "glowish/Graph/Nodes.h"
#include <list>

using namespace glowish;
using namespace glowish::fuzz;

llvm::Expected<std::unique_ptr<GraphTarget>>
OnnxRuntimeTarget::create(llvm::StringRef name) {
  std::string missing = findMissingOnnxRuntime();
  if (!missing.empty()) {
    llvm::outs() << "skipped: " << missing << '\n';
    return nullptr;
  }
  return std::unique_ptr<GraphTarget>(new OnnxRuntimeTarget(name == optimized));
}

bool OnnxRuntimeTarget::hasForm(const Node &node) const {
  return hasOnnxExporter(node.getKind());
}

/// What the names of the two halves of a state end with.
static constexpr llvm::StringLiteral givenSuffix = "/given";
static constexpr llvm::StringLiteral leftSuffix = "/left";

/// Gives each state an input and an output of its own, as models have them.
static void separateStates(Module &module) {
  Function &function = *module.getFunctions().front();
  std::vector<Placeholder *> states;
  for (const auto &placeholder : module.getPlaceholders())
    if (placeholder->isInput() && placeholder->isOutput())
      states.push_back(placeholder.get());
  for (Placeholder *state : states) {
    std::string name = state->getModelName().str();
    Placeholder *given =
        module.createPlaceholder(name + givenSuffix.str(), state->getType(),
                                 /*input=*/true, /*output=*/false);
    Placeholder *left =
        module.createPlaceholder(name + leftSuffix.str(), state->getType(),
                                 /*input=*/false, /*output=*/true);
    bool isSaved = false;
    for (Node &node : function.getNodes())
      if (auto *save = llvm::dyn_cast<SaveNode>(&node);
          save && save->getOutput().node == state) {
        save->setOperand(1, NodeValue(left));
        isSaved = true;
      }
    NodeValue(state).replaceAllUsesWith(given);
    if (!isSaved)
      function.create<SaveNode>("kept", given, left);
    module.erasePlaceholder(state);
  }
}

/// The name of the placeholder before separateStates().
static llvm::StringRef getOriginalName(const Placeholder &placeholder) {
  llvm::StringRef name = placeholder.getModelName();
  if (!name.consume_back(givenSuffix))
    name.consume_back(leftSuffix);
  return name;
}

llvm::Expected<Outputs> OnnxRuntimeTarget::run(Module &module,
                                               const RunExtents &values) const {
  GLOWISH_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::create());
  OnnxRuntimeRun run;
  run.model = folder->getFile("model.onnx");
  run.isOptimized = isOptimized;
  separateStates(module);
  if (llvm::Error error = writeOnnxFile(module, run.model))
    return llvm::make_error<Inexpressible>(llvm::toString(std::move(error)));
  std::list<Tensor> inputs;
  std::vector<const Placeholder *> results;
  for (const auto &placeholder : module.getPlaceholders()) {
    std::string name = placeholder->getModelName().str();
    if (placeholder->isOutput()) {
      results.push_back(placeholder.get());
      run.outputs.push_back(name);
    } else if (placeholder->isInput()) {
      inputs.push_back(makeInput(getOriginalName(*placeholder),
                                 placeholder->getType(),
                                 placeholder->getInputExtents(), values));
      run.inputs.emplace_back(name, &inputs.back());
    }
  }
  auto outputs = runOnnxRuntime(run);
  if (!outputs)
    return llvm::handleErrors(
        outputs.takeError(), [](const NotInOnnxRuntime &error) -> llvm::Error {
          return llvm::make_error<Inexpressible>(error.message());
        });
  Outputs left;
  for (auto [placeholder, output] : llvm::zip_equal(results, *outputs)) {
    if (output.getType() != placeholder->getType())
      return makeError("output '{0}' is {1}, not {2}",
                       placeholder->getModelName(), output.getType(),
                       placeholder->getType());
    left[getOriginalName(*placeholder).str()] = std::move(output);
  }
  return left;
}

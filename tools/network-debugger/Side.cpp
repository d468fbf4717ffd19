//===- Side.cpp - One of the two compared networks ------------------------===//

#include "network-debugger/Side.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;

ValueName glowish::getName(NodeValue value) {
  return {value.node->getName().str(), value.result};
}

llvm::Expected<ImportedSide> glowish::importSide(const Side &side) {
  CompilationOptions options = side.compilationOptions;
  // Layers are compiled in place of the outputs of the model.
  options.keepsOutputs = true;
  auto compilation = std::make_unique<Compilation>(*side.backend, options);
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation->import(side.path, side.importOptions));
  if (side.form == GraphForm::Optimized) {
    GLOWISH_ASSIGN_OR_RETURN(graph, compilation->optimize(std::move(graph)));
  }
  // A quantized model has been prepared.
  if (side.form == GraphForm::Prepared && !side.compilationOptions.quantization)
    GLOWISH_RETURN_IF_ERROR(compilation->prepareQuantization(graph));
  return ImportedSide{std::move(compilation), std::move(graph)};
}

void glowish::eraseSaves(Function &function) {
  for (Node &node : llvm::make_early_inc_range(function.getNodes()))
    if (llvm::isa<SaveNode>(node))
      function.erase(&node);
}

llvm::DenseSet<NodeValue> glowish::findConstantValues(Function &function) {
  llvm::DenseSet<NodeValue> values;
  auto isConstant = [&](NodeValue value) {
    return !value || llvm::isa<Constant>(value.node) || values.count(value);
  };
  for (Node &node : function.getNodes())
    if (llvm::all_of(node.getOperands(), isConstant))
      for (unsigned i = 0; i < node.getNumResults(); ++i)
        values.insert(node.getResult(i));
  return values;
}

llvm::Expected<std::unique_ptr<InnerRun>>
InnerRun::create(ImportedSide side,
                 llvm::function_ref<bool(NodeValue value)> isWanted) {
  std::unique_ptr<InnerRun> run(new InnerRun());
  std::vector<InnerOutput> outputs =
      addInnerOutputs(side.graph.getFunction(), isWanted);
  // The nodes go when the IR has been made of them.
  for (const InnerOutput &output : outputs)
    run->names.push_back(getName(output.value));
  GLOWISH_ASSIGN_OR_RETURN(run->program,
                           side.compilation->compile(std::move(side.graph)));
  GLOWISH_ASSIGN_OR_RETURN(run->session,
                           side.compilation->createSession(*run->program));
  for (const InnerOutput &output : outputs) {
    GLOWISH_ASSIGN_OR_RETURN(const Buffer *buffer,
                             run->session->findPlaceholder(output.placeholder));
    run->buffers.push_back(buffer);
  }
  return run;
}

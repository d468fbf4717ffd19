//===- Side.h - One of the two compared networks ----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_NETWORK_DEBUGGER_SIDE_H
#define GLOWISH_TOOLS_NETWORK_DEBUGGER_SIDE_H

#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/InnerOutputs.h"
#include "glowish/Driver/Session.h"
#include "llvm/ADT/DenseSet.h"

namespace glowish {

/// The graph whose nodes are compared.
enum class GraphForm {
  /// What the importer makes.
  Imported,
  /// What is profiled and quantized.
  Prepared,
  /// What the Optimize phase leaves.
  Optimized
};

/// A model, the back end that computes it, and which graph is looked at.
struct Side {
  Backend *backend = nullptr;
  /// The model's file.
  std::string path;
  ImportOptions importOptions;
  CompilationOptions compilationOptions;
  GraphForm form = GraphForm::Optimized;
};

/// The name of a result of a node, the same in all graphs of a model.
struct ValueName {
  std::string node;
  unsigned result = 0;

  auto operator<=>(const ValueName &other) const = default;
};
ValueName getName(NodeValue value);

/// A model that is imported, and the phases that are to come.
struct ImportedSide {
  std::unique_ptr<Compilation> compilation;
  /// The nodes of its function are those to look at.
  ModelGraph graph;
};

/// Imports the model of \p side.
llvm::Expected<ImportedSide> importSide(const Side &side);

/// Deletes the nodes that make outputs of the model, so that only the outputs
/// that are added later are computed.
void eraseSaves(Function &function);

/// The values of \p function that no input has a part in: they are constants
/// once the graph is optimized.
llvm::DenseSet<NodeValue> findConstantValues(Function &function);

/// A network with some inner values as outputs, compiled.
class InnerRun {
public:
  /// Compiles \p side with the results of nodes that \p isWanted as outputs.
  static llvm::Expected<std::unique_ptr<InnerRun>>
  create(ImportedSide side, llvm::function_ref<bool(NodeValue value)> isWanted);

  Session &getSession() { return *session; }
  /// In the order of the nodes.
  llvm::ArrayRef<ValueName> getNames() const { return names; }
  /// After a run, borrowed.
  Tensor getTensor(size_t index) const {
    return session->getTensor(buffers[index]);
  }

private:
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
  std::vector<ValueName> names;
  std::vector<const Buffer *> buffers;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_NETWORK_DEBUGGER_SIDE_H

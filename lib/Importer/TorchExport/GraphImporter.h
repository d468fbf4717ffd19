//===- GraphImporter.h - Graphs of exported programs ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_GRAPHIMPORTER_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_GRAPHIMPORTER_H

#include "Aten/AtenOp.h"
#include "Common/OpenBody.h"
#include "TorchExport/Arguments.h"
#include "TorchExport/Memory.h"
#include "glowish/Importer/ImportOptions.h"

namespace glowish::torchexport {

/// State shared by the graphs of a program.
struct ExportedContext {
  aten::AtenContext aten;
  const ImportOptions &options;
  /// The values of symbols.
  std::map<std::string, int64_t> symbols;
  /// The ranges of those that each run states.
  SymbolRanges ranges = {};
  SubgraphBudget budget = {};
};

/// Returns the extent that an entry of TensorMeta's sizes states, with the
/// values of symbols in their place; none if it is no Extent.
std::optional<Extent> readSize(const llvm::json::Value &size,
                               const std::map<std::string, int64_t> &symbols);

/// The type that a TensorMeta states; nothing if an extent is not known.
llvm::Expected<std::optional<Type>>
readTensorMeta(const llvm::json::Object &meta, const ExportedContext &context);

/// Imports the nodes of a graph to a function: that of the model, or a body of
/// a branch or loop.
class ExportedGraph {
public:
  ExportedGraph(const llvm::json::Object &graph, Function &function,
                ExportedContext &context)
      : graph(graph), function(function), context(context),
        memory(graph, values, function, context.aten) {}

  /// Sets the graph's inputs to \p inputs, imports the nodes, and returns the
  /// outputs.
  llvm::Expected<aten::AtenValue::List> import(aten::AtenValue::List inputs);

  ExportedValues &getValues() { return values; }
  llvm::Error importNodes();

private:
  llvm::Error importNode(const llvm::json::Object &node);
  llvm::Expected<aten::AtenValue::List> runNode(const llvm::json::Object &node,
                                                llvm::StringRef target,
                                                llvm::StringRef name);
  /// \p isFunctionalized: whether \p node returns the new values of the
  /// arguments that \p op writes.
  llvm::Expected<aten::AtenValue::List>
  runExternal(const llvm::json::Object &node, const ExternalOperator &op,
              llvm::StringRef name, bool isFunctionalized);
  llvm::Expected<aten::AtenValue::List>
  runAten(const llvm::json::Object &node, const aten::RegisteredAtenOp &op,
          llvm::StringRef name);
  llvm::Expected<const aten::RegisteredAtenOp *>
  findAlias(const aten::RegisteredAtenOp &op,
            const std::map<unsigned, std::string> &tensors,
            const aten::AtenValue::List &arguments);
  llvm::Error findMemory(llvm::StringRef self,
                         aten::AtenValue::List &arguments);
  llvm::Error noteViews(const llvm::json::Object &node,
                        const aten::RegisteredAtenOp &op,
                        const std::map<unsigned, std::string> &tensors,
                        const aten::AtenValue::List &arguments);
  /// \p where describes the node.
  llvm::Error setResults(const llvm::json::Object &node,
                         aten::AtenValue::List results, llvm::StringRef where);
  llvm::Error checkType(llvm::StringRef name, aten::AtenValue &value);
  llvm::Expected<NodeValue> declareStated(llvm::StringRef name, NodeValue value,
                                          const Type &stated);

  const llvm::json::Object &graph;
  Function &function;
  ExportedContext &context;
  ExportedValues values;
  ExportedMemory memory;
};

/// The operators that a program has and no translation: each "node ..." once.
llvm::Expected<std::vector<std::string>>
findUnsupported(const llvm::json::Object &graph, const ImportOptions &options);

/// Returns a tensor or a number as a tensor; numbers become constants.
NodeValue asTensor(NodeBuilder &b, const aten::AtenValue &value);

/// An operator of Python on numbers: "_operator.add", "math.floor".
bool isPythonOperator(llvm::StringRef target);
llvm::Expected<aten::AtenValue>
runPythonOperator(llvm::StringRef target,
                  const aten::AtenValue::List &arguments,
                  const SymbolRanges &symbols);

/// An argument of an operator that takes graphs: a graph or a value.
struct HigherOrderArgument {
  const llvm::json::Object *graph = nullptr;
  aten::AtenValue value = {};
};
/// Whether \p target takes graphs and is supported: cond, while_loop, and
/// wrappers that run one.
bool isHigherOrder(llvm::StringRef target);
llvm::Expected<aten::AtenValue::List>
runHigherOrder(llvm::StringRef target, llvm::StringRef name,
               std::vector<HigherOrderArgument> arguments, Function &function,
               ExportedContext &context);

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_GRAPHIMPORTER_H

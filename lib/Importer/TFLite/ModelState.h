//===- ModelState.h - What the subgraphs of a model share -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_MODELSTATE_H
#define GLOWISH_LIB_IMPORTER_TFLITE_MODELSTATE_H

#include "Common/Folding.h"
#include "TFLite/Variables.h"
#include "glowish/Importer/ImportOptions.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>

namespace glowish::tflite {

/// State of the import of a model, which may import a subgraph several times.
class TFLiteModelState {
public:
  TFLiteModelState(const TFLiteFile &file, const ImportOptions &options,
                   Module &module)
      : file(file), options(options), module(module) {}

  const TFLiteFile &file;
  const ImportOptions &options;
  Module &module;
  FoldingBudget foldingBudget;
  SubgraphBudget subgraphBudget;
  /// The subgraphs that are being imported, each for an operator of the one
  /// before it.
  std::vector<int32_t> active = {0};
  /// Whether an error tells of the operator of a subgraph that it is about.
  bool isErrorLocated = false;
  /// Initializations (CALL_ONCE) that states of zeros stand for.
  llvm::DenseSet<int32_t> initializedByZeros;

  /// \p name, or another one if it is empty or taken.
  std::string getUniqueName(llvm::StringRef name);
  /// The elements of \p stored, which has bytes, as a constant.
  llvm::Expected<NodeValue> getConstant(const schema::Tensor &stored,
                                        llvm::StringRef name);

  /// The variable that the tensor \p stored is.
  TFLiteVariable &getVariable(const schema::Tensor &stored,
                              llvm::StringRef name);
  /// The variable that all operators with these names share.
  TFLiteVariable &getResource(llvm::StringRef container,
                              llvm::StringRef sharedName);
  /// Whether the initialization \p subgraph was executed.
  TFLiteVariable &getInitialized(int32_t subgraph);

  /// Erases the placeholders of resources that nothing reads and assigns in the
  /// end.
  void eraseUnusedVariables();

  /// The number of operators of \p subgraph, with those of its own subgraphs;
  /// at least 1.
  int64_t countOperators(int32_t subgraph);

private:
  int64_t countOperators(int32_t subgraph, unsigned depth);
  TFLiteVariable &create(llvm::StringRef name);

  llvm::StringSet<> usedNames;
  /// The last numbers that were appended to names.
  llvm::StringMap<unsigned> numbers;
  llvm::DenseMap<const schema::Tensor *, NodeValue> constants;
  std::deque<TFLiteVariable> variables;
  llvm::DenseMap<const schema::Tensor *, TFLiteVariable *> tensorVariables;
  std::map<std::pair<std::string, std::string>, TFLiteVariable *> resources;
  std::map<int32_t, TFLiteVariable *> initialized;
  std::map<int32_t, int64_t> numOperators;
};

/// How deep subgraphs may be nested in the operators of others.
inline constexpr size_t maxSubgraphDepth = 64;

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_MODELSTATE_H

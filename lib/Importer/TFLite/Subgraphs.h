//===- Subgraphs.h - Import of subgraphs ------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_SUBGRAPHS_H
#define GLOWISH_LIB_IMPORTER_TFLITE_SUBGRAPHS_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

using TFLiteValues = std::vector<TFLiteValue>;

/// Imports the operators of a subgraph in their order, which is one in which
/// they can run. The steps are for the main subgraph, whose inputs are
/// placeholders; others have importInner().
class SubgraphImporter {
public:
  SubgraphImporter(const schema::SubGraph &graph, Function &function,
                   TFLiteModelState &model, VariableScope &variables);

  llvm::Error readTensors();
  /// Tensors with bytes are constants.
  llvm::Error createConstants();
  llvm::Error importOperators();
  /// The last value of tensor \p index.
  TFLiteValue getValue(int32_t index);

  /// Imports everything with \p inputs and returns the outputs. \p
  /// hasOtherShapes: where the operator is that runs the subgraph.
  llvm::Expected<TFLiteValues> importInner(llvm::ArrayRef<TFLiteValue> inputs,
                                           bool hasOtherShapes);

  TFLiteContext &getContext() { return context; }
  std::vector<TFLiteTensor> &getTensors() { return tensors; }

private:
  bool isMain() const;
  llvm::Error setInputs(llvm::ArrayRef<TFLiteValue> inputs);
  llvm::Error setInput(size_t number, TFLiteTensor &tensor,
                       const TFLiteValue &value);
  llvm::Error importOperator(const schema::Operator &stored, size_t position);

  const schema::SubGraph &graph;
  TFLiteModelState &model;
  TFLiteContext context;
  std::vector<TFLiteTensor> tensors;
};

/// The inputs of \p op from \p first on.
TFLiteValues getValues(const TFLiteOp &op, unsigned first = 0);

/// Imports subgraph \p index, which \p op runs with \p inputs, into \p function
/// where \p variables hold, and returns its outputs.
llvm::Expected<TFLiteValues> importSubgraph(TFLiteOp &op, int32_t index,
                                            llvm::ArrayRef<TFLiteValue> inputs,
                                            Function &function,
                                            VariableScope &variables);

/// Like that, where \p op is.
llvm::Expected<TFLiteValues> importSubgraph(TFLiteOp &op, int32_t index,
                                            llvm::ArrayRef<TFLiteValue> inputs);

/// "subgraph 2 ('body')".
std::string describeSubgraph(const TFLiteOp &op, int32_t index);

/// An error unless \p value is a bool with one element.
llvm::Error checkCondition(const TFLiteValue &value);

/// Makes \p values the outputs of \p op, which must be as many.
llvm::Error setOutputs(TFLiteOp &op, llvm::ArrayRef<TFLiteValue> values);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_SUBGRAPHS_H

//===- ModelFile.h - TensorFlow Lite files ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_MODELFILE_H
#define GLOWISH_LIB_IMPORTER_TFLITE_MODELFILE_H

#include "TFLite/tflite_generated.h"
#include "glowish/Base/Tensor.h"
#include "glowish/Support/Error.h"

namespace glowish::tflite {

/// A model in the bytes of a file, whose offsets, and whose indices of tensors,
/// buffers and operators, are known to be valid. \p bytes outlive it, at an
/// address that is a multiple of 16.
class TFLiteFile {
public:
  static llvm::Expected<TFLiteFile> read(llvm::ArrayRef<uint8_t> bytes);

  const schema::Model &getModel() const { return *model; }
  /// The subgraph that runs; others are bodies of control flow.
  const schema::SubGraph &getMain() const {
    return *model->subgraphs()->Get(0);
  }
  llvm::ArrayRef<uint8_t> getFile() const { return bytes; }
  /// Subgraph \p index; null if there is none.
  const schema::SubGraph *findSubgraph(int32_t index) const;

  /// The name of \p op, such as "CONV_2D", or that of a custom operator.
  std::string getOperatorName(const schema::Operator &op) const;
  /// The bytes of \p tensor; empty if it has none.
  llvm::ArrayRef<uint8_t> getBytes(const schema::Tensor &tensor) const;
  /// The elements of \p tensor, which has bytes.
  llvm::Expected<Tensor> readConstant(const schema::Tensor &tensor) const;

private:
  TFLiteFile(llvm::ArrayRef<uint8_t> bytes, const schema::Model *model)
      : bytes(bytes), model(model) {}
  llvm::Error check() const;
  llvm::Error checkBuffers() const;
  llvm::Error checkGraph(const schema::SubGraph &graph) const;
  llvm::Error checkOperator(const schema::SubGraph &graph,
                            const schema::Operator &op) const;

  llvm::ArrayRef<uint8_t> bytes;
  const schema::Model *model;
};

/// The kind and shape of \p tensor. Extents that the file leaves open are as it
/// stores them, 1 as a rule.
llvm::Expected<Type> getType(const schema::Tensor &tensor);

/// The kind of elements of \p type; nullopt of one that is not accepted.
std::optional<ElemKind> findKind(schema::TensorType type);

/// The subgraphs that the options of \p op name, which may not exist.
llvm::SmallVector<int32_t, 2> getSubgraphs(const schema::Operator &op);

/// The indices of a list that may be absent.
inline llvm::ArrayRef<int32_t>
getIndices(const flatbuffers::Vector<int32_t> *list) {
  return list ? llvm::ArrayRef<int32_t>(list->data(), list->size())
              : llvm::ArrayRef<int32_t>();
}

/// The name of \p tensor in messages and of nodes.
llvm::StringRef getName(const schema::Tensor &tensor);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_MODELFILE_H

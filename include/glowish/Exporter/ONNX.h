//===- ONNX.h - Export of graphs as ONNX models -----------------*- C++ -*-===//

#ifndef GLOWISH_EXPORTER_ONNX_H
#define GLOWISH_EXPORTER_ONNX_H

#include "glowish/Graph/Module.h"
#include <map>

namespace glowish {

/// The ONNX opset of written models.
constexpr int onnxWriterOpset = 17;
/// The opset of those with integers of 4 bits, or with blocks of weights that
/// MatMulNBits does not take.
constexpr int onnxWriterNewerOpset = 21;

struct OnnxWriteOptions {
  /// The function to write; empty for the first of the module.
  std::string function;
  /// Values of placeholders, by their names in the model, that become
  /// initializers, such as trained weights. They have the type of the
  /// placeholder.
  std::map<std::string, std::shared_ptr<const Tensor>> values;
  /// Maximum size of a model file or string, by default protobuf's limit.
  /// Weights of larger models are written as external data.
  int64_t maxFileBytes = (int64_t(1) << 31) - 1;
};

/// Writes a function of \p module, in any form before lowering, as an ONNX
/// model to \p path, and its weights to PATH.data if the model is too large for
/// one file. Inputs and outputs have the model's names, order and types. The
/// output is deterministic. The error for a node that ONNX has no operators for
/// names it.
llvm::Error writeOnnxFile(const Module &module, llvm::StringRef path,
                          const OnnxWriteOptions &options = {});

/// Like writeOnnxFile(), to a string; a model that is too large is an error.
llvm::Expected<std::string> writeOnnx(const Module &module,
                                      const OnnxWriteOptions &options = {});

/// Whether there is an exporter for nodes of \p kind. It may still refuse a
/// node for its attributes or types.
bool hasOnnxExporter(NodeKind kind);
/// Returns why nodes of \p kind cannot be exported, or an empty string if they
/// can.
llvm::StringRef getOnnxRefusal(NodeKind kind);

} // namespace glowish

#endif // GLOWISH_EXPORTER_ONNX_H

//===- ONNX.h - Graphs to ONNX models -------------------------*- C++ -*-===//

#ifndef GLOWISH_EXPORTER_ONNX_H
#define GLOWISH_EXPORTER_ONNX_H

#include "glowish/Graph/Module.h"
#include <map>

namespace glowish {

/// ONNX's operator set that models are written with.
constexpr int onnxWriterOpset = 17;

struct OnnxWriteOptions {
  /// The function to write; empty for the module's first.
  std::string function;
  /// Placeholders, by their names in the model, that become initializers with
  /// these elements, of the placeholder's type: weights after training.
  std::map<std::string, std::shared_ptr<const Tensor>> values;
  /// What a file, or the bytes, can have: protobuf's limit. A larger model's
  /// weights go to a file of their own.
  int64_t maxFileBytes = (int64_t(1) << 31) - 1;
};

/// Writes a function of \p module, in any state before lowering, as an ONNX
/// model to \p path and, where it is too large for one file, its weights to
/// PATH.data. Inputs and outputs have the model's names, order and types; the
/// same module gives the same bytes. An error names the node that ONNX has no
/// operators for.
llvm::Error writeOnnxFile(const Module &module, llvm::StringRef path,
                          const OnnxWriteOptions &options = {});

/// The same as bytes; too large a model is an error.
llvm::Expected<std::string> writeOnnx(const Module &module,
                                      const OnnxWriteOptions &options = {});

/// Whether nodes of \p kind can be written, as far as the kind decides that.
bool hasOnnxExporter(NodeKind kind);
/// Why nodes of \p kind can't be written; empty where they can.
llvm::StringRef getOnnxRefusal(NodeKind kind);

} // namespace glowish

#endif // GLOWISH_EXPORTER_ONNX_H

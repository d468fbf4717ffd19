//===- GraphImporter.h - Convert an ONNX graph to a module ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H
#define GLOWISH_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H

#include "ONNX/ExternalData.h"
#include "ONNX/Opsets.h"
#include "glowish/Importer/ONNX.h"

namespace glowish::onnximport {

/// The initializers of a model that is imported several times.
struct WeightCache {
  /// In the model's order.
  std::vector<std::pair<std::string, std::shared_ptr<const Tensor>>> weights;
  bool isComplete = false;
  /// What the imports make of them.
  std::shared_ptr<SharedTensors> tensors = std::make_shared<SharedTensors>();
};

/// Converts \p model, whose functions have been inlined, to a module; external
/// data are in \p folders. The initializers are moved out of \p model, into
/// \p cache for later imports unless that is null.
llvm::Expected<std::unique_ptr<Module>>
importGraph(onnx::ModelProto &model, const NodeOpsets &opsets,
            const ImportOptions &options, const DataFolders &folders,
            WeightCache *cache);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H

//===- GraphImporter.h - An ONNX graph becomes a function -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H
#define GLOWISH_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H

#include "ONNX/Opsets.h"
#include "glowish/Importer/ONNX.h"

namespace glowish {

/// The initializers of a model that is imported several times.
struct WeightCache {
  /// In the model's order.
  std::vector<std::pair<std::string, std::shared_ptr<const Tensor>>> weights;
  bool isComplete = false;
};

/// Makes a module of \p model, whose functions have been written out; external
/// data are in \p folder. Its initializers are taken out of it: into \p cache
/// where that is given, from where later imports have them, and else for good.
llvm::Expected<std::unique_ptr<Module>>
importGraph(onnx::ModelProto &model, const NodeOpsets &opsets,
            const ImportOptions &options, llvm::StringRef folder,
            WeightCache *cache);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H

//===- Opsets.h - Opset versions --------------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPSETS_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPSETS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include <map>
#include <onnx/onnx_pb.h>

namespace glowish::onnximport {

/// Returns \p domain, with both names of ONNX's own domain mapped to "".
std::string normalizeDomain(llvm::StringRef domain);

/// The opset versions imported by a model or one of its functions.
class Opsets {
public:
  using Imports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

  Opsets() = default;
  /// Reads the imports of \p model. Before IR version 3 there were none, and
  /// the opset is 1; from then on it is an error if there are none.
  static llvm::Expected<Opsets> read(const onnx::ModelProto &model);
  /// Reads \p imports; domains that it does not list are those of \p outer. An
  /// error names a version that does not exist, or two of one domain.
  static llvm::Expected<Opsets> read(const Imports &imports,
                                     const Opsets &outer);

  /// Whether \p domain is imported.
  bool has(llvm::StringRef domain) const;
  /// Returns the version, or 1 if \p domain is not imported: ONNX Runtime runs
  /// its own operators in models that do not import them.
  int getVersion(llvm::StringRef domain) const;

private:
  std::map<std::string, int> versions;
};

/// Returns the newest opset of ONNX's own domain that the importers implement.
/// Those of newer ones may differ.
int getNewestKnownOpset();
/// Returns the newest opset of ONNX's own domain that \p model or one of its
/// functions imports.
int64_t getNewestImportedOpset(const onnx::ModelProto &model);

/// The opsets in force at each node. Nodes of inlined functions keep those of
/// the function.
class NodeOpsets {
public:
  void setModel(Opsets opsets) { model = std::move(opsets); }
  const Opsets &getModel() const { return model; }
  void set(const onnx::NodeProto &node, std::shared_ptr<const Opsets> opsets) {
    functions[&node] = std::move(opsets);
  }
  const Opsets &get(const onnx::NodeProto &node) const {
    auto found = functions.find(&node);
    return found == functions.end() ? model : *found->second;
  }

private:
  Opsets model;
  llvm::DenseMap<const onnx::NodeProto *, std::shared_ptr<const Opsets>>
      functions;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPSETS_H

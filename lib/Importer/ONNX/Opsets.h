//===- Opsets.h - Versions of operator sets -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPSETS_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPSETS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include <map>
#include <onnx/onnx_pb.h>

namespace glowish {

/// \p domain, "" being ONNX's own by both its names.
std::string normalizeDomain(llvm::StringRef domain);

/// The versions of the operator sets that a model or one of its functions
/// imports.
class Opsets {
public:
  using Imports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

  Opsets() = default;
  /// What \p imports says; else what \p outer does. An error names a version
  /// that does not exist.
  static llvm::Expected<Opsets> read(const Imports &imports,
                                     const Opsets &outer);

  /// 1 where \p domain is not imported: files of before IR version 3 don't
  /// state what they import.
  int getVersion(llvm::StringRef domain) const;

private:
  std::map<std::string, int> versions;
};

/// The operator sets in force at each node. A node that came out of a function
/// keeps the function's.
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

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPSETS_H

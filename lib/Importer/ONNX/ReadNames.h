//===- ReadNames.h - Names used by a node -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_READNAMES_H
#define GLOWISH_LIB_IMPORTER_ONNX_READNAMES_H

#include "llvm/ADT/StringRef.h"
#include <onnx/onnx_pb.h>
#include <vector>

namespace glowish::onnximport {

/// Returns the names of the values that \p proto uses, one entry per use: its
/// inputs, and the names that its subgraphs use from outside.
std::vector<llvm::StringRef> getReadNames(const onnx::NodeProto &proto);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_READNAMES_H

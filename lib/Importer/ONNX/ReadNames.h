//===- ReadNames.h - The values that a node reads --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_READNAMES_H
#define GLOWISH_LIB_IMPORTER_ONNX_READNAMES_H

#include "llvm/ADT/StringRef.h"
#include <onnx/onnx_pb.h>
#include <vector>

namespace glowish {

/// The names of the values that \p proto reads, one a use: its inputs, and each
/// name that the graphs in its attributes take from outside.
std::vector<llvm::StringRef> getReadNames(const onnx::NodeProto &proto);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_READNAMES_H

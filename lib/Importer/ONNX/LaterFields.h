//===- LaterFields.h - Fields that ONNX's library may lack ------*- C++ -*-===//
//
// A file may have fields that the protobuf classes of the library, an older
// one, do not declare: protobuf keeps them as unknown ones. What they say must
// not be lost without a word.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_LATERFIELDS_H
#define GLOWISH_LIB_IMPORTER_ONNX_LATERFIELDS_H

#include "glowish/Support/Error.h"
#include <onnx/onnx_pb.h>

namespace glowish::onnximport {

/// Returns an error for the first field anywhere in \p model that is none of a
/// version of ONNX up to 1.23. It names the node that the field is of, or in.
llvm::Error checkLaterFields(const onnx::ModelProto &model);

/// Returns which of several functions of one name a node calls, or a function
/// is; empty as a rule.
std::string getOverload(const onnx::NodeProto &node);
std::string getOverload(const onnx::FunctionProto &function);

/// Returns the attributes that a call of \p function has where it states no
/// others.
llvm::Expected<std::vector<onnx::AttributeProto>>
getDefaultAttributes(const onnx::FunctionProto &function);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_LATERFIELDS_H

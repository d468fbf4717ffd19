//===- OperatorList.h - The page with ONNX's operators ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPERATORLIST_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPERATORLIST_H

#include "glowish/Importer/ModelFormat.h"

namespace glowish::onnximport {

extern const OperatorList operatorList;

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPERATORLIST_H

//===- OperatorList.h - The page with ATen's operators ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_OPERATORLIST_H
#define GLOWISH_LIB_IMPORTER_ATEN_OPERATORLIST_H

#include "glowish/Importer/ModelFormat.h"

namespace glowish::aten {

extern const OperatorList operatorList;

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_OPERATORLIST_H

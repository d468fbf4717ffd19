//===- Models.h - Models by their formats -----------------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_MODELS_H
#define GLOWISH_PYTHON_CORE_MODELS_H

#include "core/Expected.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Importer/ModelFormat.h"

namespace glowish::python {

/// Returns the model at \p path; null for one that is imported without being
/// parsed first, which declares nothing.
inline std::unique_ptr<ParsedModel> parseModel(const std::string &path) {
  if (isTextForm(path))
    return nullptr;
  const ModelFormat *format = take(getModelFormat(path));
  return format->parse ? take(format->parse(path)) : nullptr;
}

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_MODELS_H

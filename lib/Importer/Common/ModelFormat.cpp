//===- ModelFormat.cpp - File formats of models ---------------------------===//

#include "glowish/Importer/ModelFormat.h"

using namespace glowish;

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static std::vector<ModelFormat> &getFormats() {
  static std::vector<ModelFormat> formats;
  return formats;
}

ModelFormatRegistration::ModelFormatRegistration(const ModelFormat &format) {
  getFormats().push_back(format);
}

const ModelFormat &glowish::getModelFormat(llvm::StringRef path) {
  const ModelFormat *fallback = nullptr;
  for (const ModelFormat &format : getFormats()) {
    if (!format.isPath)
      fallback = &format;
    else if (format.isPath(path))
      return format;
  }
  assert(fallback && "one format is that of all other files");
  return *fallback;
}

llvm::Expected<std::vector<std::string>>
glowish::listModelFiles(llvm::StringRef path, const ImportOptions &options) {
  const ModelFormat &format = getModelFormat(path);
  if (format.listFiles)
    return format.listFiles(path, options);
  return std::vector<std::string>{path.str()};
}

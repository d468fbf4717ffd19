//===- ModelFormat.cpp - File formats of models ---------------------------===//

#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include <deque>
#include <mutex>

using namespace glowish;

namespace {

/// A library that is loaded later may register formats while other threads
/// import. None goes or moves.
struct Registry {
  std::mutex mutex;
  std::deque<ModelFormat> formats;
};

} // namespace

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static Registry &getRegistry() {
  static Registry registry;
  return registry;
}

ModelFormatRegistration::ModelFormatRegistration(const ModelFormat &format) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  registry.formats.push_back(format);
}

/// A copy, as looking at a path takes time.
static std::vector<const ModelFormat *> listFormats() {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  std::vector<const ModelFormat *> formats;
  for (const ModelFormat &format : registry.formats)
    formats.push_back(&format);
  return formats;
}

const ModelFormat &glowish::getModelFormat(llvm::StringRef path) {
  const ModelFormat *fallback = nullptr;
  for (const ModelFormat *format : listFormats()) {
    if (!format->isPath)
      fallback = format;
    else if (format->isPath(path))
      return *format;
  }
  assert(fallback && "one format is that of all other files");
  return *fallback;
}

llvm::Error glowish::checkConstantTexts(llvm::StringRef path,
                                        const ImportOptions &options) {
  if (options.constantTexts.empty() || getModelFormat(path).hasTexts)
    return llvm::Error::success();
  const auto &[name, text] = *options.constantTexts.begin();
  return makeError("a constant input: {0} is the string {1}, and the format of "
                   "'{2}', {3}, has no strings; accepted: a number",
                   quote(name), quote(text), path, getModelFormat(path).name);
}

llvm::Expected<std::vector<std::string>>
glowish::listModelFiles(llvm::StringRef path, const ImportOptions &options) {
  const ModelFormat &format = getModelFormat(path);
  if (format.listFiles)
    return format.listFiles(path, options);
  return std::vector<std::string>{path.str()};
}

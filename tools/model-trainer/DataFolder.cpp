//===- DataFolder.cpp - Samples on disk -----------------------------------===//

#include "model-trainer/DataFolder.h"
#include "glowish/Support/Error.h"
#include "model-trainer/ImageFolder.h"
#include "model-trainer/NpyFolder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;

llvm::Expected<DataSet> glowish::readDataSet(llvm::StringRef folder,
                                             const DataRequest &request) {
  namespace fs = llvm::sys::fs;
  bool hasArrays = false, hasFolders = false;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    hasArrays |= llvm::sys::path::extension(entry->path()) == ".npy";
    hasFolders |= fs::is_directory(entry->path());
  }
  if (code)
    return makeError("cannot read the folder '{0}': {1}", folder,
                     code.message());
  if (hasArrays)
    return readNpyFolder(folder, request);
  if (hasFolders)
    return readImageFolder(folder, request);
  return makeError("'{0}' has neither arrays (.npy) nor a folder of images "
                   "for each class",
                   folder);
}

//===- FileList.cpp - The files in a folder -------------------------------===//

#include "common/FileList.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;

std::string glowish::joinPaths(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

llvm::Expected<std::vector<std::string>>
glowish::listFolder(llvm::StringRef folder,
                    llvm::function_ref<bool(llvm::StringRef path)> isWanted) {
  namespace fs = llvm::sys::fs;
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code))
    if (isWanted(entry->path()))
      names.push_back(llvm::sys::path::filename(entry->path()).str());
  if (code)
    return makeError("cannot read the folder '{0}': {1}", folder,
                     code.message());
  llvm::sort(names);
  return names;
}

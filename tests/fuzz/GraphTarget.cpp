//===- GraphTarget.cpp - Graphs that others run ---------------------------===//

#include "GraphTarget.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Regex.h"

using namespace glowish;
using namespace glowish::fuzz;

char Inexpressible::ID = 0;

std::set<std::string> Inexpressible::getReasons() const {
  // Names are not of interest, which are quoted, nor are shapes.
  static const llvm::Regex refusal("' \\(([A-Za-z0-9]+)\\)(: [^;<]+)");
  static const llvm::Regex other("([A-Z][A-Za-z0-9]*) '[^']*'(: [^;<]+)");
  std::set<std::string> reasons;
  llvm::SmallVector<llvm::StringRef> groups;
  for (llvm::StringRef rest = text;
       refusal.match(rest, &groups) || other.match(rest, &groups);
       rest = rest.drop_front(groups[0].end() - rest.begin()))
    reasons.insert((groups[1] + groups[2]).str());
  return reasons;
}

llvm::Error fuzz::writeElements(const std::string &path, const Tensor &tensor) {
  return writeFile(path, {static_cast<const char *>(tensor.getBytes()),
                          size_t(tensor.getSizeInBytes())});
}

llvm::Expected<Tensor> fuzz::readElements(const std::string &path,
                                          const Type &type) {
  GLOWISH_ASSIGN_OR_RETURN(auto file, readFile(path));
  Tensor tensor(type);
  if (int64_t(file->getBufferSize()) != tensor.getSizeInBytes())
    return makeError("{0} has {1} bytes; expected {2}", path,
                     file->getBufferSize(), tensor.getSizeInBytes());
  llvm::copy(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(file->getBufferStart()),
                     file->getBufferSize()),
      static_cast<uint8_t *>(tensor.getBytes()));
  return tensor;
}

//===- FunctionSizes.cpp - Sizes of functions in an object ----------------===//

#include "FunctionSizes.h"
#include "glowish/Support/Error.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/SymbolSize.h"

using namespace glowish;

llvm::Error glowish::readFunctionSizes(llvm::ArrayRef<char> object,
                                       CodeSizes &sizes) {
  llvm::MemoryBufferRef bytes(llvm::StringRef(object.data(), object.size()),
                              "object");
  GLOWISH_ASSIGN_OR_RETURN(auto file,
                           llvm::object::ObjectFile::createObjectFile(bytes));
  sizes.objectBytes = object.size();
  for (auto [symbol, size] : llvm::object::computeSymbolSizes(*file)) {
    GLOWISH_ASSIGN_OR_RETURN(llvm::object::SymbolRef::Type type,
                             symbol.getType());
    if (type != llvm::object::SymbolRef::ST_Function)
      continue;
    GLOWISH_ASSIGN_OR_RETURN(llvm::StringRef name, symbol.getName());
    // Mach-O's names of C symbols begin with an underscore.
    if (file->isMachO())
      name.consume_front("_");
    sizes.functions[name.str()] += size;
  }
  return llvm::Error::success();
}

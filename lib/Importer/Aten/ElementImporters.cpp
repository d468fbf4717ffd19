//===- ElementImporters.cpp - Importers of elements that nodes lack -------===//

#include "Aten/ElementImporters.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::aten;

void AtenElementImporters::add(
    AtenImporter importer, std::initializer_list<llvm::StringLiteral> names) {
  for (llvm::StringRef name : names) {
    bool isNew = importers.try_emplace(name, importer).second;
    assert(isNew && "an operator is registered once");
    (void)isNew;
  }
}

AtenImporter AtenElementImporters::find(const RegisteredAtenOp &op) const {
  auto own = importers.find(op.schema.name);
  if (own != importers.end())
    return own->second;
  return op.elements == elements ? op.importer : nullptr;
}

llvm::Expected<AtenValue::List>
AtenElementImporters::import(AtenImporter importer, const RegisteredAtenOp &op,
                             Function &function, llvm::StringRef name,
                             AtenValue::List arguments,
                             AtenContext &context) const {
  AtenOp call(function, name, op.schema, std::move(arguments), context);
  GLOWISH_RETURN_IF_ERROR(call.checkArguments(elements));
  GLOWISH_RETURN_IF_ERROR(importer(call));
  GLOWISH_RETURN_IF_ERROR(call.takeError());
  return call.takeResults();
}

llvm::StringSet<> aten::splitWords(llvm::StringRef text) {
  llvm::StringSet<> words;
  for (llvm::StringRef word : llvm::split(text, ' '))
    words.insert(word);
  return words;
}

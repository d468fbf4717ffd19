//===- ElementImporters.h - Importers of elements that nodes lack -*- C++
//-*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_ELEMENTIMPORTERS_H
#define GLOWISH_LIB_IMPORTER_ATEN_ELEMENTIMPORTERS_H

#include "Aten/AtenOp.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace glowish::aten {

/// The importers for complex or for quantized tensors.
class AtenElementImporters {
public:
  /// \p elements: RealOrComplex or RealOrQuantized.
  explicit AtenElementImporters(AtenElements elements) : elements(elements) {}

  /// Adds \p importer for all overloads of each of \p names ("relu"), which
  /// have another one for real tensors.
  void add(AtenImporter importer,
           std::initializer_list<llvm::StringLiteral> names);
  /// Returns the importer of \p op; null where it takes real tensors alone.
  AtenImporter find(const RegisteredAtenOp &op) const;
  /// Creates the nodes of \p op by \p importer.
  llvm::Expected<AtenValue::List>
  import(AtenImporter importer, const RegisteredAtenOp &op, Function &function,
         llvm::StringRef name, AtenValue::List arguments,
         AtenContext &context) const;

private:
  AtenElements elements;
  llvm::StringMap<AtenImporter> importers;
};

/// Returns the words of \p text, between which are spaces.
llvm::StringSet<> splitWords(llvm::StringRef text);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_ELEMENTIMPORTERS_H

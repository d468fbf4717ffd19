//===- FieldCheck.h - Fields of a file that nothing heeds -------*- C++ -*-===//
//
// A field that is set, and that the importer does not read, may change what is
// computed. The schema says which tables and fields there are (tflite.fbs).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_FIELDCHECK_H
#define GLOWISH_LIB_IMPORTER_TFLITE_FIELDCHECK_H

#include "TFLite/tflite_generated.h"
#include "glowish/Support/Error.h"

namespace glowish::tflite {

/// Tells whether the importer has read the field \p name of a table.
using FieldReads = llvm::function_ref<bool(llvm::StringRef name)>;

/// Returns an error that names a field of \p table and its value, if there is
/// one that has another value than its default and
/// - that the schema does not have, or marks as refused,
/// - or whose number is none of its enumeration,
/// - or that neither \p isRead nor the schema's mark `ignored` accounts for.
/// \p typeName: the name of the table's type with its namespace. \p bytes: the
/// file that has the table, and was verified.
llvm::Error checkFields(const void *table, const char *typeName,
                        FieldReads isRead, llvm::ArrayRef<uint8_t> bytes);

/// Does that for a table of which all fields are read that the schema does not
/// mark.
template <typename Table>
llvm::Error checkFields(const Table &table, llvm::ArrayRef<uint8_t> bytes) {
  return checkFields(
      &table, Table::Traits::fully_qualified_name,
      [](llvm::StringRef) { return true; }, bytes);
}

/// Does that for the options of \p op, whatever their type is.
llvm::Error checkOptions(const schema::Operator &op, FieldReads isRead,
                         llvm::ArrayRef<uint8_t> bytes);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_FIELDCHECK_H

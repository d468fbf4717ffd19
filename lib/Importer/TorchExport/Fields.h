//===- Fields.h - Fields of exported programs -------------------*- C++ -*-===//
//
// The types of the schema of torch.export (schema.py, version 8.20), by which a
// file is checked for fields that are set and that nothing reads.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_FIELDS_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_FIELDS_H

#include "llvm/Support/JSON.h"

namespace glowish::torchexport {

/// Returns an error for the first field anywhere in \p object, of the schema's
/// type \p type ("ExportedProgram"), that the schema does not have and that is
/// set: another value than null, false, 0, or an empty string, list or object.
/// Also for a field that must have one value and has another, and for a union
/// with several members.
llvm::Error checkFields(const llvm::json::Object &object, llvm::StringRef type);

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_FIELDS_H

//===- Arguments.h - Values that nodes of exported programs have -*- C++ -*-==//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_ARGUMENTS_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_ARGUMENTS_H

#include "Aten/Value.h"
#include "TorchExport/Json.h"
#include "llvm/ADT/StringMap.h"

namespace glowish::torchexport {

/// The values of a graph, by name.
class ExportedValues {
public:
  llvm::Expected<aten::AtenValue> get(llvm::StringRef name) const;
  void set(llvm::StringRef name, aten::AtenValue value) {
    values[name] = std::move(value);
  }
  bool has(llvm::StringRef name) const { return values.contains(name); }
  /// Notes a value that is not computed: \p what, for messages.
  void setMissing(llvm::StringRef name, std::string what) {
    missing[name] = std::move(what);
  }

  /// The value of an Argument of the schema, a union. Devices, layouts and
  /// memory formats are None.
  llvm::Expected<aten::AtenValue> read(const llvm::json::Value &argument) const;
  llvm::Expected<aten::AtenValue> read(const JsonMember &member) const;

private:
  llvm::StringMap<aten::AtenValue> values;
  llvm::StringMap<std::string> missing;
};

/// The names that an Argument has as a result: one of a tensor or number, those
/// of a list.
llvm::Expected<std::vector<std::string>>
readResultNames(const llvm::json::Value &argument);

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_ARGUMENTS_H

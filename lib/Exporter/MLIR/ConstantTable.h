//===- ConstantTable.h - Constants of a written module ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_CONSTANTTABLE_H
#define GLOWISH_LIB_EXPORTER_MLIR_CONSTANTTABLE_H

#include "glowish/Graph/Module.h"
#include <map>

namespace glowish {

/// An SSA value that is a tensor; null for an absent operand.
struct MlirValue {
  std::string name;
  Type type;

  explicit operator bool() const { return !name.empty(); }
  ElemKind getKind() const { return type.getKind(); }
  DimsRef getShape() const { return type.getShape(); }
  unsigned getRank() const { return type.getRank(); }
};

/// The constants of a module: values that are defined at the beginning of the
/// function, small ones with their elements, larger ones as resources whose
/// bytes follow behind the module.
class ConstantTable {
public:
  /// The operation that defines them: arith.constant or tosa.const.
  enum class Style { Arith, Tosa };
  explicit ConstantTable(Style style) : style(style) {}

  MlirValue get(const Constant &constant);
  /// Equal ones are one value.
  MlirValue getSmall(Tensor tensor);
  /// A tensor of equal elements.
  MlirValue getSplat(const Type &type, double value);
  /// The scalar \p literal (formatLiteral()) of \p type, "index" or an element
  /// type; of arith.
  std::string getScalar(llvm::StringRef type, llvm::StringRef literal);

  /// Writes the definitions, each on a line with \p indent before it.
  void writeDefinitions(llvm::raw_ostream &os, llvm::StringRef indent) const;
  /// Writes the bytes of resources, a constant at a time; nothing if there are
  /// none.
  void writeResources(llvm::raw_ostream &os) const;

private:
  MlirValue add(std::shared_ptr<const Tensor> tensor);
  std::string define(const Type &type, const std::string &elements);
  const std::string &define(const std::string &definition);

  Style style;
  std::vector<std::string> definitions;
  std::vector<std::shared_ptr<const Tensor>> resources;
  std::map<const Tensor *, MlirValue> payloads;
  /// By type and bytes.
  std::map<std::string, MlirValue> small;
  /// By definition.
  std::map<std::string, std::string> known;
};

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_CONSTANTTABLE_H

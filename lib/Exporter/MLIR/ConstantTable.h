//===- ConstantTable.h - Constants of a written module ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_CONSTANTTABLE_H
#define GLOWISH_LIB_EXPORTER_MLIR_CONSTANTTABLE_H

#include "MLIR/Text.h"
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
/// bytes follow behind the module, or, for StableHLO, with their bytes.
class ConstantTable {
public:
  /// \p dialect has the operation that defines them.
  explicit ConstantTable(MlirDialect dialect) : dialect(dialect) {}

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
  /// A line of text, with the bytes of a tensor in it if there is one.
  struct Definition {
    std::string text;
    std::shared_ptr<const Tensor> bytes = nullptr;
    std::string rest = {};
  };

  MlirValue add(std::shared_ptr<const Tensor> tensor);
  /// The operation that defines \p elements, which are between dense brackets.
  std::string formatDefinition(const Type &type,
                               const std::string &elements) const;
  MlirValue defineBytes(std::shared_ptr<const Tensor> tensor);
  const std::string &define(const std::string &definition);

  MlirDialect dialect;
  std::vector<Definition> definitions;
  std::vector<std::shared_ptr<const Tensor>> resources;
  std::map<const Tensor *, MlirValue> payloads;
  /// By type and bytes.
  std::map<std::string, MlirValue> small;
  /// By definition.
  std::map<std::string, std::string> known;
};

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_CONSTANTTABLE_H

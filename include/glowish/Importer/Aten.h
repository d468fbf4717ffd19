//===- Aten.h - Operators of PyTorch's programs -----------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ATEN_H
#define GLOWISH_IMPORTER_ATEN_H

#include <string>
#include <vector>

namespace glowish {

struct AtenOperatorInfo {
  /// "add.Tensor".
  std::string name;
  /// Its schema: "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) ->
  /// Tensor".
  std::string schema;
};
/// ATen's operators that can be imported, sorted by name.
std::vector<AtenOperatorInfo> listAtenOperators();

} // namespace glowish

#endif // GLOWISH_IMPORTER_ATEN_H

//===- Aten.h - Operators of PyTorch's programs -----------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_ATEN_H
#define GLOWISH_IMPORTER_ATEN_H

#include <string>
#include <vector>

namespace glowish {

/// The full names ("add.Tensor") of ATen's operators that can be imported,
/// sorted.
std::vector<std::string> listAtenOperators();

} // namespace glowish

#endif // GLOWISH_IMPORTER_ATEN_H

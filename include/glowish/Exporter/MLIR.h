//===- MLIR.h - Export of graphs as MLIR text -------------------*- C++ -*-===//

#ifndef GLOWISH_EXPORTER_MLIR_H
#define GLOWISH_EXPORTER_MLIR_H

#include "glowish/Graph/Module.h"
#include <optional>

namespace glowish {

/// What the tensors of a written function are computed with.
enum class MlirDialect : uint8_t {
  /// linalg on tensors, with arith, math, tensor and scf.
  Linalg,
  Tosa,
  StableHlo
};

inline constexpr MlirDialect allMlirDialects[] = {
    MlirDialect::Linalg, MlirDialect::Tosa, MlirDialect::StableHlo};

/// "linalg", "tosa", "stablehlo".
llvm::StringRef getMlirDialectName(MlirDialect dialect);
std::optional<MlirDialect> parseMlirDialect(llvm::StringRef name);
/// The names of all, each after \p prefix: "linalg, tosa, stablehlo".
std::string listMlirDialects(llvm::StringRef prefix = "");

/// Whether \p node is written in \p dialect as it is; lowering replaces the
/// others. Of a node whose kind is written, writeMlir() may still refuse an
/// element kind.
bool hasMlirForm(MlirDialect dialect, const Node &node);
/// Whether nodes of \p kind are written in \p dialect, but for those of some
/// attributes.
bool hasMlirForm(MlirDialect dialect, NodeKind kind);

/// The placeholders that are the arguments and the results of a written
/// function, in their order; those that are read and written are both.
struct MlirSignature {
  std::vector<Placeholder *> arguments, results;
};
MlirSignature getMlirSignature(const Module &module);

/// Writes the first function of \p module as a module with `func.func @main`,
/// as LLVM 19 reads it, or StableHLO's tools. Its arguments and results have
/// the attributes glowish.name, the name in the model, and glowish.kind, the
/// element kind. The error lists all nodes that the dialect cannot express.
llvm::Error writeMlir(const Module &module, MlirDialect dialect,
                      llvm::raw_ostream &os);
/// Writes the file \p path; "-" is stdout.
llvm::Error writeMlirFile(const Module &module, MlirDialect dialect,
                          llvm::StringRef path);

/// Prints docs/mlir-nodes.md: which kinds of nodes are written in which
/// dialect.
void printMlirNodes(llvm::raw_ostream &os);

} // namespace glowish

#endif // GLOWISH_EXPORTER_MLIR_H

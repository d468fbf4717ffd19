//===- Registry.cpp - Registry of the forms of nodes ----------------------===//

#include "MLIR/Writer.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

llvm::StringRef glowish::getMlirDialectName(MlirDialect dialect) {
  switch (dialect) {
  case MlirDialect::Linalg:
    return "linalg";
  case MlirDialect::Tosa:
    return "tosa";
  case MlirDialect::StableHlo:
    return "stablehlo";
  }
  llvm_unreachable("not a dialect");
}

std::optional<MlirDialect> glowish::parseMlirDialect(llvm::StringRef name) {
  for (MlirDialect dialect : allMlirDialects)
    if (getMlirDialectName(dialect) == name)
      return dialect;
  return std::nullopt;
}

std::string glowish::listMlirDialects(llvm::StringRef prefix) {
  return llvm::join(
      llvm::map_range(allMlirDialects,
                      [&](MlirDialect dialect) {
                        return (prefix + getMlirDialectName(dialect)).str();
                      }),
      ", ");
}

namespace {
struct Form {
  MlirForm::Function write;
  MlirForm::Predicate accepts = nullptr;
};
using Forms = std::map<std::pair<MlirDialect, NodeKind>, Form>;
} // namespace

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static Forms &getForms() {
  static Forms forms;
  return forms;
}

MlirForm::MlirForm(NodeKind kind, llvm::ArrayRef<MlirDialect> dialects,
                   Function write, Predicate accepts) {
  for (MlirDialect dialect : dialects) {
    bool isNew =
        getForms().try_emplace({dialect, kind}, Form{write, accepts}).second;
    assert(isNew && "a node kind is registered once");
    (void)isNew;
  }
}

static const Form *findForm(MlirDialect dialect, NodeKind kind) {
  auto found = getForms().find({dialect, kind});
  return found == getForms().end() ? nullptr : &found->second;
}

const MlirForm::Function *glowish::findMlirForm(MlirDialect dialect,
                                                NodeKind kind) {
  const Form *form = findForm(dialect, kind);
  return form ? &form->write : nullptr;
}

bool glowish::hasMlirForm(MlirDialect dialect, NodeKind kind) {
  return kind == NodeKind::Save || findForm(dialect, kind);
}

bool glowish::hasMlirForm(MlirDialect dialect, const Node &node) {
  const Form *form = findForm(dialect, node.getKind());
  if (!form)
    return hasMlirForm(dialect, node.getKind());
  return !form->accepts || form->accepts(node);
}

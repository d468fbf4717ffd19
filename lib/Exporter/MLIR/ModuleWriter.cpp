//===- ModuleWriter.cpp - Write a function as an MLIR module --------------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "MLIR/StableHlo/StableHloWriter.h"
#include "MLIR/Tosa/TosaWriter.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

namespace {

/// The placeholders of a function as arguments and results.
class ModuleWriter {
public:
  ModuleWriter(const Module &module, MlirDialect dialect)
      : function(*module.getFunctions().front()), constants(dialect),
        style(getTextStyle(dialect)),
        writer(createMlirWriter(dialect, constants)),
        signature(getMlirSignature(module)) {}

  /// Writes the nodes; the error lists those that cannot be expressed.
  llvm::Error write();
  /// After write(): streams the module.
  void print(llvm::raw_ostream &os) const;

private:
  std::string describe(const Placeholder &placeholder) const;

  const Function &function;
  ConstantTable constants;
  TextStyle style;
  std::unique_ptr<MlirWriter> writer;
  MlirSignature signature;
  MlirValues resultValues;
};

} // namespace

std::unique_ptr<MlirWriter>
glowish::createMlirWriter(MlirDialect dialect, ConstantTable &constants) {
  switch (dialect) {
  case MlirDialect::Linalg:
    return std::make_unique<LinalgWriter>(constants);
  case MlirDialect::Tosa:
    return std::make_unique<TosaWriter>(constants);
  case MlirDialect::StableHlo:
    return std::make_unique<StableHloWriter>(constants);
  }
  llvm_unreachable("not a dialect");
}

MlirSignature glowish::getMlirSignature(const Module &module) {
  llvm::DenseSet<const Node *> read, written;
  for (const Node &node : module.getFunctions().front()->getNodes())
    for (auto [i, operand] : llvm::enumerate(node.getOperands()))
      if (operand.getNodeAs<Placeholder>())
        (node.getKind() == NodeKind::Save && i == SaveNode::outputIdx ? written
                                                                      : read)
            .insert(operand.node);
  bool isOnly = module.getFunctions().size() == 1;
  MlirSignature signature;
  for (const auto &placeholder : module.getPlaceholders()) {
    if (read.contains(placeholder.get()) || (isOnly && placeholder->isInput()))
      signature.arguments.push_back(placeholder.get());
    if (written.contains(placeholder.get()))
      signature.results.push_back(placeholder.get());
  }
  return signature;
}

llvm::Error ModuleWriter::write() {
  for (auto [i, placeholder] : llvm::enumerate(signature.arguments)) {
    writer->set(NodeValue(placeholder),
                {"%arg" + std::to_string(i), placeholder->getType()});
  }
  writer->writeNodes(function);
  for (const Placeholder *placeholder : signature.results)
    resultValues.push_back(writer->getSaved(placeholder));
  if (writer->getRefusals().empty())
    return llvm::Error::success();
  return makeError("nodes that {0} cannot express: {1}",
                   getMlirDialectName(writer->getDialect()),
                   llvm::join(writer->getRefusals(), "; "));
}

/// The attributes of an argument or result.
std::string ModuleWriter::describe(const Placeholder &placeholder) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto write = [&](llvm::StringRef key, llvm::StringRef value) {
    os << key << " = \"";
    llvm::printEscapedString(value, os);
    os << '"';
  };
  os << " {";
  write("glowish.name", placeholder.getModelName());
  os << ", ";
  write("glowish.kind", getElemKindName(placeholder.getType().getKind()));
  if (placeholder.getExtents()) {
    os << ", ";
    write("glowish.extents", placeholder.getExtents()->getModelName());
  }
  os << "}";
  return text;
}

void ModuleWriter::print(llvm::raw_ostream &os) const {
  os << "module {\n  func.func @main(";
  for (auto [i, placeholder] : llvm::enumerate(signature.arguments))
    os << (i ? ", " : "") << "%arg" << i << ": "
       << getTensorType(placeholder->getType(), style)
       << describe(*placeholder);
  os << ") -> (";
  for (auto [i, placeholder] : llvm::enumerate(signature.results))
    os << (i ? ", " : "") << getTensorType(placeholder->getType(), style)
       << describe(*placeholder);
  os << ") {\n";
  constants.writeDefinitions(os, "    ");
  os << writer->getText() << "    return";
  if (!resultValues.empty())
    os << ' ' << formatOperands(resultValues, style);
  os << "\n  }\n";
  for (const std::string &declaration : writer->getDeclarations())
    os << "  " << declaration << "\n";
  os << "}\n\n";
  constants.writeResources(os);
}

llvm::Error glowish::writeMlir(const Module &module, MlirDialect dialect,
                               llvm::raw_ostream &os) {
  ModuleWriter writer(module, dialect);
  GLOWISH_RETURN_IF_ERROR(writer.write());
  writer.print(os);
  return llvm::Error::success();
}

llvm::Error glowish::writeMlirFile(const Module &module, MlirDialect dialect,
                                   llvm::StringRef path) {
  ModuleWriter writer(module, dialect);
  if (llvm::Error error = writer.write())
    return addContext(std::move(error), "cannot write '" + path + "': ");
  if (path == "-") {
    writer.print(llvm::outs());
    return llvm::Error::success();
  }
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> file = files.add(path);
  if (!file)
    return file.takeError();
  writer.print(*file);
  return files.commit();
}

//===- ConstantTable.cpp - Constants of a written module ------------------===//

#include "MLIR/ConstantTable.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

/// Larger constants are resources.
static constexpr int64_t mostInlineBytes = 256;

MlirValue ConstantTable::get(const Constant &constant) {
  MlirValue &known = payloads[constant.getPayload().get()];
  if (!known)
    known = add(constant.getPayload());
  return known;
}

MlirValue ConstantTable::getSmall(Tensor tensor) {
  std::string key = getTensorType(tensor.getType());
  llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
  key.append(bytes.begin(), bytes.end());
  // Kinds of one type differ.
  key += getElemKindName(tensor.getType().getKind());
  MlirValue &known = small[key];
  if (!known)
    known = add(std::make_shared<Tensor>(std::move(tensor)));
  return known;
}

MlirValue ConstantTable::getSplat(const Type &type, double value) {
  std::string elements =
      type.getNumElements()
          ? formatLiteral(type.getKind(), value, getTextStyle(dialect))
          : "";
  return {define(formatDefinition(type, "dense<" + elements + ">")), type};
}

MlirValue ConstantTable::add(std::shared_ptr<const Tensor> tensor) {
  const Type &type = tensor->getType();
  // Bools are packed there.
  bool isInline = tensor->getSizeInBytes() <= mostInlineBytes ||
                  type.getKind() == ElemKind::Bool || isSplat(*tensor);
  if (isInline) {
    std::string elements = formatElements(*tensor, getTextStyle(dialect));
    return {define(formatDefinition(type, "dense<" + elements + ">")), type};
  }
  if (dialect == MlirDialect::StableHlo)
    return defineBytes(std::move(tensor));
  std::string name = "w" + std::to_string(resources.size());
  resources.push_back(std::move(tensor));
  return {define(formatDefinition(type, "dense_resource<" + name + ">")), type};
}

std::string ConstantTable::formatDefinition(const Type &type,
                                            const std::string &elements) const {
  std::string typeText = getTensorType(type, getTextStyle(dialect));
  switch (dialect) {
  case MlirDialect::Linalg:
    return "arith.constant " + elements + " : " + typeText;
  case MlirDialect::Tosa:
    return "\"tosa.const\"() <{value = " + elements + " : " + typeText +
           "}> : () -> " + typeText;
  case MlirDialect::StableHlo:
    return "stablehlo.constant " + elements + " : " + typeText;
  }
  llvm_unreachable("not a dialect");
}

/// StableHLO's interpreter, and its portable artifacts, have no resources.
MlirValue ConstantTable::defineBytes(std::shared_ptr<const Tensor> tensor) {
  std::string name = "%cst" + std::to_string(definitions.size());
  const Type &type = tensor->getType();
  definitions.push_back({name + " = stablehlo.constant dense<\"0x", tensor,
                         "\"> : " + getTensorType(type, TextStyle::StableHlo)});
  return {name, type};
}

std::string ConstantTable::getScalar(llvm::StringRef type,
                                     llvm::StringRef literal) {
  std::string definition = ("arith.constant " + literal).str();
  if (type != "i1")
    definition += (" : " + type).str();
  return define(definition);
}

const std::string &ConstantTable::define(const std::string &definition) {
  std::string &name = known[definition];
  if (name.empty()) {
    name = "%cst" + std::to_string(definitions.size());
    definitions.push_back({name + " = " + definition});
  }
  return name;
}

void ConstantTable::writeDefinitions(llvm::raw_ostream &os,
                                     llvm::StringRef indent) const {
  for (const Definition &definition : definitions) {
    os << indent << definition.text;
    if (definition.bytes)
      writeHex(os, definition.bytes->getByteRange());
    os << definition.rest << '\n';
  }
}

void ConstantTable::writeResources(llvm::raw_ostream &os) const {
  if (resources.empty())
    return;
  os << "{-#\n  dialect_resources: {\n    builtin: {\n";
  for (auto [i, tensor] : llvm::enumerate(resources)) {
    // A blob begins with its alignment.
    uint8_t alignment[4];
    llvm::support::endian::write32le(alignment,
                                     getElemSize(tensor->getType().getKind()));
    os << "      w" << i << ": \"0x";
    writeHex(os, alignment);
    writeHex(os, tensor->getByteRange());
    os << (i + 1 < resources.size() ? "\",\n" : "\"\n");
  }
  os << "    }\n  }\n#-}\n";
}

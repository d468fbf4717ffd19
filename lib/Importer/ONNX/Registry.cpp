//===- Registry.cpp - Registry of operator importers ----------------------===//

#include "Common/External.h"
#include "ONNX/ExternalOp.h"
#include "ONNX/OpContext.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

/// Domain and name.
using OperatorName = std::pair<std::string, std::string>;

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static std::map<OperatorName, RegisteredOperator> &getRegistry() {
  static std::map<OperatorName, RegisteredOperator> registry;
  return registry;
}

OnnxOperator::OnnxOperator(llvm::StringRef name, int since, OpImporter importer,
                           llvm::StringRef domain) {
  bool isNew = getRegistry()
                   .try_emplace({domain.str(), name.str()},
                                RegisteredOperator{since, importer})
                   .second;
  assert(isNew && "an operator is registered once");
  (void)isNew;
}

const RegisteredOperator *
onnximport::findOnnxOperator(llvm::StringRef domain, llvm::StringRef name,
                             const ImportOptions &options) {
  static const RegisteredOperator external{/*since=*/1, importExternalOp};
  std::string normalized = normalizeDomain(domain);
  if (findExternalOperator(options, normalized, name))
    return &external;
  auto found = getRegistry().find({normalized, name.str()});
  return found == getRegistry().end() ? nullptr : &found->second;
}

/// Joins domain and name as listOnnxOperators() does.
static std::string getFullName(llvm::StringRef domain, llvm::StringRef name) {
  return domain.empty() ? name.str() : (domain + "." + name).str();
}

std::vector<std::pair<std::string, std::vector<int>>>
glowish::listOnnxOperators() {
  std::vector<std::pair<std::string, std::vector<int>>> list;
  for (const auto &[name, registered] : getRegistry())
    list.push_back({getFullName(name.first, name.second), {registered.since}});
  return list;
}

static std::map<std::string, OperatorNotes> &getNotes() {
  static std::map<std::string, OperatorNotes> notes;
  return notes;
}

OnnxOperatorNotes::OnnxOperatorNotes(llvm::StringRef name, OperatorNotes notes,
                                     llvm::StringRef domain) {
  bool isNew = getNotes().try_emplace(getFullName(domain, name), notes).second;
  assert(isNew && "notes are made once");
  (void)isNew;
}

OperatorNotes glowish::getOnnxOperatorNotes(llvm::StringRef fullName) {
  auto found = getNotes().find(fullName.str());
  return found == getNotes().end() ? OperatorNotes() : found->second;
}

//===- Coverage.cpp - Features of random graphs ---------------------------===//

#include "Coverage.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using namespace glowish::fuzz;

static constexpr llvm::StringLiteral largeSuffix = "/large";

static void addTypeFeatures(const Type &type, std::set<std::string> &features) {
  features.insert("kind:" + getElemKindName(type.getKind()).str());
  features.insert("rank:" + std::to_string(type.getRank()));
  if (type.getNumElements() == 0)
    features.insert("zero-elements");
}

/// \p depth: how many bodies \p spec is in.
static void addFeatures(const GraphSpec &spec, unsigned depth,
                        std::set<std::string> &features) {
  constexpr int64_t several = 8;
  std::vector<unsigned> numUses(spec.entries.size());
  for (const Entry &entry : spec.entries) {
    for (ValueRef operand : entry.operands)
      if (operand && ++numUses[operand.entry] == 2)
        features.insert("used-twice");
    for (const Type &type : entry.types)
      addTypeFeatures(type, features);
    if (entry.kind == NodeKind::Constant)
      features.insert("constant");
    if (entry.isStorage())
      continue;
    std::string name = getNodeInfo(entry.kind).name.str();
    features.insert(name);
    if (llvm::any_of(entry.types, [](const Type &type) {
          return type.getNumElements() >= several;
        }))
      features.insert(name + largeSuffix.str());
    if (!entry.bodies.empty())
      features.insert("bodies:" + std::to_string(depth + 1));
    for (const GraphSpec &body : entry.bodies)
      addFeatures(body, depth + 1, features);
  }
}

std::set<std::string> fuzz::describeFeatures(const GraphSpec &spec) {
  std::set<std::string> features;
  addFeatures(spec, 0, features);
  if (spec.outputs.size() > 1)
    features.insert("several-outputs");
  for (const Output &output : spec.outputs)
    if (spec.hasState(output))
      features.insert("state");
  return features;
}

void fuzz::printCoverage(llvm::raw_ostream &os,
                         const std::map<std::string, uint64_t> &graphsWith,
                         llvm::ArrayRef<std::string> kinds) {
  std::map<std::string, uint64_t> others = graphsWith;
  std::vector<std::string> missing;
  for (const std::string &name : kinds) {
    uint64_t count = others[name];
    if (count == 0) {
      missing.push_back(name);
    } else {
      os << llvm::formatv("{0,-28} {1,8}", name, count);
      if (uint64_t large = others[name + largeSuffix.str()])
        os << llvm::formatv(" {0,8} with several elements", large);
      os << "\n";
    }
    others.erase(name);
    others.erase(name + largeSuffix.str());
  }
  for (const auto &[feature, count] : others)
    os << llvm::formatv("{0,-28} {1,8}\n", feature, count);
  for (const std::string &name : missing)
    os << "never generated: " << name << "\n";
}

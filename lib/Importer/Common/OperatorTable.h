//===- OperatorTable.h - Importers of operators by name ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_OPERATORTABLE_H
#define GLOWISH_LIB_IMPORTER_COMMON_OPERATORTABLE_H

#include "glowish/Support/Error.h"
#include <map>

namespace glowish {

/// The most inputs of operators with any number of inputs.
constexpr unsigned manyInputs = ~0u;

/// The least and the most inputs that an operator may have.
struct InputCount {
  unsigned least, most;

  constexpr InputCount(unsigned count) : least(count), most(count) {}
  constexpr InputCount(unsigned least, unsigned most)
      : least(least), most(most) {}

  /// Returns an error unless an operator may have \p count inputs.
  llvm::Error check(size_t count) const {
    if (count >= least && count <= most)
      return llvm::Error::success();
    std::string accepted = std::to_string(least);
    if (most == manyInputs)
      accepted += " or more";
    else if (most != least)
      accepted += " to " + std::to_string(most);
    return makeError("it has {0} inputs; accepted: {1}", count, accepted);
  }
};

/// Registers importers of operators, as a static object: `static const
/// OperatorTable<NetOp, NetOpTraits> operators = {{"FC", importFC, {.inputs =
/// 3}}};`. An importer creates the nodes of an Op and sets its outputs; Traits
/// has what is checked before, and in one line, `limit`, what is not supported.
template <typename Op, typename Traits> class OperatorTable {
public:
  struct Entry {
    llvm::StringLiteral name;
    llvm::Error (*importer)(Op &op);
    Traits traits = {};
  };

  OperatorTable(std::initializer_list<Entry> entries) {
    for (const Entry &entry : entries) {
      bool isNew = getAll().try_emplace(entry.name, entry).second;
      assert(isNew && "an operator is registered once");
      (void)isNew;
    }
  }

  /// Returns the entry of operator \p name, or null.
  static const Entry *find(llvm::StringRef name) {
    auto found = getAll().find(name);
    return found == getAll().end() ? nullptr : &found->second;
  }
  /// Returns names and limits, sorted by name.
  template <typename Info> static std::vector<Info> list() {
    std::vector<Info> all;
    for (const auto &[name, entry] : getAll())
      all.push_back({name.str(), entry.traits.limit.str()});
    return all;
  }

private:
  /// Created on first use, as the order of static initialization across files
  /// is unspecified.
  static std::map<llvm::StringRef, Entry> &getAll() {
    static std::map<llvm::StringRef, Entry> all;
    return all;
  }
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_OPERATORTABLE_H

//===- Names.cpp - The names that a bundle declares -----------------------===//

#include "Names.h"
#include "TrainingHeader.h"
#include "VariantHeader.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

std::string NameTable::addIdentifier(llvm::StringRef name, NamesFn getNames) {
  std::string base = legalizeName(name), identifier = base;
  for (unsigned i = 1;; ++i) {
    Names own = getNames(identifier);
    if (llvm::none_of(own, [&](const std::string &each) {
          return names.contains(each) || !explainReservedName(each).empty();
        })) {
      for (const std::string &each : own)
        names.insert(each);
      return identifier;
    }
    identifier = base + "__" + std::to_string(i);
  }
}

BundleDim glowish::makeBundleDim(llvm::StringRef symbol,
                                 std::vector<int64_t> values,
                                 NameTable &names) {
  BundleDim dim{symbol.str(), "", std::move(values)};
  dim.identifier = names.addIdentifier(symbol, [](llvm::StringRef identifier) {
    return getDimMacros("", identifier);
  });
  return dim;
}

//===- Names that depend on no placeholder --------------------------------===//

/// The macros that \p text defines.
static void addMacros(llvm::StringRef text, NameTable &names) {
  constexpr llvm::StringLiteral directive = "#define ";
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line.consume_front(directive))
      names.add(
          line.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }));
  }
}

/// Adds the names that every header declares.
static void addCommonNames(NameTable &names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printCommonDefinitions(os);
  printDynamicTypes(os);
  printDimensionStatus(os);
  printVariantTypes(os);
  printTrainingCommon(os);
  printTripCountStatus(os);
  printFunctionStatus(os);
  os << getCallHeader();
  addMacros(text, names);
  for (const char *name :
       {"glowish_checksum", "glowish_checksum_step", "glowish_store64",
        "glowish_load64", "glowish_parallel_for", "glowish_parallel_for_on",
        "glowish_set_num_threads", "SymbolTableEntry", "GlowishSymbol",
        "BundleConfig", "BundleVariant", "BundleVariants", "GlowishVariable",
        "glowish_tensor", "glowish_attribute", "glowish_call",
        "glowish_function"})
    names.add(name);
}

namespace {

/// Adds the names of one header.
class NameChooser {
public:
  explicit NameChooser(BundleFacts &facts)
      : facts(facts), network(facts.options.networkName),
        prefix(llvm::StringRef(network).upper()) {
    addCommonNames(names);
  }

  /// Adds what headers have beside programs, of both APIs: identifiers are the
  /// same in both. \p functions and \p macros: after the network's name.
  llvm::Error addOwn(llvm::ArrayRef<llvm::StringRef> functions,
                     llvm::ArrayRef<llvm::StringRef> macros);
  /// Adds the entry, which has a name of its own.
  llvm::Error addEntry(llvm::StringRef name);
  /// Adds what functions with entries of their own have.
  llvm::Error addFunctionEntries();
  /// Adds the functions that the programs call.
  llvm::Error addFunctions();
  /// Adds the arguments of the entry, and what headers have for each region of
  /// the activations.
  llvm::Error addArenaRegions();
  /// Adds what programs have beside symbols.
  llvm::Error addPrograms(llvm::ArrayRef<llvm::StringRef> macros);
  /// Sets the identifiers of the symbols of \p programs: those with the same
  /// number have the same.
  void nameSymbols(llvm::MutableArrayRef<BundleProgram> programs);

private:
  llvm::Error add(llvm::StringRef name) {
    std::string reason = explainReservedName(name);
    if (!reason.empty())
      return makeError("«network-name='{0}'»: the header would declare '{1}', "
                       "which {2}; state another one",
                       network, name, reason);
    if (names.add(name))
      return llvm::Error::success();
    return makeError("«network-name='{0}'»: the header would declare '{1}' "
                     "twice; state another one",
                     network, name);
  }

  BundleFacts &facts;
  const std::string &network;
  std::string prefix;
  NameTable names;
};

} // namespace

llvm::Error NameChooser::addOwn(llvm::ArrayRef<llvm::StringRef> functions,
                                llvm::ArrayRef<llvm::StringRef> macros) {
  auto addAll = [&](const std::string &start,
                    llvm::ArrayRef<llvm::StringRef> ends) -> llvm::Error {
    for (llvm::StringRef end : ends)
      GLOWISH_RETURN_IF_ERROR(add(start + "_" + end.str()));
    return llvm::Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(
      addAll(prefix, {"ABI_VERSION", "MODEL_HASH", "WEIGHTS_CHECKSUM",
                      "CONSTANT_MEM_SIZE", "MUTABLE_MEM_SIZE",
                      "ACTIVATIONS_MEM_SIZE", "MEM_ALIGN"}));
  GLOWISH_RETURN_IF_ERROR(addAll(prefix, macros));
  GLOWISH_RETURN_IF_ERROR(addAll(network, {"weights", "check_weights"}));
  return addAll(network, functions);
}

llvm::Error NameChooser::addEntry(llvm::StringRef name) {
  if (names.add(name) && names.add((name + "_select").str()))
    return llvm::Error::success();
  return makeError("«{0}='{1}'»: the bundle has a symbol with that name "
                   "already; state another one",
                   name == network ? "network-name" : "main-entry-name", name);
}

llvm::Error NameChooser::addFunctionEntries() {
  for (const BundleProgram &program : facts.programs) {
    std::string macros = getMacroPrefix(facts, program);
    std::string entry = facts.getEntry(program);
    for (const std::string &name :
         {entry, entry + "_select", getConfigName(facts, program),
          macros + "_NUM_SYMBOLS", macros + "_ACTIVATIONS_MEM_SIZE"}) {
      std::string reason = explainReservedName(name);
      if (reason.empty() && !names.add(name))
        reason = "is there already";
      if (!reason.empty())
        return makeError("with the function '{0}' the header would declare "
                         "'{1}', which {2}; state another name",
                         program.function, name, reason);
    }
  }
  return llvm::Error::success();
}

llvm::Error NameChooser::addFunctions() {
  for (const BundleFunction &function : facts.functions) {
    std::string reason = explainReservedName(function.name);
    if (!isCIdentifier(function.name))
      reason = "is no name of a function in C";
    else if (reason.empty() && !names.add(function.name))
      reason = "is a name that the bundle declares already";
    if (!reason.empty())
      return makeError("the function '{0}' of the operator '{1}' {2}; state "
                       "another one",
                       function.name, function.operatorName, reason);
  }
  return llvm::Error::success();
}

llvm::Error NameChooser::addArenaRegions() {
  if (facts.getArenaRegions().empty())
    return llvm::Error::success();
  for (const char *argument : {"constantWeight", "mutableWeight"})
    names.add(argument);
  for (const ArenaRegion &region : facts.getArenaRegions()) {
    std::string part = getMacroPart(region);
    for (const std::string &name :
         {region.name, prefix + part + "_MEM_SIZE", prefix + "_REGION" + part})
      if (!names.add(name))
        return makeError(
            "«memory-regions»: with a region '{0}' the header would "
            "declare '{1}' twice; state another name",
            region.name, name);
  }
  return llvm::Error::success();
}

llvm::Error NameChooser::addPrograms(llvm::ArrayRef<llvm::StringRef> macros) {
  for (const BundleProgram &program : facts.programs)
    for (llvm::StringRef macro : macros)
      GLOWISH_RETURN_IF_ERROR(
          add(getMacroPrefix(facts, program) + "_" + macro.str()));
  return llvm::Error::success();
}

void NameChooser::nameSymbols(llvm::MutableArrayRef<BundleProgram> programs) {
  for (size_t i = 0; i < programs.front().symbols.size(); ++i) {
    auto getNames = [&](llvm::StringRef identifier) {
      NameTable::Names all;
      for (const BundleProgram &program : programs) {
        std::string ownPrefix = getMacroPrefix(facts, program);
        for (const SymbolMacro &macro :
             getSymbolMacros(ownPrefix, program.symbols[i], program))
          all.push_back((ownPrefix + "_" + identifier + macro.suffix).str());
      }
      if (!facts.dims.empty())
        for (llvm::StringRef function : symbolFunctions)
          all.push_back(
              (llvm::Twine(network) + "_" + function + "_" + identifier).str());
      return all;
    };
    std::string identifier =
        names.addIdentifier(programs.front().symbols[i].modelName, getNames);
    for (BundleProgram &program : programs)
      program.symbols[i].identifier = identifier;
  }
}

llvm::Error glowish::chooseIdentifiers(BundleFacts &facts) {
  NameChooser names(facts);
  if (facts.dims.empty()) {
    GLOWISH_RETURN_IF_ERROR(names.addOwn({"config"}, {"NUM_SYMBOLS"}));
  } else {
    std::vector<std::string> dimMacros;
    for (const BundleDim &dim : facts.dims)
      llvm::append_range(dimMacros, getDimMacros("DIMENSION_", dim.identifier));
    std::vector<llvm::StringRef> macros(dimMacros.begin(), dimMacros.end());
    macros.insert(macros.end(),
                  {"NUM_DIMENSIONS", "NUM_VARIANTS", "NUM_SYMBOLS"});
    GLOWISH_RETURN_IF_ERROR(names.addOwn(
        {"variants", "variant", "mutable_mem_size", "activations_mem_size"},
        macros));
    GLOWISH_RETURN_IF_ERROR(
        names.addPrograms({"MUTABLE_MEM_SIZE", "ACTIVATIONS_MEM_SIZE"}));
  }
  GLOWISH_RETURN_IF_ERROR(names.addEntry(facts.options.entryName));
  GLOWISH_RETURN_IF_ERROR(names.addFunctions());
  GLOWISH_RETURN_IF_ERROR(names.addArenaRegions());
  names.nameSymbols(facts.programs);
  return llvm::Error::success();
}

llvm::Error glowish::chooseFunctionIdentifiers(BundleFacts &facts) {
  NameChooser names(facts);
  GLOWISH_RETURN_IF_ERROR(names.addOwn({}, {}));
  GLOWISH_RETURN_IF_ERROR(names.addFunctionEntries());
  GLOWISH_RETURN_IF_ERROR(names.addFunctions());
  for (BundleProgram &program : facts.programs)
    names.nameSymbols(program);
  return llvm::Error::success();
}

llvm::Error
glowish::chooseTrainingIdentifiers(BundleFacts &facts,
                                   llvm::ArrayRef<const char *> entries) {
  NameChooser names(facts);
  GLOWISH_RETURN_IF_ERROR(
      names.addOwn({"variables", "save_state", "restore_state", "state"},
                   {"STATE_SIZE", "NUM_VARIABLES"}));
  GLOWISH_RETURN_IF_ERROR(names.addPrograms({"NUM_SYMBOLS"}));
  for (const char *entry : entries)
    GLOWISH_RETURN_IF_ERROR(
        names.addEntry(facts.options.networkName + "_" + entry));
  GLOWISH_RETURN_IF_ERROR(names.addFunctions());
  for (BundleProgram &program : facts.programs)
    names.nameSymbols(program);
  return llvm::Error::success();
}

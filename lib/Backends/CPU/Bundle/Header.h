//===- Header.h - The parts of a bundle's C header --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_HEADER_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_HEADER_H

#include "Functions.h"
#include "Symbols.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Backends/Variants.h"

namespace glowish {

/// A symbolic dimension that has several values in the bundle.
struct BundleDim {
  std::string modelName;
  /// The model's name as a C identifier, unique among the dimensions.
  std::string identifier;
  /// Ascending.
  std::vector<int64_t> values;
};

/// One program of a bundle.
struct BundleProgram {
  /// Distinguishes the names of its macros from those of other programs: "N8",
  /// or "ENCODE" of a function; empty where there is one program.
  std::string identifier;
  /// Values of the dimensions.
  std::vector<int64_t> values;
  const MemoryPlan &plan;
  /// Bytes of the activations, those of programs for single values of its
  /// ranges included.
  uint64_t activationSize;
  std::vector<BundleSymbol> symbols;
  std::vector<BundleConstant> constants;
  /// The name in the model of a function with an entry of its own.
  std::string function = {};
};

/// Everything that a header states.
struct BundleFacts {
  const BundleOptions &options;
  /// None where there is one program, or one a function.
  std::vector<BundleDim> dims;
  std::vector<BundleProgram> programs;
  /// Bytes of the regions that serve all programs.
  uint64_t constantSize, mutableSize, activationSize;
  uint64_t alignment;
  uint64_t weightsChecksum;
  /// Whether the object has code for several levels of processors.
  bool hasLevels;
  /// The threads that kernels are split for.
  int64_t numThreads = 1;

  /// See describeBoundedLoops.
  std::vector<std::string> boundedLoops = {};

  /// What the programs call; the entry may return EntryStatus::Function then.
  std::vector<BundleFunction> functions = {};

  /// Whether programs are functions with entries of their own.
  bool hasEntries() const { return !programs.front().function.empty(); }
  /// Returns the name of the entry of \p program in C.
  std::string getEntry(const BundleProgram &program) const;
  /// The regions of the activations, where they have several.
  llvm::ArrayRef<ArenaRegion> getArenaRegions() const {
    return programs.front().plan.arenaRegions;
  }
  /// Whether placeholders of any program are in the activations.
  bool hasPlaceholdersInArena() const;
  /// Whether inputs of any program state extents (InputExtents), so that the
  /// entry may return EntryStatus::Dimension.
  bool hasStatedExtents() const;
};

//===- Parts of headers, also of those for several programs ---------------===//

/// Returns the initializer of an array of the names of the classes that
/// \p symbol numbers: `{ "cat", "dog" }`.
std::string getClassList(const BundleSymbol &symbol);

/// \p text inside a C comment.
std::string escapeComment(llvm::StringRef text);
/// \p text as a C string literal.
std::string quoteString(llvm::StringRef text);
/// "input and output".
llvm::StringRef getDirectionName(const BundleSymbol &symbol);
/// "_DTCM": the part of macros' names that stands for \p region.
std::string getMacroPart(const ArenaRegion &region);
/// The network's name in capitals, and \p program's identifier.
std::string getMacroPrefix(const BundleFacts &facts,
                           const BundleProgram &program);
/// "N_config", or "N_encode_config" of a function with an entry of its own.
std::string getConfigName(const BundleFacts &facts,
                          const BundleProgram &program);
/// A line for each placeholder of \p program, inside a comment, and for each
/// constant if the options request it.
void printSymbolLines(llvm::raw_ostream &os, const BundleFacts &facts,
                      const BundleProgram &program);
/// A macro NETWORK_SYMBOL + suffix.
struct SymbolMacro {
  llvm::StringRef suffix;
  std::string value;
};
/// The macros of \p symbol, which is one of \p program; \p prefix: that of the
/// program's macros, and of the network's where the arena has regions.
std::vector<SymbolMacro> getSymbolMacros(llvm::StringRef prefix,
                                         const BundleSymbol &symbol,
                                         const BundleProgram &program);
void printSymbolMacros(llvm::raw_ostream &os, llvm::StringRef prefix,
                       const BundleSymbol &symbol,
                       const BundleProgram &program);

/// The definitions that all bundles share, guarded, so that a file may include
/// several headers.
void printCommonDefinitions(llvm::raw_ostream &os);
/// The types of the dynamic API; emitConfig in Config.cpp makes the same
/// layout.
void printDynamicTypes(llvm::raw_ostream &os);
/// The status code of extents that there is no code for.
void printDimensionStatus(llvm::raw_ostream &os);
/// Returns a line for each loop of \p programs for which the entry may return
/// EntryStatus::TripCount: its name and its bound.
std::vector<std::string> describeBoundedLoops(llvm::ArrayRef<Variant> programs);
/// The status code of loops with too many iterations.
void printTripCountStatus(llvm::raw_ostream &os);
/// The status code of functions that fail.
void printFunctionStatus(llvm::raw_ostream &os);
/// Prints what \p print does as declarations of C, in C++ too.
void printLinkage(llvm::raw_ostream &os, llvm::function_ref<void()> print);
/// Prints what \p print does behind the includes and definitions that all
/// headers have, inside a guard.
void printHeader(llvm::raw_ostream &os, const BundleFacts &facts,
                 llvm::function_ref<void()> print);
/// The sizes of the regions, inside a comment; the notes are what is behind the
/// bytes of the last two.
void printRegionSizes(llvm::raw_ostream &os, const BundleFacts &facts,
                      const llvm::Twine &mutableNote,
                      const llvm::Twine &activationNote);
/// ABI version, model and weights.
void printIdentity(llvm::raw_ostream &os, const BundleFacts &facts);
/// Sizes and alignment of the regions.
void printSizeMacros(llvm::raw_ostream &os, const BundleFacts &facts);
/// The placeholders of \p program.
void printProgramMacros(llvm::raw_ostream &os, const BundleFacts &facts,
                        const BundleProgram &program);
/// The identifiers of the dimensions behind \p prefix, separated by commas.
std::string joinDims(const BundleFacts &facts, llvm::StringRef prefix);
/// "int64_t dim_N, int64_t dim_M"; empty where there are no dimensions.
std::string getDimArguments(const BundleFacts &facts);
/// Declares the entry \p name; \p what: a sentence that says what it does.
void printEntry(llvm::raw_ostream &os, const BundleFacts &facts,
                llvm::StringRef name, llvm::StringRef what);
/// The function that checks the weights.
void printWeightsCheck(llvm::raw_ostream &os, const BundleFacts &facts);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_HEADER_H

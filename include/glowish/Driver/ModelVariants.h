//===- ModelVariants.h - One compilation for several values -----*- C++ -*-===//

#ifndef GLOWISH_DRIVER_MODELVARIANTS_H
#define GLOWISH_DRIVER_MODELVARIANTS_H

#include "glowish/Backends/Variants.h"
#include "glowish/Driver/Compilation.h"

namespace glowish {

class ModelVariants;
struct StartedProgram;

/// A symbolic dimension and the values that a model is compiled for, or the
/// bounds of those that each run may state. With both, the values are some of
/// the range that have a program of their own.
struct SymbolValues {
  std::string name;
  std::vector<int64_t> values;
  std::optional<IntRange> range = std::nullopt;
};

/// Reads `name,value` or `name,value,value,...`: one value of at least 0, or
/// several of at least 1 in ascending order; `name,low..high`; or both,
/// `name,value,...,low..high`, the values within the range. Names may contain
/// commas where no number follows them. An error says what is wrong with
/// \p text.
llvm::Expected<SymbolValues> parseSymbolValues(llvm::StringRef text);

/// The programs of one model, and the constants that they share.
class CompiledVariants {
public:
  /// In the order of ModelVariants, which outlives this.
  llvm::ArrayRef<PlannedProgram> getPrograms() const { return programs; }
  /// Without them, the rest is of no use.
  std::vector<PlannedProgram> takePrograms() { return std::move(programs); }
  Variants getVariants() const;
  /// The region that all programs read.
  Tensor makeConstantRegion() const;
  /// Those of several programs; empty where there is one.
  const ConstantPool &getConstants() const { return constants; }

private:
  friend class ModelVariants;
  explicit CompiledVariants(const ModelVariants &model) : model(model) {}

  const ModelVariants &model;
  ConstantPool constants{MemoryPlan::defaultAlignment};
  std::vector<PlannedProgram> programs;
};

/// A model that is compiled for every combination of the values of its symbolic
/// dimensions; the only one where none has several. The model is read once,
/// and the programs share their constants.
class ModelVariants {
public:
  /// More combinations than that are refused.
  static constexpr size_t maxVariants = 64;

  ModelVariants(Backend &backend, CompilationOptions options)
      : backend(backend), options(std::move(options)) {}

  /// Reads \p path (see Compilation::import). \p several: symbols with more
  /// than one value, or with values and a range, each a dimension of the
  /// model's inputs; \p importOptions has the others.
  llvm::Error open(llvm::StringRef path, ImportOptions importOptions,
                   std::vector<SymbolValues> several);
  /// Keeps the variants that the tensors in the import options (givenTypes)
  /// have the types for; an error lists the variants where there is none.
  /// Tensors for inputs that the model lacks are not checked here, but where
  /// inputs are set. Does nothing with one variant.
  llvm::Error select();
  /// Runs the phases for each variant, up to and with options.stopAfter; null
  /// where that comes before the plan. Once only.
  llvm::Expected<std::optional<CompiledVariants>> compile();

  /// Whether some symbol has several values.
  bool hasSymbols() const { return !symbols.empty(); }
  size_t getNumVariants() const { return combinations.size(); }
  /// "N=8, length=16", or "length=1..64" for the program for all of a range.
  std::string describe(size_t variant) const;

private:
  friend class CompiledVariants;
  /// A value for each symbol; none stands for all of its range.
  using Combination = std::vector<std::optional<int64_t>>;
  llvm::Error parseModel();
  llvm::Error checkSymbols() const;
  /// Drops each variant for a whole range beside one for the single value of it
  /// that the given inputs have. \p isGiven: whether inputs tell the value of a
  /// symbol.
  void dropWholeRanges(llvm::function_ref<bool(const std::string &)> isGiven);
  ImportOptions getOptions(const Combination &combination) const;
  /// \p combination with the whole range of each symbol that has one.
  Combination getWholeRanges(Combination combination) const;
  llvm::Expected<StartedProgram> startVariant(size_t variant);
  /// Imports \p variant. One for single values of ranges gets the placeholders
  /// of the one for the whole ranges.
  llvm::Expected<ModelGraph> importVariant(Compilation &compilation,
                                           size_t variant);
  llvm::Expected<std::optional<CompiledVariants>> compileOnly();

  Backend &backend;
  CompilationOptions options;
  ImportOptions importOptions;
  std::string path;
  std::vector<SymbolValues> symbols;
  /// Where there are symbols: the model, until the last import.
  std::unique_ptr<ParsedModel> model;
  /// The last symbol changing first, the whole of a range coming before the
  /// values in it.
  std::vector<Combination> combinations;
  /// Of the variants for whole ranges that have been imported.
  std::map<Combination, std::shared_ptr<const PlaceholderLayout>> layouts;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_MODELVARIANTS_H

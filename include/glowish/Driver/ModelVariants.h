//===- ModelVariants.h - One compilation for several values -----*- C++ -*-===//

#ifndef GLOWISH_DRIVER_MODELVARIANTS_H
#define GLOWISH_DRIVER_MODELVARIANTS_H

#include "glowish/Backends/Variants.h"
#include "glowish/Driver/Compilation.h"

namespace glowish {

/// A symbolic dimension and the values that a model is compiled for.
struct SymbolValues {
  std::string name;
  std::vector<int64_t> values;
};

/// Reads `name,value` or `name,value,value,...`: one value of at least 0, or
/// several of at least 1 in ascending order. Names may contain commas where no
/// number follows them. An error says what is wrong with \p text.
llvm::Expected<SymbolValues> parseSymbolValues(llvm::StringRef text);

/// A model compiled for every combination of the values of its symbolic
/// dimensions; the only one where none has several. The model is read once,
/// and the programs share their constants.
class ModelVariants {
public:
  /// More combinations than that are refused.
  static constexpr size_t maxVariants = 64;

  ModelVariants(Backend &backend, CompilationOptions options)
      : backend(backend), options(std::move(options)) {}

  /// Reads \p path (see Compilation::import). \p several: symbols with more
  /// than one value, each a dimension of the model's inputs; \p importOptions
  /// has the others.
  llvm::Error open(llvm::StringRef path, ImportOptions importOptions,
                   std::vector<SymbolValues> several);
  /// Keeps the variants that the tensors in the import options (givenTypes)
  /// have the types for; an error lists the variants where there is none.
  /// Tensors for inputs that the model lacks are left to those who set them.
  /// Does nothing with one variant.
  llvm::Error select();
  /// Runs all phases for each variant.
  llvm::Error compile();

  /// Whether some symbol has several values.
  bool hasSymbols() const { return !symbols.empty(); }
  size_t getNumVariants() const { return combinations.size(); }
  /// "N=8, length=16".
  std::string describe(size_t variant) const;

  /// After compile().
  Compilation &getCompilation(size_t variant) { return *compilations[variant]; }
  bool isComplete() const;
  Variants getVariants() const;
  /// The region that all programs read.
  Tensor makeConstantRegion() const;
  const ConstantPool &getConstants() const { return constants; }

private:
  llvm::Error checkSymbols() const;
  ImportOptions getOptions(size_t variant) const;
  llvm::Error importVariant(size_t variant);
  llvm::Error finishVariants();

  Backend &backend;
  CompilationOptions options;
  ImportOptions importOptions;
  std::string path;
  std::vector<SymbolValues> symbols;
  /// Where there are symbols: the model, until the last import.
  std::optional<OnnxModel> model;
  /// One value a symbol, the last one changing first.
  std::vector<std::vector<int64_t>> combinations;
  ConstantPool constants{MemoryPlan::defaultAlignment};
  std::vector<std::unique_ptr<Compilation>> compilations;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_MODELVARIANTS_H

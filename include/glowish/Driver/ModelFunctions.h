//===- ModelFunctions.h - Functions of one bundle ---------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_MODELFUNCTIONS_H
#define GLOWISH_DRIVER_MODELFUNCTIONS_H

#include "glowish/Backends/Variants.h"
#include "glowish/Driver/Compilation.h"

namespace glowish {

/// A function with an entry of its own, and the model that it is of.
struct FunctionSource {
  /// The name of the function in the bundle.
  std::string name;
  /// See Compilation::import.
  std::string path;
  ImportOptions importOptions;
  /// CompilationOptions::function.
  std::string function = {};
};

/// Returns the names of \p functions for messages: "'a', 'b'".
std::string joinNames(llvm::ArrayRef<FunctionSource> functions);

/// The programs of functions.
class CompiledFunctions {
public:
  Variants getVariants() const;

private:
  friend llvm::Expected<std::optional<CompiledFunctions>>
  compileFunctions(Backend &backend, const CompilationOptions &options,
                   std::vector<FunctionSource> sources);

  std::vector<std::string> names;
  std::vector<PlaceholderSharing> sharing;
  std::vector<PlannedProgram> programs;
};

/// Runs the phases for each function of \p sources, up to and with
/// options.stopAfter; null where that comes before the plan. The programs have
/// one constant region, in which equal constants are once, and one mutable
/// region. In that, functions of one text form share all placeholders of one
/// name; methods of one module, and models of a format that shares them
/// (ModelFormat::sharesStates), share states.
llvm::Expected<std::optional<CompiledFunctions>>
compileFunctions(Backend &backend, const CompilationOptions &options,
                 std::vector<FunctionSource> sources);

} // namespace glowish

#endif // GLOWISH_DRIVER_MODELFUNCTIONS_H

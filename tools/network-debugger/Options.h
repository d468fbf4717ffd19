//===- Options.h - The command line of network-debugger ---------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_NETWORK_DEBUGGER_OPTIONS_H
#define GLOWISH_TOOLS_NETWORK_DEBUGGER_OPTIONS_H

#include "glowish/Compiler/BundleCompilation.h"
#include "network-debugger/LayerResult.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory comparisonCategory;

struct DebuggerOptions {
  /// Bisect, or else compare layer by layer.
  bool bisects = false;
  /// The tested side is quantized by a profile.
  bool isQuantized = false;
  /// Print only the layers that differ by more than the tolerance.
  bool onlyBad = false;
  /// Without what is to be filled in and called.
  ComparisonOptions comparison;
  /// Where the tensors of bad layers are written; may be empty.
  std::string dumpFolder;
  /// The tested side.
  PreparedCompilation prepared;
  std::unique_ptr<Backend> referenceBackend;
  /// Without the types of given inputs.
  Side reference, tested;
};

/// An error names the option, what it was given and what it takes. \p timer is
/// used with -time.
llvm::Expected<DebuggerOptions> getDebuggerOptions(PhaseTimer &timer);

} // namespace glowish

#endif // GLOWISH_TOOLS_NETWORK_DEBUGGER_OPTIONS_H

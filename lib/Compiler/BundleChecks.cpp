//===- BundleChecks.cpp - What can't be together in a bundle --------------===//

#include "BundleChecks.h"
#include "glowish/Compiler/QuantizationSettings.h"

using namespace glowish;

/// Refuses what a bundle that learns can't have.
static llvm::Error checkTraining(const BundleRequest &request) {
  if (llvm::StringRef precision = getPrecisionSetting(request.options);
      !precision.empty())
    return makeError(
        "«{0}» and «train»: a bundle that learns computes in float; "
        "state one of them",
        precision);
  if (!request.symbols.empty())
    return makeError(
        "«train» takes one value of '{0}'; another one in the step "
        "is stated with «train-define-symbol»",
        request.symbols.front().name);
  if (request.options.placesIOInArena)
    return makeError("«io-in-activations»: a bundle that learns keeps its "
                     "placeholders between calls; accepted: without «train»");
  if (!request.options.arenaRegions.empty())
    return makeError("«memory-regions»: the programs of a bundle that learns "
                     "share one region of activations; accepted: without "
                     "«train»");
  return llvm::Error::success();
}

/// Refuses what a bundle with several functions can't have.
static llvm::Error checkFunctions(const BundleRequest &request) {
  const CompilationOptions &options = request.options;
  auto refuse = [&](llvm::StringRef setting, llvm::StringRef reason) {
    return makeError("«{0}»: {1}, and the bundle has the functions {2}; "
                     "accepted: with one function",
                     setting, reason, joinNames(request.functions));
  };
  if (request.training)
    return refuse("train", "one function learns");
  if (!request.symbols.empty())
    return refuse("define-symbol",
                  "'" + request.symbols.front().name + "' has several values");
  if (options.quantization && options.quantization->profile)
    return refuse("load-profile", "a profile is of one function");
  if (options.placesIOInArena)
    return refuse("io-in-activations",
                  "inputs and outputs would lie elsewhere in each");
  if (!options.arenaRegions.empty())
    return refuse("memory-regions", "each would have regions of its own");
  if (request.bundle.entryName != request.bundle.networkName)
    return refuse("main-entry-name", "it names one entry");
  return llvm::Error::success();
}

llvm::Error glowish::checkBundleRequest(const BundleRequest &request) {
  bool isWritten = !request.bundle.folder.empty();
  if ((isWritten || request.printsCode) &&
      !request.backend->createBundleWriter())
    return makeError(
        isWritten ? "«backend={0}» cannot write a bundle; «backend=CPU» can"
                  : "«backend={0}» has no code to print; «backend=CPU» has",
        request.backend->getName());
  if (!request.functions.empty())
    return checkFunctions(request);
  return request.training ? checkTraining(request) : llvm::Error::success();
}

//===- ProfileDump.cpp - -dump-profile ------------------------------------===//

#include "common/ProfileDump.h"
#include "common/QuantizationBudgetFlags.h"
#include "common/QuantizationFlags.h"
#include "common/ValueOption.h"
#include "glowish/Compiler/QuantizationSettings.h"
#include "glowish/Support/File.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::opt<std::string> profileFile(
    "dump-profile",
    cl::desc("Write the ranges of all float values to this file, for "
             "-load-profile"),
    cl::value_desc("file"), cl::cat(quantizationCategory));
static ValueOption<unsigned>
    numBins("num-histogram-bins",
            cl::desc("Bins of the histograms of -dump-profile (default: 2048)"),
            cl::value_desc("N"), cl::init(Histogram::defaultNumBins),
            inRange(unsigned(Histogram::leastNumBins),
                    unsigned(Histogram::mostNumBins)),
            cl::cat(quantizationCategory));

bool glowish::dumpsProfile() { return !profileFile.empty(); }

llvm::Expected<std::unique_ptr<RangeProfiler>> glowish::createRangeProfiler(
    Backend &backend, const CompilationOptions &options,
    llvm::StringRef modelPath, ImportOptions importOptions) {
  if (!dumpsProfile() || limitsQuantization()) {
    if (numBins.getNumOccurrences())
      return makeError("-num-histogram-bins has no effect without a profile; "
                       "accepted: with -dump-profile=FILE");
    return nullptr;
  }
  llvm::StringRef flag = getPrecisionSetting(options);
  if (!flag.empty())
    return makeError("-dump-profile and -{0}: profiles are of float models{1}; "
                     "state one of them",
                     flag,
                     options.quantization && options.quantization->profile
                         ? ", but for those that -max-error and -max-drop write"
                         : "");
  if (options.stopAfter)
    return makeError("-dump-profile={0}: with -stop-after, the model does not "
                     "run; state one of them",
                     profileFile.getValue());
  // Warnings would be repeated.
  importOptions.isRepeated = true;
  importOptions.sequenceOutputs = nullptr;
  CompilationOptions own;
  own.function = options.function;
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph,
      Compilation(backend, own).import(modelPath, std::move(importOptions)));
  return RangeProfiler::create(backend, options, std::move(graph), numBins);
}

llvm::Error glowish::writeProfile(const RangeProfiler *profiler) {
  if (!profiler)
    return llvm::Error::success();
  return writeProfile(profiler->getProfile());
}

llvm::Error glowish::writeProfile(const RangeProfile &profile) {
  if (!dumpsProfile())
    return llvm::Error::success();
  return writeFile(profileFile, writeRangeProfile(profile));
}

//===- TargetSettings.cpp - What code is made for -------------------------===//

#include "glowish/Compiler/TargetSettings.h"
#include "glowish/Backends/CPU/TargetSupport.h"

using namespace glowish;

TargetOptions TargetSettings::getOptions() const {
  TargetOptions options;
  options.triple = target;
  options.architecture = architecture;
  options.cpu = cpu;
  options.attributes = attributes.getValues();
  options.abi = abi;
  options.floatABI = floatABI;
  if (relocationModel.isGiven())
    options.relocationModel = relocationModel;
  options.codeModel = codeModel;
  options.winograd = winograd;
  options.packsWeightsOnce = packWeightsOnce;
  options.isReproducible = reproducible;
  options.roundsEachStep = roundEachStep;
  options.tune = tune;
  options.tuningFile = tuningFile;
  options.numThreads = numThreads;
  return options;
}

llvm::Expected<std::string> TargetSettings::getHelp() const {
  if (target.getValue() == "help") {
    std::string list;
    llvm::raw_string_ostream os(list);
    printTargets(os);
    return list;
  }
  bool listsCpus = cpu.getValue() == "help";
  if (!listsCpus && !llvm::is_contained(attributes, "help"))
    return std::string();
  return listTargetNames(getOptions(), listsCpus);
}

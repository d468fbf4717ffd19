//===- ProgramKey.cpp - All that programs are made from -------------------===//

#include "ProgramKey.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/BuildIdentity.h"
#include "glowish/Support/File.h"
#include "llvm/TargetParser/Host.h"

using namespace glowish;

// A function for each struct, with all its fields in the order of the struct. A
// field that is added there has to be added here: to the key if programs may
// differ by it, and else with a reason why they don't.

namespace glowish {

//===- Types and tensors --------------------------------------------------===//

static void addToKey(KeyHasher &key, const IntRange &range) {
  const auto &[low, high] = range;
  key.addAll(low, high);
}

/// Extents that are equal by the rules of arithmetic have one text.
static void addToKey(KeyHasher &key, const Extent &extent) {
  key.add(extent.str());
}

static void addToKey(KeyHasher &key, const Type &type) {
  key.addAll(type.getKind(), type.getShape(), type.getExtents());
  if (!type.isQuantized())
    return;
  const auto &[scales, offsets, axis] = type.getQuantParams();
  key.addAll(scales, offsets, axis);
}

static void addToKey(KeyHasher &key,
                     const std::shared_ptr<const Tensor> &tensor) {
  key.add(tensor != nullptr);
  if (!tensor)
    return;
  key.add(tensor->getType());
  key.addBytes(tensor->getByteRange());
}

//===- Options of the import ----------------------------------------------===//

static void addToKey(KeyHasher &key, const StateNames &state) {
  const auto &[input, output] = state;
  key.addAll(input, output);
}

/// Formats are known by their names: there is one object for each.
static std::map<std::string, llvm::StringRef>
getNames(const std::map<std::string, const FusedRows *> &inputs) {
  std::map<std::string, llvm::StringRef> names;
  for (const auto &[input, format] : inputs)
    names[input] = format->name;
  return names;
}

static void addToKey(KeyHasher &key, const ImportOptions &options) {
  // The contents of secondFile are those of a file of the model. evaluate
  // computes the same results by whatever means. Warnings, and the outputs that
  // are sequences, are kept with the programs.
  const auto &[method, secondFile, symbols, symbolRanges, layout, states,
               inputTypes, typeSymbols, fusedInputs, constantInputs,
               constantTexts, operators, maxTripCount, maxExtents, givenTypes,
               givenTypesInOrder, ofFormat, variables, sequenceOutputs,
               evaluate, warn, isRepeated, isStrict] = options;
  key.addAll(method, symbols, symbolRanges, states, inputTypes, typeSymbols,
             getNames(fusedInputs), constantInputs, constantTexts, maxTripCount,
             maxExtents, givenTypes, givenTypesInOrder, isStrict,
             ofFormat != nullptr);
  if (ofFormat)
    ofFormat->addTo(key);
  // A layout is of another import, and variables are a result. What a plug-in
  // states, and where its functions are, is known to this process alone.
  if (layout || variables || operators)
    key.refuse();
}

static void addToKey(KeyHasher &key, const SymbolValues &symbol) {
  const auto &[name, values, range] = symbol;
  key.addAll(name, values, range);
}

//===- Options of the compilation -----------------------------------------===//

static bool isAny(const PassOptions::Selection &selection) {
  const auto &[all, names] = selection;
  return all || !names.empty();
}

static void addToKey(KeyHasher &key, const PassOptions &options) {
  const auto &[printBefore, printAfter, verifyBefore, verifyAfter, printNames,
               limit] = options;
  key.add(limit);
  if (isAny(printBefore) || isAny(printAfter) || isAny(verifyBefore) ||
      isAny(verifyAfter) || printNames)
    key.refuse();
}

static void addToKey(KeyHasher &key, const QuantizationConfig &config) {
  const auto &[schema, calibration, calibratesConstants, isChannelwise,
               isRowwise, equalizesChannels, correctsBiases, keptKinds,
               needsQuantizedOperand, assertsAll] = config;
  key.addAll(schema, calibration, calibratesConstants, isChannelwise, isRowwise,
             equalizesChannels, correctsBiases, keptKinds,
             needsQuantizedOperand, assertsAll);
}

static void addToKey(KeyHasher &key, const WeightQuantization &quantization) {
  const auto &[kind, block, searches] = quantization;
  key.addAll(kind, block, searches);
}

static void addToKey(KeyHasher &key, const RangeProfile &profile) {
  key.add(writeRangeProfile(profile));
}

static void addToKey(KeyHasher &key, const QuantizationOptions &options) {
  const auto &[profile, config, isDynamic, weights, embeddings] = options;
  key.addAll(profile, config, isDynamic, weights, embeddings);
}

static void addToKey(KeyHasher &key, const PrecisionConfig &config) {
  const auto &[kind, convertsPlaceholders, keptKinds] = config;
  key.addAll(kind, convertsPlaceholders, keptKinds);
}

static void addToKey(KeyHasher &key, const RematerializationConfig &config) {
  const auto &[cheapNodes, numSegments] = config;
  key.addAll(cheapNodes, numSegments);
}

static void addToKey(KeyHasher &key, const RegionLimit &limit) {
  const auto &[name, bytes] = limit;
  key.addAll(name, bytes);
}

static void addToKey(KeyHasher &key, const CompilationOptions &options) {
  // A timer measures whatever is done, and keepsOutputs is for a proof.
  const auto &[function, dumpGraph, dumpIR, dotFile, importedDotFile,
               printAfterAll, verifyEach, passCheck, graphPasses, irPasses,
               maxMergedElements, schedule, rematerialization,
               maxActivationBytes, reusesActivations, placesIOInArena,
               arenaRegions, keepsOutputs, stopAfter, quantization, precision,
               quantizesActivations, tuner, timer, observer] = options;
  key.addAll(function, graphPasses, irPasses, maxMergedElements, schedule,
             rematerialization, maxActivationBytes, reusesActivations,
             placesIOInArena, arenaRegions, precision, quantizesActivations);
  key.add(quantization != nullptr);
  if (quantization)
    key.add(*quantization);
  if (dumpGraph || dumpIR || !dotFile.empty() || !importedDotFile.empty() ||
      printAfterAll || verifyEach || passCheck || stopAfter || tuner ||
      observer)
    key.refuse();
}

} // namespace glowish

//===- The model ----------------------------------------------------------===//

/// Adds what reads the model: the name of its form, and the library for that,
/// if there is one.
static llvm::Error addFormat(KeyHasher &key, llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  key.add(format ? llvm::StringRef(format->name) : "text form");
  if (!format || !format->getReaderPath)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(auto reader, readFile(format->getReaderPath()));
  key.add(reader->getBuffer());
  return llvm::Error::success();
}

/// Adds the bytes of all files that an import reads; their names only lead to
/// them.
static llvm::Error addModel(KeyHasher &key, const ModelRequest &request) {
  GLOWISH_RETURN_IF_ERROR(addFormat(key, request.path));
  GLOWISH_ASSIGN_OR_RETURN(auto files,
                           openModelFiles(request.path, request.importOptions));
  key.add(files.size());
  for (const auto &file : files)
    key.add(file->getBuffer());
  return llvm::Error::success();
}

std::optional<KeyHasher::Digest>
glowish::computeProgramKey(const ModelRequest &request,
                           const CodeSerializer &serializer) {
  KeyHasher key;
  addBuildIdentity(key);
  // Constants are folded here, with functions of libm that differ by processor.
  key.add(llvm::sys::getHostCPUName());
  const auto &[backend, path, importOptions, options, symbols] = request;
  key.addAll(backend.getName(), importOptions, options, symbols);
  serializer.addToKey(key);
  // Large models are not read in vain.
  if (!key.finish())
    return std::nullopt;
  if (llvm::Error error = addModel(key, request)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  return key.finish();
}

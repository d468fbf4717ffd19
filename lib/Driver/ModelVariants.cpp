//===- ModelVariants.cpp - One compilation for several values -------------===//

#include "glowish/Driver/ModelVariants.h"
#include "glowish/Importer/Caffe2.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Debug.h"

using namespace glowish;

llvm::Expected<SymbolValues> glowish::parseSymbolValues(llvm::StringRef text) {
  SymbolValues symbol;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  text.split(parts, ',');
  int64_t number = 0;
  while (parts.size() > 1 && !parts.back().trim().getAsInteger(10, number)) {
    symbol.values.insert(symbol.values.begin(), number);
    parts.pop_back();
  }
  symbol.name = llvm::StringRef(llvm::join(parts, ",")).trim().str();
  if (symbol.name.empty())
    return makeError("there is no name; the form is name,value or "
                     "name,value,value,...");
  if (symbol.values.empty() && parts.size() == 1)
    return makeError("there is no value; the form is name,value or "
                     "name,value,value,...");
  // Exporters write "Max(0, n)"; elsewhere a comma ends the name.
  bool isName = parts.size() == 1 || parts.back().trim().ends_with(")");
  if (symbol.values.empty() || !isName)
    return makeError("'{0}' is not an integer of 64 bits; the form is "
                     "name,value or name,value,value,...",
                     parts.back().trim());
  const std::vector<int64_t> &values = symbol.values;
  if (values.size() == 1 && values[0] < 0)
    return makeError("the value {0} is below 0", values[0]);
  for (size_t i = 0; values.size() > 1 && i < values.size(); ++i) {
    if (values[i] < 1)
      return makeError("the value {0} is below 1", values[i]);
    if (i > 0 && values[i] == values[i - 1])
      return makeError("the value {0} is there twice", values[i]);
    if (i > 0 && values[i] < values[i - 1])
      return makeError("{0} comes after {1}; the values are in ascending order",
                       values[i], values[i - 1]);
  }
  return symbol;
}

/// All combinations of the values, the last symbol's changing first.
static std::vector<std::vector<int64_t>>
combine(llvm::ArrayRef<SymbolValues> symbols) {
  std::vector<std::vector<int64_t>> result = {{}};
  for (const SymbolValues &symbol : symbols) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &start : result)
      for (int64_t value : symbol.values) {
        longer.push_back(start);
        longer.back().push_back(value);
      }
    result = std::move(longer);
  }
  return result;
}

llvm::Error ModelVariants::checkSymbols() const {
  size_t count = 1;
  for (const SymbolValues &symbol : symbols) {
    if (!model->hasSymbol(symbol.name))
      return makeError("'{0}': no dimension of an input is '{1}', for which "
                       "several values are given",
                       path, symbol.name);
    count *= symbol.values.size();
    if (count > maxVariants)
      return makeError("the values of the symbolic dimensions have more than "
                       "{0} combinations; {0} can be compiled at once",
                       maxVariants);
  }
  return llvm::Error::success();
}

llvm::Error ModelVariants::open(llvm::StringRef modelPath,
                                ImportOptions newOptions,
                                std::vector<SymbolValues> several) {
  path = modelPath.str();
  importOptions = std::move(newOptions);
  symbols = std::move(several);
  if (hasSymbols()) {
    if (modelPath.ends_with(".graph") || isCaffe2Path(modelPath))
      return makeError("'{0}': several values of '{1}' need an ONNX model; "
                       "{2} no symbolic dimensions",
                       path, symbols.front().name,
                       isCaffe2Path(modelPath) ? "Caffe2's have"
                                               : "a text form has");
    GLOWISH_ASSIGN_OR_RETURN(model, OnnxModel::read(path));
    GLOWISH_RETURN_IF_ERROR(checkSymbols());
  }
  combinations = combine(symbols);
  return llvm::Error::success();
}

ImportOptions ModelVariants::getOptions(size_t variant) const {
  ImportOptions result = importOptions;
  for (auto [symbol, value] : llvm::zip_equal(symbols, combinations[variant]))
    result.symbols[symbol.name] = value;
  return result;
}

std::string ModelVariants::describe(size_t variant) const {
  std::vector<std::string> parts;
  for (auto [symbol, value] : llvm::zip_equal(symbols, combinations[variant]))
    parts.push_back(symbol.name + "=" + std::to_string(value));
  return llvm::join(parts, ", ");
}

/// The type of the tensor that input \p number, \p name, will be given; null
/// where none is known.
static const Type *findGiven(const ImportOptions &options,
                             const std::string &name, size_t number) {
  auto found = options.givenTypes.find(name);
  if (found != options.givenTypes.end())
    return &found->second;
  return number < options.givenTypesInOrder.size()
             ? &options.givenTypesInOrder[number]
             : nullptr;
}

llvm::Error ModelVariants::select() {
  if (!hasSymbols())
    return llvm::Error::success();
  std::vector<std::vector<int64_t>> fitting;
  std::vector<std::string> refusals;
  for (size_t i = 0; i < combinations.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<OnnxModel::Input> inputs,
                             model->getInputs(getOptions(i)));
    std::string wrong;
    for (auto [number, input] : llvm::enumerate(inputs)) {
      const Type *given = findGiven(importOptions, input.name, number);
      if (wrong.empty() && given && *given != input.type)
        wrong = llvm::formatv("'{0}' is {1}, not {2}", input.name,
                              input.type.str(), given->str());
    }
    if (wrong.empty())
      fitting.push_back(combinations[i]);
    else
      refusals.push_back(describe(i) + ": " + wrong);
  }
  if (fitting.empty()) {
    constexpr size_t mostShown = 6;
    if (refusals.size() > mostShown) {
      refusals.resize(mostShown);
      refusals.push_back("...");
    }
    return makeError("'{0}': no values of the symbolic dimensions are for the "
                     "given inputs; {1}",
                     path, llvm::join(refusals, "; "));
  }
  combinations = std::move(fitting);
  return llvm::Error::success();
}

llvm::Error ModelVariants::importVariant(size_t variant) {
  DEBUG_WITH_TYPE("phases", llvm::dbgs()
                                << "variant " << describe(variant) << "\n");
  compilations.push_back(std::make_unique<Compilation>(backend, options));
  Compilation &compilation = *compilations.back();
  bool isLast = variant + 1 == getNumVariants();
  ImportOptions own = getOptions(variant);
  // What is ignored has been said once.
  if (variant > 0)
    own.warn = nullptr;
  GLOWISH_RETURN_IF_ERROR(compilation.import(*model, std::move(own), isLast));
  return compilation.runCommon();
}

llvm::Error ModelVariants::finishVariants() {
  std::unique_ptr<SharedChoices> choices;
  std::vector<const IRFunction *> functions;
  {
    // What passes made of the weights is the same for all values, mostly.
    ConstantPool unpacked(MemoryPlan::defaultAlignment);
    for (const auto &compilation : compilations)
      if (compilation->isPrepareable()) {
        unpacked.share(compilation->getIR());
        functions.push_back(&compilation->getIR());
      }
    GLOWISH_ASSIGN_OR_RETURN(choices, backend.chooseTogether(functions));
  }
  for (size_t i = 0; i < compilations.size(); ++i)
    if (llvm::Error error = compilations[i]->finish(choices.get(), &constants))
      return addContext(std::move(error), "with " + describe(i) + ": ");
  DEBUG_WITH_TYPE("constants", llvm::dbgs()
                                   << "constants: " << constants.getSize()
                                   << " bytes shared, "
                                   << constants.getSizeUnshared()
                                   << " without sharing\n");
  return llvm::Error::success();
}

llvm::Error ModelVariants::compile() {
  if (!hasSymbols()) {
    compilations.push_back(std::make_unique<Compilation>(backend, options));
    GLOWISH_RETURN_IF_ERROR(compilations.front()->import(path, importOptions));
    return compilations.front()->run();
  }
  for (size_t i = 0; i < getNumVariants(); ++i)
    if (llvm::Error error = importVariant(i))
      return addContext(std::move(error), "with " + describe(i) + ": ");
  return finishVariants();
}

bool ModelVariants::isComplete() const {
  return llvm::all_of(compilations, [](const auto &compilation) {
    return compilation->isComplete();
  });
}

Tensor ModelVariants::makeConstantRegion() const {
  if (hasSymbols())
    return constants.makeRegion();
  const Compilation &only = *compilations.front();
  return glowish::makeConstantRegion(only.getIR(), only.getPlan());
}

Variants ModelVariants::getVariants() const {
  Variants variants;
  for (const SymbolValues &symbol : symbols)
    variants.symbols.push_back(symbol.name);
  for (auto [values, compilation] : llvm::zip_equal(combinations, compilations))
    variants.programs.push_back(
        {values, &compilation->getIR(), &compilation->getPlan()});
  return variants;
}

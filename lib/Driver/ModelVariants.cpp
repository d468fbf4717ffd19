//===- ModelVariants.cpp - One compilation for several values -------------===//

#include "glowish/Driver/ModelVariants.h"
#include "glowish/Backends/KernelTuner.h"
#include "glowish/Importer/Caffe2.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Debug.h"

using namespace glowish;

/// Reads `low..high`; nothing if \p text has another form.
static llvm::Expected<std::optional<IntRange>>
parseRange(llvm::StringRef text) {
  auto [first, second] = text.split("..");
  IntRange range{};
  if (!text.contains("..") || first.trim().getAsInteger(10, range.low) ||
      second.trim().getAsInteger(10, range.high))
    return std::nullopt;
  if (range.low < 0)
    return makeError("the range {0} begins below 0", text.trim());
  if (range.high <= range.low)
    return makeError("the range {0} {1}; the form is name,low..high",
                     text.trim(),
                     range.high == range.low ? "has one value" : "is empty");
  return range;
}

llvm::Expected<SymbolValues> glowish::parseSymbolValues(llvm::StringRef text) {
  SymbolValues symbol;
  auto [name, last] = text.rsplit(',');
  GLOWISH_ASSIGN_OR_RETURN(symbol.range, parseRange(last));
  if (symbol.range && !name.trim().empty()) {
    symbol.name = name.trim().str();
    return symbol;
  }
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
      if (wrong.empty() && given &&
          !fitsExtents(*given, input.type, input.dims))
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

llvm::Expected<ModelVariants::Started>
ModelVariants::startVariant(size_t variant) {
  DEBUG_WITH_TYPE("phases", llvm::dbgs()
                                << "variant " << describe(variant) << "\n");
  auto compilation = std::make_unique<Compilation>(backend, options);
  bool isLast = variant + 1 == getNumVariants();
  ImportOptions own = getOptions(variant);
  // Warnings are the same for all variants.
  if (variant > 0)
    own.warn = nullptr;
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation->import(*model, std::move(own), isLast));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IRProgram> program,
                           compilation->runToIR(std::move(graph)));
  return Started{std::move(compilation), std::move(program)};
}

llvm::Expected<std::optional<CompiledVariants>>
ModelVariants::finishVariants(std::vector<Started> started) {
  if (llvm::any_of(started, [](const Started &each) { return !each.program; }))
    return std::nullopt;
  std::unique_ptr<SharedChoices> choices;
  {
    // Most constants are the same for all values.
    ConstantPool unpacked(MemoryPlan::defaultAlignment);
    std::vector<const IRFunction *> functions;
    for (Started &each : started) {
      unpacked.share(each.program->getIR());
      functions.push_back(&each.program->getIR());
    }
    if (options.tuner)
      GLOWISH_RETURN_IF_ERROR(options.tuner->tune(functions));
    GLOWISH_ASSIGN_OR_RETURN(choices, backend.chooseTogether(functions));
  }
  CompiledVariants compiled(*this);
  for (auto [i, each] : llvm::enumerate(started)) {
    llvm::Expected<std::optional<PlannedProgram>> program =
        each.compilation->runToPlan(std::move(*each.program), choices.get(),
                                    &compiled.constants);
    if (!program)
      return addContext(program.takeError(), "with " + describe(i) + ": ");
    if (*program)
      compiled.programs.push_back(std::move(**program));
  }
  if (compiled.programs.empty())
    return std::nullopt;
  DEBUG_WITH_TYPE("constants",
                  llvm::dbgs() << "constants: " << compiled.constants.getSize()
                               << " bytes shared, "
                               << compiled.constants.getSizeUnshared()
                               << " without sharing\n");
  return compiled;
}

llvm::Expected<std::optional<CompiledVariants>> ModelVariants::compileOnly() {
  Compilation compilation(backend, options);
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation.import(path, importOptions));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<PlannedProgram> program,
                           compilation.run(std::move(graph)));
  if (!program)
    return std::nullopt;
  CompiledVariants compiled(*this);
  compiled.programs.push_back(std::move(*program));
  return compiled;
}

llvm::Expected<std::optional<CompiledVariants>> ModelVariants::compile() {
  if (!hasSymbols())
    return compileOnly();
  std::vector<Started> started;
  for (size_t i = 0; i < getNumVariants(); ++i) {
    llvm::Expected<Started> next = startVariant(i);
    if (!next)
      return addContext(next.takeError(), "with " + describe(i) + ": ");
    started.push_back(std::move(*next));
  }
  return finishVariants(std::move(started));
}

Tensor CompiledVariants::makeConstantRegion() const {
  if (model.hasSymbols())
    return constants.makeRegion();
  const PlannedProgram &only = programs.front();
  return glowish::makeConstantRegion(only.getIR(), only.getPlan());
}

Variants CompiledVariants::getVariants() const {
  Variants variants;
  for (const SymbolValues &symbol : model.symbols)
    variants.symbols.push_back(symbol.name);
  for (auto [values, program] : llvm::zip_equal(model.combinations, programs))
    variants.programs.push_back({values, &program.getIR(), &program.getPlan()});
  return variants;
}

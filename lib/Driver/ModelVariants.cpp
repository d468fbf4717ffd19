//===- ModelVariants.cpp - One compilation for several values -------------===//

#include "glowish/Driver/ModelVariants.h"
#include "GivenTypes.h"
#include "SharedPrograms.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/DimExpression.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

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

/// What is wrong with the \p values of a symbol, of which there are several or
/// which are some of its \p range.
static llvm::Error checkValues(llvm::ArrayRef<int64_t> values,
                               const std::optional<IntRange> &range) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (range && (values[i] < range->low || values[i] > range->high))
      return makeError("the value {0} is not in the range {1}..{2}", values[i],
                       range->low, range->high);
    if (!range && values[i] < 1)
      return makeError("the value {0} is below 1", values[i]);
    if (i > 0 && values[i] == values[i - 1])
      return makeError("the value {0} is there twice", values[i]);
    if (i > 0 && values[i] < values[i - 1])
      return makeError("{0} comes after {1}; the values are in ascending order",
                       values[i], values[i - 1]);
  }
  return llvm::Error::success();
}

llvm::Expected<SymbolValues> glowish::parseSymbolValues(llvm::StringRef text) {
  SymbolValues symbol;
  auto [front, last] = text.rsplit(',');
  GLOWISH_ASSIGN_OR_RETURN(symbol.range, parseRange(last));
  if (front.trim().empty())
    symbol.range = std::nullopt;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  (symbol.range ? front : text).split(parts, ',');
  int64_t number = 0;
  while (parts.size() > 1 && !parts.back().trim().getAsInteger(10, number)) {
    symbol.values.insert(symbol.values.begin(), number);
    parts.pop_back();
  }
  symbol.name = llvm::StringRef(llvm::join(parts, ",")).trim().str();
  if (symbol.name.empty())
    return makeError("there is no name; the form is name,value or "
                     "name,value,value,...");
  const std::vector<int64_t> &values = symbol.values;
  if (symbol.range && values.empty())
    return symbol;
  if (values.empty() && parts.size() == 1)
    return makeError("there is no value; the form is name,value or "
                     "name,value,value,...");
  // Exporters write "Max(0, n)"; elsewhere a comma ends the name.
  bool isName = parts.size() == 1 || parts.back().trim().ends_with(")");
  if (values.empty() || !isName)
    return makeError("'{0}' is not an integer of 64 bits; the form is "
                     "name,value or name,value,value,...",
                     parts.back().trim());
  if (values.size() == 1 && values[0] < 0)
    return makeError("the value {0} is below 0", values[0]);
  if (values.size() > 1 || symbol.range)
    GLOWISH_RETURN_IF_ERROR(checkValues(values, symbol.range));
  return symbol;
}

/// All combinations of the values, the last symbol's changing first.
static std::vector<std::vector<std::optional<int64_t>>>
combine(llvm::ArrayRef<SymbolValues> symbols) {
  std::vector<std::vector<std::optional<int64_t>>> result = {{}};
  for (const SymbolValues &symbol : symbols) {
    std::vector<std::optional<int64_t>> own(symbol.values.begin(),
                                            symbol.values.end());
    if (symbol.range)
      own.insert(own.begin(), std::nullopt);
    std::vector<std::vector<std::optional<int64_t>>> longer;
    for (const auto &start : result)
      for (std::optional<int64_t> value : own) {
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
    count *= symbol.values.size() + (symbol.range ? 1 : 0);
    if (count > maxVariants)
      return makeError("the values of the symbolic dimensions have more than "
                       "{0} combinations; {0} can be compiled at once",
                       maxVariants);
  }
  return llvm::Error::success();
}

llvm::Error ModelVariants::parseModel() {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
  if (!format || !format->parse)
    return makeError(
        "'{0}': several values of '{1}' need a model of the format {2}", path,
        symbols.front().name,
        joinFormatNames([](auto &each) { return each.parse != nullptr; }));
  GLOWISH_ASSIGN_OR_RETURN(model, format->parse(path));
  return llvm::Error::success();
}

llvm::Error ModelVariants::open(llvm::StringRef modelPath,
                                ImportOptions newOptions,
                                std::vector<SymbolValues> several) {
  path = modelPath.str();
  importOptions = std::move(newOptions);
  symbols = std::move(several);
  for (const SymbolValues &symbol : symbols)
    if (symbol.range)
      importOptions.symbolRanges[symbol.name] = *symbol.range;
  if (options.placesIOInArena && llvm::any_of(symbols, [](auto &symbol) {
        return symbol.range.has_value();
      }))
    return makeError(
        "inputs and outputs among the activations lie elsewhere in "
        "each program; accepted with values of their own in the "
        "range of a symbol: those in mutableWeight");
  if (hasSymbols()) {
    GLOWISH_RETURN_IF_ERROR(parseModel());
    GLOWISH_RETURN_IF_ERROR(checkSymbols());
  }
  combinations = combine(symbols);
  return llvm::Error::success();
}

ImportOptions ModelVariants::getOptions(const Combination &combination) const {
  ImportOptions result = importOptions;
  for (auto [symbol, value] : llvm::zip_equal(symbols, combination)) {
    if (!value)
      continue;
    if (symbol.range)
      result.symbolRanges[symbol.name] = {*value, *value};
    else
      result.symbols[symbol.name] = *value;
  }
  return result;
}

ModelVariants::Combination
ModelVariants::getWholeRanges(Combination combination) const {
  for (auto [symbol, value] : llvm::zip_equal(symbols, combination))
    if (symbol.range)
      value = std::nullopt;
  return combination;
}

std::string ModelVariants::describe(size_t variant) const {
  std::vector<std::string> parts;
  for (auto [symbol, value] : llvm::zip_equal(symbols, combinations[variant]))
    parts.push_back(value ? llvm::formatv("{0}={1}", symbol.name, *value).str()
                          : llvm::formatv("{0}={1}..{2}", symbol.name,
                                          symbol.range->low, symbol.range->high)
                                .str());
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

void ModelVariants::dropWholeRanges(
    llvm::function_ref<bool(const std::string &)> isGiven) {
  // A value is behind the whole of its range, and both fit.
  auto isFewer = [&](const Combination &fewer, const Combination &more) {
    bool isAny = false;
    for (auto [symbol, own, other] : llvm::zip_equal(symbols, fewer, more)) {
      if (own == other)
        continue;
      if (other || !isGiven(symbol.name))
        return false;
      isAny = true;
    }
    return isAny;
  };
  std::vector<Combination> kept;
  for (const Combination &own : combinations)
    if (llvm::none_of(combinations, [&](const Combination &other) {
          return isFewer(other, own);
        }))
      kept.push_back(own);
  combinations = std::move(kept);
}

llvm::Error ModelVariants::select() {
  if (!hasSymbols())
    return llvm::Error::success();
  std::set<std::string> givenSymbols;
  std::vector<Combination> fitting;
  std::vector<std::string> refusals;
  for (size_t i = 0; i < combinations.size(); ++i) {
    ImportOptions own = getOptions(combinations[i]);
    GLOWISH_ASSIGN_OR_RETURN(
        std::vector<ParsedModel::Input> inputs,
        addContext(model->getInputs(own), "with " + describe(i) + ": "));
    std::string wrong;
    for (auto [number, input] : llvm::enumerate(inputs)) {
      const Type *given = findGiven(importOptions, input.name, number);
      if (!given)
        continue;
      for (const std::optional<Extent> &extent : input.type.getExtents())
        if (extent)
          for (const std::string &symbol : extent->getSymbols())
            givenSymbols.insert(symbol);
      if (wrong.empty())
        wrong = llvm::toString(checkGivenType(input.name, *given, input.type,
                                              SymbolRanges(own.symbolRanges)));
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
  dropWholeRanges([&](const std::string &symbol) {
    return givenSymbols.count(symbol) != 0;
  });
  return llvm::Error::success();
}

llvm::Expected<ModelGraph>
ModelVariants::importVariant(Compilation &compilation, size_t variant) {
  const Combination &combination = combinations[variant];
  Combination wholeRanges = getWholeRanges(combination);
  ImportOptions own = getOptions(combination);
  // Warnings are the same for all variants.
  if (variant > 0)
    own.isRepeated = true;
  std::shared_ptr<const PlaceholderLayout> &layout = layouts[wholeRanges];
  if (combination != wholeRanges && !layout) {
    // Inputs have been given, and select() has kept another variant.
    ImportOptions whole = getOptions(wholeRanges);
    whole.evaluate = evaluateNode;
    whole.isRepeated = true;
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                             model->import(whole));
    layout = std::make_shared<const PlaceholderLayout>(*module);
  }
  if (combination != wholeRanges)
    own.layout = layout;
  bool isLast = variant + 1 == getNumVariants();
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           compilation.import(*model, std::move(own), isLast));
  if (!layout)
    layout = std::make_shared<const PlaceholderLayout>(graph.getModule());
  return graph;
}

llvm::Expected<StartedProgram> ModelVariants::startVariant(size_t variant) {
  GLOWISH_VLOG(1, "program for {0}", describe(variant));
  auto compilation = std::make_unique<Compilation>(backend, options);
  GLOWISH_ASSIGN_OR_RETURN(ModelGraph graph,
                           importVariant(*compilation, variant));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IRProgram> program,
                           compilation->runToIR(std::move(graph)));
  return StartedProgram{"with " + describe(variant), std::move(compilation),
                        std::move(program)};
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
  std::vector<StartedProgram> started;
  for (size_t i = 0; i < getNumVariants(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(
        StartedProgram next,
        addContext(startVariant(i), "with " + describe(i) + ": "));
    started.push_back(std::move(next));
  }
  CompiledVariants compiled(*this);
  GLOWISH_ASSIGN_OR_RETURN(compiled.programs,
                           finishPrograms(backend, options, importOptions,
                                          std::move(started),
                                          compiled.constants));
  if (compiled.programs.empty())
    return std::nullopt;
  return compiled;
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
    if (!symbol.range)
      variants.symbols.push_back(symbol.name);
  for (auto [combination, program] :
       llvm::zip_equal(model.combinations, programs)) {
    Variant variant = {{}, &program.getIR(), &program.getPlan()};
    for (auto [symbol, value] : llvm::zip_equal(model.symbols, combination)) {
      if (!symbol.range)
        variant.values.push_back(*value);
      else if (value)
        variant.stated.push_back({symbol.name, *value});
    }
    variants.programs.push_back(std::move(variant));
  }
  return variants;
}

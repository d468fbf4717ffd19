//===- ModelSettings.cpp - What is stated of a model ----------------------===//

#include "glowish/Compiler/ModelSettings.h"
#include "glowish/Compiler/InputTypes.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/SettingNames.h"
#include "llvm/Support/Path.h"

using namespace glowish;

llvm::Error glowish::readNumbers(llvm::StringRef setting,
                                 llvm::ArrayRef<std::string> texts,
                                 std::map<std::string, int64_t> &numbers) {
  for (llvm::StringRef text : texts) {
    auto [name, value] = text.rsplit(',');
    int64_t number = 0;
    if (name.empty() || value.trim().getAsInteger(10, number) || number < 0)
      return makeError("«{0}={1}»: the form is name,value with a value of at "
                       "least 0",
                       setting, text);
    numbers[name.trim().str()] = number;
  }
  return llvm::Error::success();
}

/// The symbols: what has one value or a range alone, and what has several
/// programs.
llvm::Error ModelSettings::readSymbols(ImportOptions &options,
                                       std::vector<SymbolValues> &several,
                                       const Scope &scope) const {
  std::set<std::string> names;
  for (llvm::StringRef text : scope.getOwn(symbols)) {
    GLOWISH_ASSIGN_OR_RETURN(
        SymbolValues symbol,
        addContext(parseSymbolValues(text),
                   nameSetting(symbols.getName(), text) + ": "));
    if (!names.insert(symbol.name).second)
      return makeError("«{0}={1}»: '{2}' is defined twice", symbols.getName(),
                       text, symbol.name);
    if (symbol.range && symbol.values.empty())
      options.symbolRanges[symbol.name] = *symbol.range;
    else if (symbol.range || symbol.values.size() > 1)
      several.push_back(symbol);
    else
      options.symbols[symbol.name] = symbol.values.front();
  }
  return llvm::Error::success();
}

/// -state.
llvm::Error ModelSettings::readStates(ImportOptions &options,
                                      const Scope &scope) const {
  for (llvm::StringRef text : scope.getOwn(states)) {
    auto [input, output] = text.split(',');
    if (input.trim().empty() || output.trim().empty() ||
        input.count('*') != output.count('*') || input.count('*') > 1)
      return makeError("«state={0}»: the form is input,output, both with a '*' "
                       "or none",
                       text);
    options.states.push_back({input.trim().str(), output.trim().str()});
  }
  return llvm::Error::success();
}

/// Returns the names of the formats whose models have methods.
static std::string getModuleFormats() {
  return joinFormatNames([](auto &each) { return each.hasMethods; });
}

/// Refuses what has no effect on the model at \p path; \p format is null for a
/// text form.
llvm::Error ModelSettings::checkEffect(llvm::StringRef path,
                                       const ModelFormat *format) const {
  if (methodName.isGiven() && (!format || !format->hasMethods))
    return makeError(
        "«{0}={1}»: '{2}' is no {3} module; accepted: without «{0}»",
        methodName.getName(), methodName.getValue(), path, getModuleFormats());
  if (format) {
    if (!format->hasSymbols && !symbols.empty())
      return makeError("«{0}={1}»: '{2}' is a {3} model, which has no symbolic "
                       "dimensions; «model-input» states the types of its "
                       "inputs",
                       symbols.getName(), symbols.getValues().front(), path,
                       format->name);
    if (!format->parse && !states.empty())
      return makeError(
          "«{0}={1}»: '{2}' is a {3} model; accepted: {4} models",
          states.getName(), states.getValues().front(), path, format->name,
          joinFormatNames([](auto &each) { return each.parse != nullptr; }));
    return llvm::Error::success();
  }
  for (const Setting *setting : std::initializer_list<const Setting *>{
           &modelInputs, &constantInputs, &symbols, &states, &maxTripCount,
           &maxExtents})
    if (setting->isGiven())
      return makeError("«{0}»: '{1}' is a text form, which states all types",
                       setting->getName(), path);
  return llvm::Error::success();
}

//===- Settings of formats ------------------------------------------------===//

std::vector<ModelSettings::OfFormat> ModelSettings::createFormatSettings() {
  std::vector<OfFormat> result;
  for (const ModelFormat *format : listModelFormats()) {
    if (!format->createSettings)
      continue;
    size_t before = getSettings().size();
    auto settings = format->createSettings(*this);
    result.push_back(
        {format, std::move(settings), getSettings().drop_front(before).vec()});
  }
  return result;
}

llvm::Error ModelSettings::readFormatOptions(ImportOptions &options,
                                             llvm::StringRef path,
                                             const ModelFormat *format) const {
  for (const OfFormat &own : formats) {
    if (own.format == format) {
      options.ofFormat = own.settings->getOptions();
      continue;
    }
    for (const Setting *setting : own.members)
      if (setting->isGiven())
        return makeError("«{0}»: '{1}' is no {2} model; accepted: {3}",
                         setting->getName(), path, own.format->name,
                         own.format->description);
  }
  return llvm::Error::success();
}

//===- Import options -----------------------------------------------------===//

std::vector<std::string>
ModelSettings::Scope::getOwn(const ListSetting &setting) const {
  std::vector<std::string> own;
  for (llvm::StringRef text : setting) {
    auto [function, rest] = text.split(':');
    bool isOfOne = llvm::is_contained(all, function.trim());
    if (!isOfOne || function.trim() == name)
      own.push_back((isOfOne ? rest : text).str());
  }
  return own;
}

llvm::Expected<ImportOptions>
ModelSettings::getImportOptions(llvm::StringRef path, const ModelFormat *format,
                                std::vector<SymbolValues> &several) {
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions options,
                           readOptions(path, format, several, Scope()));
  options.method = methodName.getValue();
  if (llvm::StringRef(options.method).contains(','))
    return makeError("«method={0}»: accepted: one method, or several of a "
                     "bundle",
                     options.method);
  return options;
}

llvm::Expected<ImportOptions>
ModelSettings::readOptions(llvm::StringRef path, const ModelFormat *format,
                           std::vector<SymbolValues> &several,
                           const Scope &scope) {
  GLOWISH_RETURN_IF_ERROR(checkEffect(path, format));
  ImportOptions options;
  options.isStrict = strict;
  options.maxTripCount = maxTripCount;
  GLOWISH_RETURN_IF_ERROR(readSymbols(options, several, scope));
  GLOWISH_RETURN_IF_ERROR(readStates(options, scope));
  GLOWISH_RETURN_IF_ERROR(
      readNumbers("max-extent", scope.getOwn(maxExtents), options.maxExtents));
  if (format && !format->parse && !several.empty())
    return makeError("«{0}={1},...»: it has several values; accepted of a {2} "
                     "model: one value or a range",
                     symbols.getName(), several.front().name, format->name);
  GLOWISH_RETURN_IF_ERROR(readInputTypes(scope.getOwn(modelInputs), options));
  GLOWISH_RETURN_IF_ERROR(
      readConstantInputs(scope.getOwn(constantInputs), options));
  GLOWISH_RETURN_IF_ERROR(checkConstantTexts(path, options));
  GLOWISH_RETURN_IF_ERROR(readFormatOptions(options, path, format));
  GLOWISH_ASSIGN_OR_RETURN(options.operators, operators.load());
  return options;
}

//===- Several functions --------------------------------------------------===//

/// Returns the names in \p text, which commas separate.
static std::vector<std::string> splitNames(llvm::StringRef text) {
  std::vector<std::string> names;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts)
    names.push_back(part.trim().str());
  return names;
}

/// Returns the names of the functions of a bundle, or one.
llvm::Expected<std::vector<std::string>>
ModelSettings::getFunctionNames(llvm::ArrayRef<std::string> paths) const {
  bool hasNames = functionName.isGiven();
  const TextSetting &setting = methodName.isGiven() ? methodName : functionName;
  std::vector<std::string> names = splitNames(setting.getValue());
  if (paths.size() == 1)
    return names;
  if (methodName.isGiven())
    return makeError(
        "«method={0}»: there are {1} models; accepted: one {2} module",
        methodName.getValue(), paths.size(), getModuleFormats());
  if (hasNames && names.size() != paths.size())
    return makeError("«function={0}»: there are {1} models; accepted: a name "
                     "for each",
                     functionName.getValue(), paths.size());
  if (hasNames)
    return names;
  names.clear();
  for (llvm::StringRef path : paths)
    names.push_back(llvm::sys::path::stem(path).str());
  return names;
}

llvm::Expected<std::vector<FunctionSource>>
ModelSettings::getFunctions(llvm::ArrayRef<std::string> paths,
                            std::vector<SymbolValues> &several) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> names,
                           getFunctionNames(paths));
  std::vector<FunctionSource> functions;
  if (names.size() == 1)
    return functions;
  bool isOneModel = paths.size() == 1;
  if (isOneModel && !methodName.isGiven() && !isTextForm(paths.front())) {
    GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format,
                             getModelFormat(paths.front()));
    return makeError("«function={0}»: '{1}' ({2}) has one function; accepted: "
                     "a text form",
                     functionName.getValue(), paths.front(), format->name);
  }
  for (auto [i, name] : llvm::enumerate(names)) {
    llvm::StringRef path = isOneModel ? paths.front() : paths[i];
    if (name.empty() || llvm::count(names, name) > 1)
      return makeError("'{0}': the function's name '{1}' is {2}; accepted: "
                       "«{3}=NAME,NAME» with names that differ",
                       path, name, name.empty() ? "empty" : "there twice",
                       methodName.isGiven() ? "method" : "function");
    FunctionSource function{name, path.str(), {}};
    GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, findModelFormat(path));
    GLOWISH_ASSIGN_OR_RETURN(function.importOptions,
                             readOptions(path, format, several, {name, names}));
    if (methodName.isGiven())
      function.importOptions.method = name;
    else if (isOneModel)
      function.function = name;
    functions.push_back(std::move(function));
  }
  return functions;
}

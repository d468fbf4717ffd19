//===- ModelSettings.cpp - What is stated of a model ----------------------===//

#include "glowish/Compiler/ModelSettings.h"
#include "glowish/Compiler/InputTypes.h"
#include "glowish/Importer/ModelFormat.h"

using namespace glowish;

llvm::Error glowish::readNumbers(llvm::StringRef setting,
                                 llvm::ArrayRef<std::string> texts,
                                 std::map<std::string, int64_t> &numbers) {
  for (llvm::StringRef text : texts) {
    auto [name, value] = text.rsplit(',');
    int64_t number = 0;
    if (name.empty() || value.trim().getAsInteger(10, number) || number < 0)
      return makeError("-{0}={1}: the form is name,value with a value of at "
                       "least 0",
                       setting, text);
    numbers[name.trim().str()] = number;
  }
  return llvm::Error::success();
}

/// -onnx-define-symbol: what has one value or a range alone, and what has
/// several programs.
llvm::Error
ModelSettings::readSymbols(ImportOptions &options,
                           std::vector<SymbolValues> &several) const {
  std::set<std::string> names;
  for (llvm::StringRef text : symbols) {
    llvm::Expected<SymbolValues> symbol = parseSymbolValues(text);
    if (!symbol)
      return addContext(symbol.takeError(),
                        "-onnx-define-symbol=" + text + ": ");
    if (!names.insert(symbol->name).second)
      return makeError("-onnx-define-symbol={0}: '{1}' is defined twice", text,
                       symbol->name);
    if (symbol->range && symbol->values.empty())
      options.symbolRanges[symbol->name] = *symbol->range;
    else if (symbol->range || symbol->values.size() > 1)
      several.push_back(*symbol);
    else
      options.symbols[symbol->name] = symbol->values.front();
  }
  return llvm::Error::success();
}

/// -state.
llvm::Error ModelSettings::readStates(ImportOptions &options) const {
  for (llvm::StringRef text : states) {
    auto [input, output] = text.split(',');
    if (input.trim().empty() || output.trim().empty() ||
        input.count('*') != output.count('*') || input.count('*') > 1)
      return makeError("-state={0}: the form is input,output, both with a '*' "
                       "or none",
                       text);
    options.states.push_back({input.trim().str(), output.trim().str()});
  }
  return llvm::Error::success();
}

/// Refuses what has no effect on a model of the form that \p path has.
llvm::Error ModelSettings::checkEffect(llvm::StringRef path,
                                       bool isText) const {
  if (!isText) {
    const ModelFormat &format = getModelFormat(path);
    if (!format.hasSymbols && !symbols.empty())
      return makeError("-onnx-define-symbol={0}: '{1}' is a {2} model, which "
                       "has no symbolic dimensions; -model-input states the "
                       "types of its inputs",
                       symbols.getValues().front(), path, format.name);
    if (!format.hasVariants && !states.empty())
      return makeError("-state={0}: '{1}' is a {2} model; accepted: ONNX "
                       "models",
                       states.getValues().front(), path, format.name);
    return llvm::Error::success();
  }
  for (const Setting *setting : std::initializer_list<const Setting *>{
           &modelInputs, &constantInputs, &symbols, &states, &maxTripCount,
           &maxExtents})
    if (setting->isGiven())
      return makeError("-{0}: '{1}' is a text form, which states all types",
                       setting->getName(), path);
  return llvm::Error::success();
}

llvm::Expected<ImportOptions>
ModelSettings::getImportOptions(llvm::StringRef path, bool isText,
                                std::vector<SymbolValues> &several) {
  GLOWISH_RETURN_IF_ERROR(checkEffect(path, isText));
  ImportOptions options;
  options.isStrict = strict;
  options.maxTripCount = maxTripCount;
  GLOWISH_RETURN_IF_ERROR(readSymbols(options, several));
  GLOWISH_RETURN_IF_ERROR(readStates(options));
  GLOWISH_RETURN_IF_ERROR(
      readNumbers("max-extent", maxExtents, options.maxExtents));
  GLOWISH_RETURN_IF_ERROR(readInputTypes(modelInputs, options));
  GLOWISH_RETURN_IF_ERROR(readConstantInputs(constantInputs, options));
  GLOWISH_ASSIGN_OR_RETURN(options.tflite, tflite.getOptions(path));
  GLOWISH_ASSIGN_OR_RETURN(options.operators, operators.load());
  return options;
}

//===- ImportFlags.cpp - Flags that describe the model --------------------===//

#include "common/ImportFlags.h"
#include "common/InputTypes.h"
#include "common/OperatorFlags.h"
#include "common/TFLiteFlags.h"
#include "common/ValueOption.h"
#include "glowish/Importer/ModelFormat.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::modelCategory("Model options");

static cl::list<std::string> symbols(
    "onnx-define-symbol",
    cl::desc("Bind a symbolic dimension (may be repeated); with several "
             "values, the model is compiled for each, and in all "
             "combinations with other symbols; with low..high, each run "
             "states the extent, and values in front of that have code of "
             "their own"),
    cl::value_desc("name,value,..."), cl::cat(modelCategory));
static cl::list<std::string> modelInputs(
    "model-input",
    cl::desc(
        "State the type of an input: -model-input=data,float,[1,3,8,8]; of "
        "a quantized one (int8q, of Caffe2 models) with scale and offset"),
    cl::value_desc("name,type[,scale,offset],[dims]"), cl::cat(modelCategory));
static cl::alias modelInputsAlias("model-input-name",
                                  cl::desc("Alias of -model-input"),
                                  cl::aliasopt(modelInputs));
static cl::list<std::string> constantInputs(
    "constant-input",
    cl::desc("Compile the model for one value of an input that is a number: an "
             "integer, a float or true or false. The input is none of the "
             "program then, and what depends on it is decided"),
    cl::value_desc("name,number"), cl::cat(modelCategory));
static cl::list<std::string> states(
    "state",
    cl::desc("Keep an output as the input of the next run: one placeholder, "
             "written in place where that is possible; '*' stands for the same "
             "text in both names"),
    cl::value_desc("input,output"), cl::cat(modelCategory));
static ValueOption<int64_t> maxTripCount(
    "max-trip-count",
    cl::desc("The most repetitions of a loop of which the model does not state "
             "any; a run that needs more is an error"),
    cl::value_desc("N"), cl::init(0), atLeast(int64_t(1)),
    cl::cat(modelCategory));
static cl::list<std::string> maxExtents(
    "max-extent",
    cl::desc("The largest extent of the dimensions of a value that are known "
             "only when the model runs and that nothing else bounds"),
    cl::value_desc("name,N"), cl::cat(modelCategory));
static ValueOption<bool>
    strict("strict",
           cl::desc("Warnings about the model are errors: declared types that "
                    "its values do not have, attributes that are ignored, "
                    "opsets that are not known"),
           cl::cat(modelCategory));
static cl::opt<std::string>
    functionName("function",
                 cl::desc("The function of a text form that has several"),
                 cl::value_desc("name"), cl::cat(modelCategory));

llvm::StringRef glowish::getFunctionName() { return functionName; }

llvm::Error glowish::readNumbers(llvm::StringRef option,
                                 llvm::ArrayRef<std::string> texts,
                                 std::map<std::string, int64_t> &numbers) {
  for (llvm::StringRef text : texts) {
    auto [name, value] = text.rsplit(',');
    int64_t number = 0;
    if (name.empty() || value.trim().getAsInteger(10, number) || number < 0)
      return makeError("-{0}={1}: the form is name,value with a value of at "
                       "least 0",
                       option, text);
    numbers[name.trim().str()] = number;
  }
  return llvm::Error::success();
}

/// -onnx-define-symbol: what has one value or a range alone, and what has
/// several programs.
static llvm::Error readSymbols(ImportOptions &options,
                               std::vector<SymbolValues> &several) {
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
static llvm::Error readStates(ImportOptions &options) {
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
static llvm::Error checkEffect(llvm::StringRef path, bool isText) {
  if (!isText) {
    const ModelFormat &format = getModelFormat(path);
    if (!format.hasSymbols && !symbols.empty())
      return makeError("-onnx-define-symbol={0}: '{1}' is a {2} model, which "
                       "has no symbolic dimensions; -model-input states the "
                       "types of its inputs",
                       symbols.front(), path, format.name);
    if (!format.hasVariants && !states.empty())
      return makeError("-state={0}: '{1}' is a {2} model; accepted: ONNX "
                       "models",
                       states.front(), path, format.name);
    return llvm::Error::success();
  }
  // Lists have an operator& of their own.
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           std::addressof(modelInputs), std::addressof(constantInputs),
           std::addressof(symbols), std::addressof(states), &maxTripCount,
           std::addressof(maxExtents)})
    if (option->getNumOccurrences())
      return makeError("-{0}: '{1}' is a text form, which states all types",
                       option->ArgStr, path);
  return llvm::Error::success();
}

llvm::Expected<ImportOptions>
glowish::getImportFlags(llvm::StringRef path, bool isText,
                        std::vector<SymbolValues> &several) {
  GLOWISH_RETURN_IF_ERROR(checkEffect(path, isText));
  ImportOptions options;
  options.warn = [](llvm::StringRef line) {
    llvm::errs() << "warning: " << line << "\n";
  };
  options.isStrict = strict;
  options.maxTripCount = maxTripCount;
  GLOWISH_RETURN_IF_ERROR(readSymbols(options, several));
  GLOWISH_RETURN_IF_ERROR(readStates(options));
  GLOWISH_RETURN_IF_ERROR(
      readNumbers("max-extent", maxExtents, options.maxExtents));
  GLOWISH_RETURN_IF_ERROR(readInputTypes(modelInputs, options));
  GLOWISH_RETURN_IF_ERROR(readConstantInputs(constantInputs, options));
  GLOWISH_ASSIGN_OR_RETURN(options.tflite, readTFLiteFlags(path));
  GLOWISH_ASSIGN_OR_RETURN(options.operators, readOperatorFlags());
  return options;
}

llvm::Error glowish::refuseSeveral(llvm::ArrayRef<SymbolValues> several) {
  if (several.empty())
    return llvm::Error::success();
  return makeError("-onnx-define-symbol: '{0}' has several values; accepted: "
                   "one",
                   several.front().name);
}

//===- External.cpp - Calls of functions outside the module ---------------===//

#include "MLIR/Writer.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

static std::string quoteText(llvm::StringRef text) {
  std::string quoted;
  llvm::raw_string_ostream os(quoted);
  os << '"';
  llvm::printEscapedString(text, os);
  os << '"';
  return quoted;
}

static std::string format(int64_t number) {
  return std::to_string(number) + " : i64";
}
static std::string format(double number) {
  return formatLiteral(ElemKind::Double, number) + " : f64";
}
static std::string format(const std::string &text) { return quoteText(text); }

/// Returns "n = 3 : i64, f = [0.5 : f64]": the attributes of the operator.
static std::string formatValues(const NamedValues &values) {
  std::vector<std::string> all;
  for (const NamedValue &value : values) {
    std::string content =
        visitElements(value.content, [](auto elements, bool isList) {
          std::vector<std::string> texts;
          for (const auto &element : elements)
            texts.push_back(format(element));
          std::string joined = llvm::join(texts, ", ");
          return isList ? "[" + joined + "]" : joined;
        });
    all.push_back(quoteText(value.name) + " = " + content);
  }
  return llvm::join(all, ", ");
}

/// Returns the types as those of main's arguments: MLIR's don't tell all kinds
/// from each other.
static std::string formatKinds(llvm::ArrayRef<Type> types, TextStyle style) {
  std::vector<std::string> texts;
  for (const Type &type : types)
    texts.push_back(
        getTensorType(getStoredType(type), style) +
        " {glowish.kind = " + quoteText(getElemKindName(type.getKind())) + "}");
  return llvm::join(texts, ", ");
}

/// A call of a declaration that has all that ExternalCall has: the function
/// in C is called with a structure, not with tensors.
static void writeExternalCall(MlirWriter &w, const ExternalCallNode &node) {
  TextStyle style = getTextStyle(w.getDialect());
  MlirValues inputs;
  std::vector<Type> types;
  for (NodeValue input : node.getInputs()) {
    inputs.push_back(w.get(input));
    types.push_back(input.getType());
  }
  llvm::ArrayRef<Type> results = node.getResultTypes();
  std::string attributes =
      "glowish.operator = " + quoteText(node.getOperatorName()) +
      ", glowish.function = " + quoteText(node.getFunction());
  if (!node.getValues().empty())
    attributes += ", glowish.values = {" + formatValues(node.getValues()) + "}";
  if (!node.getAbsent().empty())
    attributes += ", glowish.absent = " + formatArray(node.getAbsent());
  std::string symbol = w.declareFunction(
      node.getFunction(), "(" + formatKinds(types, style) + ") -> (" +
                              formatKinds(results, style) + ") attributes {" +
                              attributes + "}");
  std::vector<std::string> names;
  std::vector<Type> stored;
  for (const MlirValue &input : inputs)
    names.push_back(input.name);
  for (const Type &type : results)
    stored.push_back(getStoredType(type));
  w.setResults(node,
               w.beginOp(stored, "func.call @" + symbol + "(" +
                                     llvm::join(names, ", ") + ") : (" +
                                     getTensorTypes(types, style) + ") -> (" +
                                     getTensorTypes(stored, style) + ")"));
}

static const MlirForm externalCall = writeExternalCall;

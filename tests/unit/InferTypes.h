//===- InferTypes.h - Type rules applied to text ----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_INFERTYPES_H
#define GLOWISH_TESTS_UNIT_INFERTYPES_H

#include "glowish/Graph/Module.h"
#include "glowish/IR/IR.h"
#include "glowish/Ops/ExtentRules.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace glowish {

/// What stands in the text of an operator: as in the text forms, with types
/// for values, `Add(float<3>, float<1>)`; an instruction has the types of its
/// @out operands behind an arrow.
struct ParsedOp {
  /// Empty where there is only an instruction of this name.
  std::optional<NodeKind> node;
  const OpInfo *info = nullptr;
  std::vector<std::optional<Type>> inputs;
  std::vector<Type> outputs;
  std::vector<AttrValue> attrs;
};

inline llvm::Expected<ParsedOp> parseOp(llvm::StringRef text) {
  TextParser parser(text, "test", nullptr);
  ParsedOp op;
  GLOWISH_ASSIGN_OR_RETURN(std::string name,
                           parser.parseIdentifier("an operator"));
  GLOWISH_RETURN_IF_ERROR(parser.expect("("));
  while (!parser.consumeIf(")")) {
    if (parser.consumeIf("none")) {
      op.inputs.push_back(std::nullopt);
    } else {
      GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseType());
      op.inputs.push_back(std::move(type));
    }
    parser.consumeIf(",");
  }
  bool isInstr = text.contains("->");
  op.node = findNodeKind(name);
  std::optional<InstrKind> instr = findInstrKind(name);
  if (!(isInstr ? instr.has_value() : op.node.has_value()))
    return makeError("no operator {0}", name);
  op.info = isInstr ? &getInstrInfo(*instr) : &getNodeInfo(*op.node);
  GLOWISH_ASSIGN_OR_RETURN(op.attrs, parser.parseAttrs(*op.info));
  if (parser.consumeIf("->")) {
    do {
      GLOWISH_ASSIGN_OR_RETURN(Type type, parser.parseType());
      op.outputs.push_back(std::move(type));
    } while (parser.consumeIf(","));
  }
  GLOWISH_RETURN_IF_ERROR(parser.expectEnd());
  return op;
}

/// Creates the node that \p op describes. \p makeOperand makes the operand with
/// a number, of a type; those that are none stay absent.
inline llvm::Expected<Node *>
createNode(Function &function, const ParsedOp &op,
           llvm::function_ref<NodeValue(unsigned, const Type &)> makeOperand) {
  NodeDraft draft{*op.node, {}, op.attrs};
  for (auto [i, type] : llvm::enumerate(op.inputs))
    draft.operands.push_back(type ? makeOperand(unsigned(i), *type)
                                  : NodeValue());
  return function.tryCreate("node", std::move(draft));
}

inline std::string printTypes(llvm::ArrayRef<Type> types) {
  return llvm::join(
      llvm::map_range(types, [](const Type &type) { return type.str(); }),
      ", ");
}

inline llvm::Expected<std::string> inferOrFail(llvm::StringRef text) {
  GLOWISH_ASSIGN_OR_RETURN(ParsedOp op, parseOp(text));
  llvm::SmallVector<bool> present(op.outputs.size(), true);
  std::vector<const Type *> inputs, outputs;
  for (const std::optional<Type> &type : op.inputs) {
    inputs.push_back(type ? &*type : nullptr);
    present.push_back(type.has_value());
  }
  for (const Type &type : op.outputs)
    outputs.push_back(&type);
  GLOWISH_RETURN_IF_ERROR(checkStructure(*op.info, present, op.attrs));
  GLOWISH_ASSIGN_OR_RETURN(
      TypeList types,
      op.info->inferTypes(OpView(*op.info, inputs, outputs, op.attrs)));
  return printTypes(types);
}

/// The types of the results, or the message of the error.
inline std::string infer(const llvm::Twine &text) {
  llvm::Expected<std::string> result = inferOrFail(text.str());
  return result ? *result : llvm::toString(result.takeError());
}

/// The types of the results of a node with extents, and what they require.
struct Inferred {
  TypeList types;
  std::vector<ExtentRequirement> requirements;
};

/// Infers the types with their extents; \p text is that of a node.
inline llvm::Expected<Inferred> inferWithExtents(llvm::StringRef text,
                                                 const SymbolRanges &symbols) {
  GLOWISH_ASSIGN_OR_RETURN(ParsedOp op, parseOp(text));
  llvm::SmallVector<bool> present;
  std::vector<const Type *> inputs;
  for (const std::optional<Type> &type : op.inputs) {
    inputs.push_back(type ? &*type : nullptr);
    present.push_back(type.has_value());
  }
  GLOWISH_RETURN_IF_ERROR(checkStructure(*op.info, present, op.attrs));
  Inferred result;
  GLOWISH_ASSIGN_OR_RETURN(result.types,
                           inferTypes(OpView(*op.info, inputs, {}, op.attrs),
                                      symbols, result.requirements));
  return result;
}

#define EXPECT_TYPE(TEXT, TYPE) EXPECT_EQ(infer(TEXT), TYPE)

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_INFERTYPES_H

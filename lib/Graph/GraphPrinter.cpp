//===- GraphPrinter.cpp - Printing the graph's text form ------------------===//

#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Ops/TextForm.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

static void printValue(llvm::raw_ostream &os, NodeValue value) {
  if (!value) {
    os << "none";
    return;
  }
  printName(os, value.node->getName());
  if (value.node->getNumResults() > 1)
    os << ':' << value.result;
}

void glowish::printNode(llvm::raw_ostream &os, const Node &node) {
  if (node.getNumResults()) {
    printName(os, node.getName());
    if (node.getNumResults() > 1)
      os << ':' << node.getNumResults();
    os << " = ";
  }
  os << node.getKindName() << '(';
  llvm::ListSeparator comma;
  for (NodeValue value : node.getOperands()) {
    os << comma;
    printValue(os, value);
  }
  os << ')';
  if (node.hasPredicate()) {
    os << " if (";
    printValue(os, node.getPredicate());
    os << ')';
  }
  // Inputs of an epilogue: the element itself and the variadic operands.
  unsigned numInputs = node.getNumOperands() + 2 -
                       std::min<unsigned>(node.getNumOperands() + 2,
                                          node.getInfo().operands.size());
  printAttrs(os, node.getInfo(), node.getAttrs(), numInputs);
  if (node.getNumResults()) {
    os << " : ";
    llvm::interleaveComma(node.getTypes(), os);
  }
}

static void printPlaceholder(llvm::raw_ostream &os,
                             const Placeholder &placeholder) {
  os << "placeholder ";
  printName(os, placeholder.getName());
  os << " : " << placeholder.getType();
  if (placeholder.isInput())
    os << " input";
  if (placeholder.isOutput())
    os << " output";
  os << ' ';
  printQuoted(os, placeholder.getModelName());
  os << '\n';
}

void glowish::printModule(llvm::raw_ostream &os, const Module &module,
                          llvm::raw_ostream *sideFile) {
  ConstantWriter writer(sideFile);
  os << "module ";
  printQuoted(os, module.getName());
  os << '\n';
  for (const auto &placeholder : module.getPlaceholders())
    printPlaceholder(os, *placeholder);
  for (const Node &node : module.getConstants()) {
    os << "constant ";
    printName(os, node.getName());
    os << " : " << node.getType() << " = ";
    writer.print(os, llvm::cast<Constant>(node).getTensor());
    os << '\n';
  }
  for (const auto &function : module.getFunctions()) {
    os << "function ";
    printQuoted(os, function->getName());
    os << " {\n";
    for (const Node &node : function->getNodes()) {
      os << "  ";
      printNode(os, node);
      os << '\n';
    }
    os << "}\n";
  }
}

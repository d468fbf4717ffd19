//===- GraphPrinter.cpp - Print the text form of the graph ----------------===//

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

static void printStorage(llvm::raw_ostream &os,
                         const Function::PlaceholderList &placeholders) {
  os << '(';
  llvm::interleaveComma(placeholders, os, [&](const auto &placeholder) {
    printName(os, placeholder->getName());
    os << " : " << placeholder->getType();
  });
  os << ')';
}

/// Prints \p node, which starts at column \p indent.
static void printNodeAt(llvm::raw_ostream &os, const Node &node,
                        unsigned indent);

static void printNodes(llvm::raw_ostream &os, const Function &function,
                       unsigned indent) {
  os << "{\n";
  for (const Node &node : function.getNodes()) {
    os.indent(indent + 2);
    printNodeAt(os, node, indent + 2);
    os << '\n';
  }
  os.indent(indent) << '}';
}

static void printBody(llvm::raw_ostream &os, const Function &function,
                      unsigned indent) {
  os << "body ";
  printQuoted(os, function.getName());
  os << ' ';
  printStorage(os, function.getParameters());
  os << " -> ";
  printStorage(os, function.getResults());
  os << ' ';
  printNodes(os, function, indent);
}

void glowish::printNode(llvm::raw_ostream &os, const Node &node) {
  printNodeAt(os, node, /*indent=*/0);
}

static void printNodeAt(llvm::raw_ostream &os, const Node &node,
                        unsigned indent) {
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
  printAttrs(os, node.getInfo(), node.getAttrs(), /*numInputs=*/0,
             [&](const Body &body) {
               printBody(os,
                         static_cast<const FunctionBody &>(body).getFunction(),
                         indent);
             });
  if (NodeValue predicate = node.getPredicate()) {
    os << " predicate(";
    printValue(os, predicate);
    os << ')';
  }
  if (node.getNumResults()) {
    os << " : ";
    llvm::interleaveComma(node.getTypes(), os);
  }
}

void glowish::printModule(llvm::raw_ostream &os, const Module &module,
                          llvm::raw_ostream *sideFile) {
  ConstantWriter writer(sideFile);
  os << "module ";
  printQuoted(os, module.getName());
  os << '\n';
  for (const auto &placeholder : module.getPlaceholders()) {
    os << "placeholder ";
    printStored(os, *placeholder);
    os << '\n';
  }
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
    os << ' ';
    printNodes(os, *function, /*indent=*/0);
    os << '\n';
  }
}

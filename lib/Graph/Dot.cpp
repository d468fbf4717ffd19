//===- Dot.cpp - Graphviz export ------------------------------------------===//

#include "glowish/Graph/Dot.h"
#include "glowish/Ops/TextForm.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/GraphWriter.h"

using namespace glowish;

namespace {

/// Numbers nodes in the order of their first occurrence.
class DotPrinter {
public:
  DotPrinter(llvm::raw_ostream &os) : os(os) {}

  void printNode(const Node &node) {
    std::string label;
    llvm::raw_string_ostream text(label);
    text << node.getKindName() << "\n" << node.getName();
    for (const Type &type : node.getTypes())
      text << "\n" << type;
    printAttrs(text, node.getInfo(), node.getAttrs(), /*numInputs=*/0);
    os << "  n" << getId(node) << " [shape="
       << (llvm::isa<Placeholder, Constant>(&node) ? "ellipse" : "box")
       << ", label=\"" << llvm::DOT::EscapeString(label) << "\"];\n";
  }

  void printEdges(const Node &node) {
    for (unsigned i = 0; i < node.getNumOperands(); ++i)
      if (NodeValue value = node.getOperand(i)) {
        if (llvm::isa<Placeholder, Constant>(value.node) &&
            !ids.count(value.node))
          printNode(*value.node);
        os << "  n" << getId(*value.node) << " -> n" << getId(node)
           << " [label=\"" << node.getOperandName(i) << "\"];\n";
      }
  }

private:
  unsigned getId(const Node &node) {
    return ids.try_emplace(&node, ids.size()).first->second;
  }
  llvm::raw_ostream &os;
  llvm::DenseMap<const Node *, unsigned> ids;
};

} // namespace

void glowish::printDot(llvm::raw_ostream &os, const Function &function) {
  os << "digraph \"" << llvm::DOT::EscapeString(function.getName().str())
     << "\" {\n  node [fontname=\"Helvetica\"];\n";
  DotPrinter printer(os);
  for (const Node &node : function.getNodes()) {
    printer.printNode(node);
    printer.printEdges(node);
  }
  os << "}\n";
}

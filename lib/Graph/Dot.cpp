//===- Dot.cpp - Graphviz export ------------------------------------------===//

#include "glowish/Graph/Dot.h"
#include "glowish/Ops/TextForm.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/GraphWriter.h"

using namespace glowish;

namespace {

/// Numbers nodes and clusters in the order in which they are printed. Edges
/// come after all nodes: Graphviz puts both ends of an edge into the cluster
/// that it is in.
class DotPrinter {
public:
  DotPrinter(llvm::raw_ostream &os) : os(os), edgeStream(edges) {}

  void print(const Function &function) {
    os << "digraph \"" << escape(function.getName())
       << "\" {\n  compound=true;\n  node [fontname=\"Helvetica\"];\n";
    printStorage(function);
    printNodes(function);
    os << edgeStream.str() << "}\n";
  }

private:
  static std::string escape(llvm::StringRef text) {
    return llvm::DOT::EscapeString(text.str());
  }
  llvm::raw_ostream &indent() { return os.indent(2 * (depth + 1)); }

  void printNode(const Node &node);
  void printStorage(const Function &function);
  void printNodes(const Function &function);
  void addEdges(const Node &node);
  void printBodies(const Node &node);
  void printBody(const Node &node, llvm::StringRef attribute,
                 const Function &body);

  llvm::raw_ostream &os;
  std::string edges;
  llvm::raw_string_ostream edgeStream;
  unsigned depth = 0, numClusters = 0;
  llvm::DenseMap<const Node *, unsigned> ids;
};

} // namespace

void DotPrinter::printNode(const Node &node) {
  std::string label;
  llvm::raw_string_ostream text(label);
  text << node.getKindName() << "\n" << node.getName();
  for (const Type &type : node.getTypes())
    text << "\n" << type;
  printAttrs(text, node.getInfo(), node.getAttrs(), /*numInputs=*/0);
  unsigned id = ids.try_emplace(&node, ids.size()).first->second;
  indent() << "n" << id << " [shape="
           << (llvm::isa<Placeholder, Constant>(&node) ? "ellipse" : "box")
           << ", label=\"" << escape(label) << "\"];\n";
}

/// Prints what \p function and its bodies read of the module, or save to it.
void DotPrinter::printStorage(const Function &function) {
  for (const Node &node : function.getNodes()) {
    for (NodeValue value : node.getReads()) {
      if (!value || !llvm::isa<Placeholder, Constant>(value.node))
        continue;
      auto *placeholder = value.getNodeAs<Placeholder>();
      if (!(placeholder && placeholder->getOwner()) && !ids.count(value.node))
        printNode(*value.node);
    }
    for (const Function *body : getBodies(node))
      printStorage(*body);
  }
}

void DotPrinter::printNodes(const Function &function) {
  for (const Node &node : function.getNodes()) {
    printNode(node);
    addEdges(node);
    printBodies(node);
  }
}

void DotPrinter::addEdges(const Node &node) {
  for (unsigned i = 0; i < node.getNumOperands(); ++i)
    if (NodeValue value = node.getOperand(i))
      edgeStream << "  n" << ids.at(value.node) << " -> n" << ids.at(&node)
                 << " [label=\"" << node.getOperandName(i) << "\"];\n";
  if (NodeValue predicate = node.getPredicate())
    edgeStream << "  n" << ids.at(predicate.node) << " -> n" << ids.at(&node)
               << " [label=\"predicate\", style=dotted];\n";
}

void DotPrinter::printBodies(const Node &node) {
  for (const auto &[attr, value] :
       llvm::zip_equal(node.getInfo().attrs, node.getAttrs()))
    if (auto *body = std::get_if<std::shared_ptr<Body>>(&value))
      printBody(node, attr.name, getFunction(*body));
}

void DotPrinter::printBody(const Node &node, llvm::StringRef attribute,
                           const Function &body) {
  unsigned cluster = numClusters++;
  indent() << "subgraph cluster_" << cluster << " {\n";
  ++depth;
  indent() << "label=\"" << attribute << " " << escape(body.getName())
           << "\";\n";
  for (const auto *list : {&body.getParameters(), &body.getResults()})
    for (const auto &placeholder : *list)
      printNode(*placeholder);
  printNodes(body);
  --depth;
  indent() << "}\n";
  // An edge ends at a node, which lhead cuts at the border of the cluster.
  if (!body.getResults().empty())
    edgeStream << "  n" << ids.at(&node) << " -> n"
               << ids.at(body.getResults().front().get())
               << " [style=dashed, lhead=cluster_" << cluster << "];\n";
}

void glowish::printDot(llvm::raw_ostream &os, const Function &function) {
  DotPrinter(os).print(function);
}

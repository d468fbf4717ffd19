//===- GraphTree.cpp - Collapsible tree of a graph ------------------------===//

#include "GraphTree.h"
#include "Html.h"
#include "glowish/Ops/TextForm.h"

using namespace glowish;

namespace {

/// A node, and the groups that it is in, from the outermost on.
struct Entry {
  const Node *node;
  llvm::SmallVector<llvm::StringRef, 4> groups;
};

class TreePrinter {
public:
  TreePrinter(llvm::raw_ostream &os, llvm::StringRef prefix)
      : os(os), prefix(prefix) {}
  void print(const Function &function);

private:
  using Entries = llvm::ArrayRef<Entry>;
  std::string getId(const Node &node);
  void beginGroup(llvm::StringRef name, size_t count);
  void endGroup() {
    os << "</details>\n";
    --depth;
  }
  void printEntries(Entries entries, size_t level);
  void printLeaves(Entries entries);
  void printNode(const Node &node);
  void printOperand(NodeValue value);

  llvm::raw_ostream &os;
  llvm::StringRef prefix;
  llvm::DenseMap<const Node *, unsigned> numbers;
  /// Of groups that are not closed.
  unsigned depth = 0;
};

} // namespace

/// The maximum nesting of groups; deeper ones are merged, as names may be
/// malformed.
static constexpr size_t mostLevels = 8;
/// Nodes side by side without a group: so many at once.
static constexpr size_t leavesPerGroup = 50;

static llvm::SmallVector<llvm::StringRef, 4> getGroups(llvm::StringRef name) {
  char separator = name.contains('/') ? '/' : '.';
  llvm::SmallVector<llvm::StringRef, 4> groups;
  name.split(groups, separator, mostLevels, /*KeepEmpty=*/false);
  if (!groups.empty())
    groups.pop_back();
  return groups;
}

void glowish::printAttrCode(llvm::raw_ostream &os, const OpInfo &info,
                            llvm::ArrayRef<AttrValue> attrs,
                            unsigned numInputs) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printAttrs(stream, info, attrs, numInputs);
  if (text.empty())
    return;
  os << ' ';
  printElement(os, "code", "", llvm::StringRef(text).ltrim());
}

std::string TreePrinter::getId(const Node &node) {
  unsigned number = numbers.try_emplace(&node, numbers.size()).first->second;
  return (prefix + "n" + llvm::Twine(number)).str();
}

void TreePrinter::printOperand(NodeValue value) {
  if (!value) {
    os << "none";
    return;
  }
  std::string name = value.node->getName().str();
  if (value.node->getNumResults() > 1)
    name += ":" + std::to_string(value.result);
  if (value.node->getParent()) {
    printLink(os, getId(*value.node), name);
    return;
  }
  printElement(os, "i", llvm::isa<Constant>(value.node) ? "constant" : "",
               name);
  os << ' ';
  printElement(os, "span", "type", value.getType().str());
}

void TreePrinter::printNode(const Node &node) {
  os << "<div class=\"item node\" id=\"" << getId(node) << "\"><b>"
     << node.getKindName() << "</b> ";
  printEscaped(os, node.getName());
  for (const Type &type : node.getTypes()) {
    os << ' ';
    printElement(os, "span", "type", type.str());
  }
  os << "<div class=\"operands\">";
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    os << (i ? ", " : "← ");
    printOperand(node.getOperand(i));
  }
  if (NodeValue predicate = node.getPredicate()) {
    os << ", predicate ";
    printOperand(predicate);
  }
  printAttrCode(os, node.getInfo(), node.getAttrs(), /*numInputs=*/0);
  os << "</div></div>\n";
  for (const Function *body : getBodies(node)) {
    beginGroup(("body " + body->getName()).str(), body->getNodes().size());
    print(*body);
    endGroup();
  }
}

void TreePrinter::beginGroup(llvm::StringRef name, size_t count) {
  // The outermost are folded: at first the page shows what there is.
  os << "<details class=\"group\"" << (depth++ ? " open" : "") << "><summary>";
  printEscaped(os, name);
  os << " <span class=\"count\">" << count << (count == 1 ? " node" : " nodes")
     << "</span></summary>\n";
}

/// Nodes that are in no further group.
void TreePrinter::printLeaves(Entries entries) {
  bool isLong = entries.size() > 2 * leavesPerGroup;
  size_t step = isLong ? leavesPerGroup : std::max<size_t>(1, entries.size());
  for (size_t i = 0; i < entries.size(); i += step) {
    Entries some = entries.slice(i, std::min(step, entries.size() - i));
    if (isLong)
      beginGroup((some.front().node->getName() + " …").str(), some.size());
    for (const Entry &entry : some)
      printNode(*entry.node);
    if (isLong)
      endGroup();
  }
}

/// \p entries are in the same groups but for those from \p level on.
void TreePrinter::printEntries(Entries entries, size_t level) {
  auto isLeaf = [level](const Entry &entry) {
    return entry.groups.size() <= level;
  };
  while (!entries.empty()) {
    const Entry &first = entries.front();
    Entries same = entries.take_while([&](const Entry &entry) {
      return isLeaf(first)
                 ? isLeaf(entry)
                 : !isLeaf(entry) && entry.groups[level] == first.groups[level];
    });
    entries = entries.drop_front(same.size());
    if (isLeaf(first) || same.size() == 1) {
      printLeaves(same);
      continue;
    }
    beginGroup(first.groups[level], same.size());
    printEntries(same, level + 1);
    endGroup();
  }
}

void TreePrinter::print(const Function &function) {
  std::vector<Entry> entries;
  for (const Node &node : function.getNodes())
    entries.push_back({&node, getGroups(node.getName())});
  printEntries(entries, /*level=*/0);
}

void glowish::printGraphTree(llvm::raw_ostream &os, const Function &function,
                             llvm::StringRef prefix) {
  TreePrinter(os, prefix).print(function);
}

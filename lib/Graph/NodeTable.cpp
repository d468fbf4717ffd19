//===- NodeTable.cpp - Table of node records ------------------------------===//

#include "NodeFactory.h"
#include "glowish/Ops/ExtentRules.h"
#include "glowish/Support/Error.h"

using namespace glowish;

#define GET_NODE_ARRAYS
#include "glowish/Graph/NodeTable.inc"

static llvm::Expected<TypeList> refuseStorage(const OpView &op) {
  return makeError("{0} is storage, not an operator", op.getInfo().name);
}

static const OpInfo nodeTable[] = {
    {.name = "Placeholder",
     .summary = "Storage of the application",
     .inferTypes = refuseStorage},
    {.name = "Constant",
     .summary = "A tensor known at compile time",
     .inferTypes = refuseStorage},
#define GET_NODE_TABLE
#include "glowish/Graph/NodeTable.inc"
};

llvm::ArrayRef<OpInfo> glowish::getNodeTable() { return nodeTable; }

const OpInfo &glowish::getNodeInfo(NodeKind kind) {
  return nodeTable[unsigned(kind)];
}

std::optional<NodeKind> glowish::findNodeKind(llvm::StringRef name) {
  static const llvm::StringMap<NodeKind> kinds = [] {
    llvm::StringMap<NodeKind> map;
#define NODE(NAME) map[#NAME] = NodeKind::NAME;
#define GET_NODE_LIST
#include "glowish/Graph/NodeKinds.inc"
    return map;
  }();
  auto found = kinds.find(name);
  if (found == kinds.end())
    return std::nullopt;
  return found->second;
}

Node *glowish::makeNode(NodeDraft draft, llvm::StringRef name, TypeList types) {
  switch (draft.kind) {
#define NODE(NAME)                                                             \
  case NodeKind::NAME:                                                         \
    return new NAME##Node(std::move(draft), name, std::move(types));
#define GET_NODE_LIST
#include "glowish/Graph/NodeKinds.inc"
  case NodeKind::Placeholder:
  case NodeKind::Constant:
    break;
  }
  llvm_unreachable("storage is made by its Module");
}

//===- ReadNames.cpp - Names used by a node -------------------------------===//

#include "ONNX/ReadNames.h"
#include "ONNX/GraphScope.h"
#include "llvm/ADT/StringSet.h"

using namespace glowish;
using namespace glowish::onnximport;

llvm::SmallVector<const onnx::GraphProto *, 2>
onnximport::getGraphs(const onnx::NodeProto &proto) {
  llvm::SmallVector<const onnx::GraphProto *, 2> graphs;
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.has_g())
      graphs.push_back(&attribute.g());
  return graphs;
}

/// Returns the distinct names that \p graph uses but does not define.
static std::vector<llvm::StringRef>
getFreeNames(const onnx::GraphProto &graph) {
  llvm::StringSet<> known;
  for (const auto &input : graph.input())
    known.insert(input.name());
  for (const auto &tensor : graph.initializer())
    known.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    known.insert(tensor.values().name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &name : node.output())
      known.insert(name);
  std::vector<llvm::StringRef> names;
  auto read = [&](llvm::StringRef name) {
    if (!name.empty() && known.insert(name).second)
      names.push_back(name);
  };
  for (const onnx::NodeProto &node : graph.node())
    for (llvm::StringRef name : getReadNames(node))
      read(name);
  for (const auto &output : graph.output())
    read(output.name());
  return names;
}

std::vector<llvm::StringRef>
onnximport::getReadNames(const onnx::NodeProto &proto) {
  std::vector<llvm::StringRef> names;
  for (const std::string &name : proto.input())
    if (!name.empty())
      names.push_back(name);
  for (const onnx::GraphProto *graph : getGraphs(proto))
    for (llvm::StringRef name : getFreeNames(*graph))
      names.push_back(name);
  return names;
}

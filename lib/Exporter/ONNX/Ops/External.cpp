//===- External.cpp - Export of external operators ------------------------===//

#include "ONNX/GraphWriter.h"
#include "glowish/Plugin/ExternalFunction.h"

using namespace glowish;
using onnx::AttributeProto;

static AttributeProto makeAttr(const NamedValue &value) {
  AttributeProto attr;
  attr.set_name(value.name);
  std::visit(
      [&](const auto &content) {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          attr = intAttr(value.name, content);
        } else if constexpr (std::is_same_v<T, double>) {
          attr = floatAttr(value.name, content);
        } else if constexpr (std::is_same_v<T, std::string>) {
          attr = stringAttr(value.name, content);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          attr = intsAttr(value.name, content);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          attr.set_type(AttributeProto::FLOATS);
          for (double element : content)
            attr.add_floats(float(element));
        } else {
          attr.set_type(AttributeProto::STRINGS);
          for (const std::string &element : content)
            attr.add_strings(element);
        }
      },
      value.content);
  return attr;
}

static void exportExternalCall(GraphWriter &w, const ExternalCallNode &node) {
  std::vector<OnnxValue> inputs;
  for (NodeValue input : insertAbsent(node.getInputs(), node.getAbsent()))
    inputs.push_back(w.get(input));
  OnnxAttrs attrs;
  for (const NamedValue &value : node.getValues())
    attrs.push_back(makeAttr(value));
  auto [domain, name] = node.getOperatorName().rsplit(':');
  w.writeAs(node, name, inputs, std::move(attrs), domain);
}
static const NodeExporter externalCall = exportExternalCall;

static const NodeRefusal allReduce(NodeKind::AllReduce,
                                   "ONNX has no groups of processes");

//===- CheckOperators.cpp - Check for unsupported operators ---------------===//

#include "Common/External.h"
#include "ONNX/GraphScope.h"
#include "ONNX/ModelFile.h"

using namespace glowish;
using namespace glowish::onnximport;

std::string onnximport::describe(const onnx::NodeProto &proto) {
  llvm::StringRef name = proto.name();
  if (name.empty() && proto.output_size())
    name = proto.output(0);
  return describeNode(name, proto.op_type());
}

static void findMissing(const onnx::GraphProto &graph, const NodeOpsets &opsets,
                        const ImportOptions &options,
                        std::vector<std::string> &missing) {
  for (const onnx::NodeProto &node : graph.node()) {
    std::string domain = normalizeDomain(node.domain());
    const RegisteredOperator *found =
        findOnnxOperator(domain, node.op_type(), options);
    const ExternalOperator *external =
        findExternalOperator(options, domain, node.op_type());
    std::string of = domain.empty() ? "" : "domain " + quote(domain) + ", ";
    int version = opsets.get(node).getVersion(domain);
    if (domain.empty() && !opsets.get(node).has(domain))
      missing.push_back(describe(node) +
                        ": opset_import has no version of domain 'ai.onnx'");
    else if (!found)
      missing.push_back(
          llvm::formatv("{0} of {1}opset {2}", describe(node), of, version));
    else if (external && !external->isInOpset(version))
      missing.push_back(llvm::formatv("{0}: the plug-in does not have it in "
                                      "{1}opset {2}",
                                      describe(node), of, version));
    else if (version < found->since)
      missing.push_back(
          llvm::formatv("{0}: supported since opset {1}, the model "
                        "has {2}",
                        describe(node), found->since, version));
    for (const onnx::GraphProto *inner : getGraphs(node))
      findMissing(*inner, opsets, options, missing);
  }
}

llvm::Error onnximport::checkOperators(const onnx::GraphProto &graph,
                                       const NodeOpsets &opsets,
                                       const ImportOptions &options) {
  std::vector<std::string> missing;
  findMissing(graph, opsets, options, missing);
  return refuseOperators(missing);
}

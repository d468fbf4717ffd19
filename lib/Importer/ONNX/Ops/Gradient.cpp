//===- Gradient.cpp - Import of the operator Gradient ---------------------===//
//
// Gradient names values of its graph: y as a function of xs and zs, and has as
// inputs the values of xs and zs at which the derivatives are computed. The
// nodes from these names to y are imported a second time, on the inputs. Where
// the inputs are the values of the names, common subexpression elimination
// merges the copies.
//
//===----------------------------------------------------------------------===//

#include "ONNX/GraphScope.h"
#include "ONNX/OpContext.h"
#include "ONNX/ReadNames.h"
#include "glowish/Autodiff/Gradients.h"
#include "glowish/Importer/OperatorNotes.h"
#include "llvm/ADT/SetVector.h"

using namespace glowish;
using namespace glowish::onnximport;

/// The graph grows by a factor with each order of differentiation.
static constexpr unsigned maxDepth = 8;
static constexpr size_t maxNodes = 1 << 18;

namespace {

/// The nodes that compute one value from others, as a graph. It borrows the
/// nodes, as their addresses identify them.
class GraphPart {
public:
  GraphPart(const GraphScope &scope, const std::vector<std::string> &inputs,
            const std::string &output);
  ~GraphPart() {
    part.mutable_node()->UnsafeArenaExtractSubrange(0, part.node_size(),
                                                    /*elements=*/nullptr);
  }
  GraphPart(const GraphPart &) = delete;
  const onnx::GraphProto &get() const { return part; }

private:
  onnx::GraphProto part;
};

/// The names of the differentiated function.
struct Differentiated {
  std::vector<std::string> xs, inputs;
  std::string y;
};

} // namespace

GraphPart::GraphPart(const GraphScope &scope,
                     const std::vector<std::string> &inputs,
                     const std::string &output) {
  llvm::StringSet<> seen;
  for (const std::string &name : inputs) {
    part.add_input()->set_name(name);
    seen.insert(name);
  }
  part.add_output()->set_name(output);
  llvm::SetVector<const onnx::NodeProto *> nodes;
  std::vector<llvm::StringRef> stack = {output};
  while (!stack.empty()) {
    llvm::StringRef name = stack.back();
    stack.pop_back();
    if (!seen.insert(name).second)
      continue;
    const onnx::NodeProto *producer = scope.findProducer(name);
    if (producer && nodes.insert(producer))
      llvm::append_range(stack, getReadNames(*producer));
  }
  // The graph would own its nodes; they are released in the destructor and not
  // modified.
  for (const onnx::NodeProto *node : nodes)
    part.mutable_node()->UnsafeArenaAddAllocated(
        const_cast<onnx::NodeProto *>(node));
}

static llvm::Expected<Differentiated> readAttributes(OpContext &op) {
  Differentiated names;
  names.xs = op.getStrings("xs");
  std::vector<std::string> zs = op.getStrings("zs");
  names.y = op.getString("y", "");
  names.inputs = names.xs;
  llvm::append_range(names.inputs, zs);
  if (names.xs.empty())
    return makeError("attribute 'xs' is missing or empty");
  if (names.inputs.size() != op.getNumInputs())
    return makeError("there are {0} inputs for {1} names in 'xs' and 'zs'; "
                     "accepted: equal numbers",
                     op.getNumInputs(), names.inputs.size());
  if (!op.getScope().findProducer(names.y) &&
      !llvm::is_contained(names.inputs, names.y))
    return makeError("attribute 'y' is '{0}'; accepted: what a node "
                     "computes",
                     names.y);
  return names;
}

/// Returns the values of xs and zs. Those of xs are wrapped in a node that is
/// not folded, so that differentiation stops there even for constants.
static llvm::Expected<std::vector<NodeValue>>
getInputs(OpContext &op, const Differentiated &names) {
  std::vector<NodeValue> inputs;
  for (unsigned i = 0; i < names.inputs.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, op.getInput(i));
    if (i < names.xs.size()) {
      if (!isFloatKind(value.getElemKind()))
        return op.refuseInput(i, "a float kind");
      GLOWISH_ASSIGN_OR_RETURN(
          auto *same, op.createNode<ReshapeNode>(value, value.getShape()));
      value = same->getResult();
    }
    inputs.push_back(value);
  }
  return inputs;
}

static llvm::Expected<NodeValue> importPart(OpContext &op,
                                            const Differentiated &names,
                                            llvm::ArrayRef<NodeValue> inputs) {
  GraphPart part(op.getScope(), names.inputs, names.y);
  GraphScope scope(part.get(), op.getScope());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> outputs,
                           scope.importInner(inputs));
  return outputs[0];
}

static llvm::Error importGradient(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(Differentiated names, readAttributes(op));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> inputs, getInputs(op, names));
  unsigned &depth = op.getScope().getState().gradientDepth;
  if (depth == maxDepth)
    return makeError("it is of an order above {0}", maxDepth);
  ++depth;
  auto y = importPart(op, names, inputs);
  --depth;
  if (!y)
    return y.takeError();
  if (!isFloatKind(y->getElemKind()))
    return makeError("'{0}' is {1}; accepted: a float kind", names.y,
                     y->getType().str());
  NodeValue ones = op.splat(y->getElemKind(), y->getShape(), 1);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<NodeValue> gradients,
      addGradients(op.getFunction(), {{*y, ones}},
                   llvm::ArrayRef(inputs).take_front(names.xs.size())));
  if (op.getFunction().getNodes().size() > maxNodes)
    return makeError("the function has more than {0} nodes with it", maxNodes);
  for (auto [i, gradient] : llvm::enumerate(gradients))
    if (i < op.getNumOutputs())
      GLOWISH_RETURN_IF_ERROR(op.setOutput(i, gradient));
  return llvm::Error::success();
}
static constexpr llvm::StringLiteral training = "ai.onnx.preview.training";
static OnnxOperator gradientOp("Gradient", 1, importGradient, training);
static OnnxOperatorNotes
    gradientNotes("Gradient", {.limit = "up to the eighth order"}, training);

//===- States.cpp - Outputs that the next run reads -----------------------===//

#include "ONNX/States.h"
#include "ONNX/GraphInputs.h"
#include "glowish/Graph/StatedSums.h"

using namespace glowish;

//===- Names --------------------------------------------------------------===//

/// What '*' stands for in \p pattern if that is \p name: empty if it has none;
/// null if it is another name.
static std::optional<llvm::StringRef> matchName(llvm::StringRef pattern,
                                                llvm::StringRef name) {
  if (!pattern.contains('*'))
    return pattern == name ? std::optional(llvm::StringRef()) : std::nullopt;
  auto [front, back] = pattern.split('*');
  if (name.size() < front.size() + back.size() || !name.consume_front(front) ||
      !name.consume_back(back))
    return std::nullopt;
  return name;
}

static llvm::Error addState(llvm::StringMap<std::string> &states,
                            const std::string &output,
                            const std::string &input) {
  for (const auto &[other, otherInput] : states)
    if (other == output || otherInput == input)
      return makeError("-state: '{0}' and '{1}' are the state of '{2}' and "
                       "'{3}'; accepted: one input for each output",
                       input, otherInput, output, other);
  states[output] = input;
  return llvm::Error::success();
}

llvm::Expected<llvm::StringMap<std::string>>
glowish::matchStates(const onnx::GraphProto &graph,
                     llvm::ArrayRef<StateNames> names) {
  llvm::StringMap<std::string> states;
  llvm::StringSet<> outputs;
  for (const auto &output : graph.output())
    outputs.insert(output.name());
  for (const StateNames &state : names) {
    bool isFound = false;
    for (const onnx::ValueInfoProto *input : getDataInputs(graph)) {
      std::optional<llvm::StringRef> text =
          matchName(state.input, input->name());
      if (!text)
        continue;
      auto [front, back] = llvm::StringRef(state.output).split('*');
      std::string output = (front + *text + back).str();
      if (!outputs.contains(output))
        return makeError(
            "-state={0},{1}: the model has the input '{2}', but no "
            "output '{3}'",
            state.input, state.output, input->name(), output);
      GLOWISH_RETURN_IF_ERROR(addState(states, output, input->name()));
      isFound = true;
    }
    if (!isFound)
      return makeError("-state={0},{1}: the model has no such input",
                       state.input, state.output);
  }
  return states;
}

//===- Placeholders -------------------------------------------------------===//

/// The extents after a run: empty where all of the type's are.
static llvm::Expected<std::vector<std::string>>
describeNext(const Module &module, const Placeholder &input,
             const DynamicValue &value) {
  StatedSums sums(module);
  const std::vector<std::string> &dims = input.getInputExtents().dims;
  std::vector<std::string> next;
  for (unsigned d = 0; d < value.getRank(); ++d) {
    bool isStated = d < dims.size() && !dims[d].empty();
    int64_t extent = value.getShape()[d];
    if (!isStated && !value.isDynamic(d) &&
        extent == input.getType().getDim(d)) {
      next.push_back("");
      continue;
    }
    std::optional<StatedSum> sum =
        value.isDynamic(d) ? sums.find(value.getExtent(d)) : StatedSum{extent};
    if (!isStated || !sum || parseDim(printDim(*sum)) != *sum)
      return makeError(
          "dimension {0} has at most {1} elements, and that of the "
          "input '{2}' {3}; accepted: as many, or numbers that are "
          "sums of symbols with ranges in both",
          d, extent, input.getModelName(), input.getType().getDim(d));
    next.push_back(printDim(*sum));
  }
  bool isAny = llvm::any_of(next, [](auto &dim) { return !dim.empty(); });
  return isAny ? next : std::vector<std::string>();
}

/// Whether \p node gives \p input the type \p type, with further elements
/// behind its own. What these are does not matter.
static bool isGrown(const Node &node, const Type &type) {
  auto *pad = llvm::dyn_cast<PadNode>(&node);
  return pad && pad->getMode() == "constant" && pad->getType() == type &&
         llvm::all_of(pad->getPads().take_front(type.getRank()),
                      [](int64_t before) { return before == 0; });
}

/// Gives \p input the extents \p shape; its readers see what they saw, and so
/// does \p saved, a value that may be one of them.
static void grow(Function &function, Placeholder &input, DimsRef shape,
                 NodeValue &saved) {
  Module &module = function.getModule();
  Type before = input.getType();
  module.makeState(input, shape);
  if (before == input.getType())
    return;
  std::vector<Use *> uses;
  for (Use &use : input.uses())
    uses.push_back(&use);
  NodeValue slice;
  for (Use *use : uses) {
    if (Node *pad = use->getUser(); isGrown(*pad, input.getType())) {
      if (saved.node == pad)
        saved = NodeValue(&input);
      pad->getResult().replaceAllUsesWith(NodeValue(&input));
      function.erase(pad);
      continue;
    }
    if (!slice) {
      InsertionGuard guard(function, &function.getNodes().front());
      Dims zeros(shape.size(), 0), ones(shape.size(), 1);
      slice = function
                  .create<SliceNode>(input.getName(), NodeValue(&input), zeros,
                                     before.getShape(), ones)
                  ->getResult();
    }
    use->set(slice);
  }
}

llvm::Error glowish::makeState(GraphContext &graph, Placeholder &input,
                               DynamicValue value) {
  const Type &type = input.getType(), &own = value.value.getType();
  if (type.withShape({}) != own.withShape({}) ||
      type.getRank() != own.getRank())
    return makeError("it is {0}, and the input '{1}' {2}; accepted: the same "
                     "kind and rank",
                     own.str(), input.getModelName(), type.str());
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<std::string> next,
      describeNext(graph.function.getModule(), input, value));
  Dims shape;
  for (auto [x, y] : llvm::zip_equal(type.getShape(), own.getShape()))
    shape.push_back(std::max(x, y));
  // A pseudo node that owns the nodes of the state.
  onnx::NodeProto proto;
  proto.add_output(input.getName().str());
  OpContext op(proto, graph, {});
  Composer c(op);
  std::vector<int64_t> pads(shape.size(), 0);
  for (auto [extent, larger] : llvm::zip_equal(own.getShape(), shape))
    pads.push_back(larger - extent);
  NodeValue saved = own.getShape() == DimsRef(shape)
                        ? value.value
                        : c.pad(value.value, pads, 0);
  GLOWISH_ASSIGN_OR_RETURN(saved, c.finish(saved));
  grow(graph.function, input, shape, saved);
  InputExtents extents = input.getInputExtents();
  extents.next = std::move(next);
  input.setInputExtents(std::move(extents));
  graph.function.create<SaveNode>(("save_" + input.getName()).str(), saved,
                                  NodeValue(&input));
  return llvm::Error::success();
}

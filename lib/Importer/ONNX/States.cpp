//===- States.cpp - Outputs that the next run reads -----------------------===//

#include "ONNX/States.h"
#include "Common/ExtentFinder.h"
#include "ONNX/GraphInputs.h"

using namespace glowish;
using namespace glowish::onnximport;

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
      return makeError("«state»: '{0}' and '{1}' are the state of '{2}' and "
                       "'{3}'; accepted: one input for each output",
                       input, otherInput, output, other);
  states[output] = input;
  return llvm::Error::success();
}

llvm::Expected<llvm::StringMap<std::string>>
onnximport::matchStates(const onnx::GraphProto &graph,
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
            "«state={0},{1}»: the model has the input '{2}', but no "
            "output '{3}'",
            state.input, state.output, input->name(), output);
      GLOWISH_RETURN_IF_ERROR(addState(states, output, input->name()));
      isFound = true;
    }
    if (!isFound)
      return makeError("«state={0},{1}»: the model has no such input",
                       state.input, state.output);
  }
  return states;
}

//===- Placeholders -------------------------------------------------------===//

/// The extents after a run: empty where all of the type's are.
static llvm::Expected<ExtentList>
findNext(const Module &module, const Placeholder &input, NodeValue value) {
  ExtentList next;
  for (unsigned d = 0; d < value.getShape().size(); ++d) {
    bool isStated = input.getType().getExtent(d) != nullptr;
    int64_t extent = value.getShape()[d];
    if (!isStated && !value.getType().getExtent(d) &&
        extent == input.getType().getDim(d)) {
      next.push_back(std::nullopt);
      continue;
    }
    std::optional<Extent> sum = findStated(module, value.getType(), d);
    if (!isStated || !sum)
      return makeError(
          "dimension {0} has at most {1} elements, and that of the "
          "input '{2}' {3}; accepted: as many, or numbers that are "
          "sums of symbols with ranges in both",
          d, extent, input.getModelName(), input.getType().getDim(d));
    next.push_back(*sum);
  }
  bool isAny = llvm::any_of(next, [](auto &dim) { return dim.has_value(); });
  return isAny ? next : ExtentList();
}

namespace {

/// Lets what reads a value read the corner of another one instead, with further
/// elements behind the value's own; what these are does not matter.
class CornerReaders {
public:
  explicit CornerReaders(Function &function) : function(function) {}

  /// The readers of \p narrow, of type \p type, get \p wide, which may be the
  /// same value with a new type.
  void redirect(NodeValue narrow, const Type &type, NodeValue wide);

private:
  NodeValue makeSlice(NodeValue wide, DimsRef shape);
  bool redirectPad(Node &node, NodeValue wide);
  bool redirectUpdate(Node &node, unsigned index, NodeValue wide);
  bool redirectConcat(Node &node, unsigned index, NodeValue wide);
  bool redirectDeclared(Node &node, NodeValue wide);

  Function &function;
};

} // namespace

/// A slice right behind \p wide.
NodeValue CornerReaders::makeSlice(NodeValue wide, DimsRef shape) {
  // A value has readers behind it.
  Node *next = llvm::isa<Placeholder>(wide.node)
                   ? &function.getNodes().front()
                   : &*std::next(wide.node->getIterator());
  InsertionGuard guard(function, next);
  return sliceCorner(function, wide, shape);
}

/// A pad at the ends gives a larger corner of \p wide, or all of it.
bool CornerReaders::redirectPad(Node &node, NodeValue wide) {
  auto *pad = llvm::dyn_cast<PadNode>(&node);
  DimsRef shape = wide.getShape();
  if (!pad || pad->getMode() != "constant" ||
      llvm::any_of(pad->getPads(), [](int64_t size) { return size < 0; }) ||
      llvm::any_of(pad->getPads().take_front(shape.size()),
                   [](int64_t before) { return before != 0; }))
    return false;
  for (auto [own, whole] : llvm::zip_equal(pad->getType().getShape(), shape))
    if (own > whole)
      return false;
  redirect(pad->getResult(), pad->getType(), wide);
  function.erase(pad);
  return true;
}

/// Elements that are set inside of the corner are set inside of \p wide.
bool CornerReaders::redirectUpdate(Node &node, unsigned index, NodeValue wide) {
  auto *update = llvm::dyn_cast<DynamicUpdateSliceNode>(&node);
  if (!update || index != update->inputIdx)
    return false;
  // The end of the corner must not have moved where it starts.
  const Module &module = function.getModule();
  auto starts = findExtents(module, update->getStart());
  unsigned axis = unsigned(update->getAxis());
  int64_t most = update->getType().getDim(axis) -
                 update->getUpdate().getType().getDim(axis);
  const SymbolRanges &symbols = module.getSymbols();
  if (!starts || symbols.isAtMost(0, starts->front()) != Certainty::Yes ||
      symbols.isAtMost(starts->front(), most) != Certainty::Yes)
    return false;
  InsertionGuard guard(function, update);
  auto *wider = function.create<DynamicUpdateSliceNode>(
      update->getName(), wide, update->getUpdate(), update->getStart(),
      update->getAxis());
  redirect(update->getResult(), update->getType(), wider->getResult());
  function.erase(update);
  return true;
}

/// Returns the most elements that each part of \p concat has in any run; none
/// if one that begins where such a part may begin could end beyond \p bound.
static std::optional<Dims> findPartBounds(const ConcatNode &concat,
                                          const SymbolRanges &symbols,
                                          int64_t bound) {
  unsigned axis = unsigned(concat.getAxis());
  Dims bounds;
  std::optional<Extent> start = Extent(0);
  for (NodeValue input : concat.getInputs()) {
    Extent length = input.getType().getLength(axis);
    std::optional<IntRange> range = symbols.getRange(length);
    int64_t most = input.getType().getDim(axis);
    bounds.push_back(range ? std::min(most, range->high) : most);
    if (symbols.isAtMost(*start, bound - bounds.back()) != Certainty::Yes)
      return std::nullopt;
    start = add(*start, length);
    if (!start)
      return std::nullopt;
  }
  return bounds;
}

/// Elements that are joined behind those of the corner, of which a run decides
/// the number, are set inside of \p wide.
bool CornerReaders::redirectConcat(Node &node, unsigned index, NodeValue wide) {
  auto *concat = llvm::dyn_cast<ConcatNode>(&node);
  if (!concat || index != 0)
    return false;
  auto inputs = concat->getInputs();
  const Type &type = concat->getType();
  unsigned axis = unsigned(concat->getAxis());
  Dims shape(wide.getShape());
  shape[axis] = std::min(shape[axis], type.getDim(axis));
  // A slice that could end beyond the elements would be set before its place.
  std::optional<Dims> bounds = findPartBounds(
      *concat, function.getModule().getSymbols(), wide.getShape()[axis]);
  if (type.getShape() != DimsRef(shape) || !bounds ||
      !inputs.front().getType().getExtent(axis) ||
      llvm::is_contained(llvm::drop_begin(inputs), inputs.front()))
    return false;
  InsertionGuard guard(function, concat);
  NodeBuilder b(function, concat->getName());
  NodeValue joined = b.dropExtents(wide),
            end = b.getLength(inputs.front(), axis);
  for (auto [input, most] :
       llvm::drop_begin(llvm::zip_equal(inputs, *bounds))) {
    NodeValue part = b.slice(b.dropExtents(input), axis, 0, most);
    joined = b.make<DynamicUpdateSliceNode>(joined, part, end, axis);
    end = b.add(end, b.getLength(input, axis));
  }
  joined =
      b.declareExtents(joined, joined.getType().withExtents(type.getExtents()));
  redirect(concat->getResult(), type, llvm::cantFail(b.finish(joined)));
  function.erase(concat);
  return true;
}

/// Replaces \p node, which drops the extents of the corner, by one that drops
/// those of \p wide, and redirects its users.
bool CornerReaders::redirectDeclared(Node &node, NodeValue wide) {
  auto *declared = llvm::dyn_cast<DeclareExtentsNode>(&node);
  if (!declared || declared->getType().hasExtents())
    return false;
  InsertionGuard guard(function, declared);
  auto *wider = function.create<DeclareExtentsNode>(
      declared->getName(), wide, wide.getType().withoutExtents());
  redirect(declared->getResult(), declared->getType(), wider->getResult());
  function.erase(declared);
  return true;
}

void CornerReaders::redirect(NodeValue narrow, const Type &type,
                             NodeValue wide) {
  if (narrow == wide && type == wide.getType())
    return;
  if (type == wide.getType()) {
    narrow.replaceAllUsesWith(wide);
    return;
  }
  std::vector<Use *> uses;
  for (Use &use : narrow.node->uses())
    if (use.get() == narrow)
      uses.push_back(&use);
  NodeValue slice;
  for (Use *use : uses) {
    Node &user = *use->getUser();
    unsigned index = use->getOperandIndex();
    bool isSaved = llvm::isa<SaveNode>(user) && index == SaveNode::outputIdx;
    if (isSaved || redirectDeclared(user, wide) || redirectPad(user, wide) ||
        redirectUpdate(user, index, wide) || redirectConcat(user, index, wide))
      continue;
    if (!slice)
      slice = makeSlice(wide, type.getShape());
    use->set(slice);
  }
}

llvm::Error onnximport::makeState(GraphContext &graph, Placeholder &input,
                                  NodeValue value,
                                  const PlaceholderLayout *layout) {
  const Type type = input.getType(), own = value.getType();
  if (type.withShape({}) != own.withShape({}) ||
      type.getRank() != own.getRank())
    return makeError("it is {0}, and the input '{1}' {2}; accepted: the same "
                     "kind and rank",
                     own.str(), input.getModelName(), type.str());
  Module &module = graph.function.getModule();
  GLOWISH_ASSIGN_OR_RETURN(ExtentList next, findNext(module, input, value));
  Dims shape;
  for (auto [x, y] : llvm::zip_equal(type.getShape(), own.getShape()))
    shape.push_back(std::max(x, y));
  if (layout) {
    GLOWISH_ASSIGN_OR_RETURN(shape,
                             layout->findShape(input.getModelName(), shape));
  }
  // A pseudo node that owns the nodes of the state.
  onnx::NodeProto proto;
  proto.add_output(input.getName().str());
  OpContext op(proto, graph, {});
  GLOWISH_ASSIGN_OR_RETURN(NodeValue saved,
                           op.finish(padTo(op, op.dropExtents(value), shape)));
  module.makeState(input, shape);
  input.setNextExtents(std::move(next));
  graph.function.create<SaveNode>(("save_" + input.getName()).str(), saved,
                                  NodeValue(&input));
  return llvm::Error::success();
}

void onnximport::widenReaders(Function &function, Placeholder &input,
                              const Type &type) {
  CornerReaders(function).redirect(NodeValue(&input), type, NodeValue(&input));
}

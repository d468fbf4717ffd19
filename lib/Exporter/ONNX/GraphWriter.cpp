//===- GraphWriter.cpp - Write nodes to an ONNX graph ---------------------===//

#include "ONNX/GraphWriter.h"
#include "glowish/Base/Permute.h"
#include "glowish/Exporter/ONNX.h"
#include "llvm/ADT/DenseSet.h"

using namespace glowish;

void GraphWriter::fail(const llvm::Twine &what) {
  if (message.empty())
    message = what.str();
}

//===- Values of the function ---------------------------------------------===//

OnnxValue GraphWriter::getStored(NodeValue value) {
  if (!value)
    return {};
  if (auto *constant = value.getNodeAs<Constant>())
    return pool.get(*constant, getLayout(value));
  if (isConstantDequantized(value) || findTransposedWeights(value.node))
    return get(value);
  OnnxValue stored = values.lookup(value).value;
  assert((stored || hasFailed()) && "operands come first");
  return stored;
}

Layout GraphWriter::getLayout(NodeValue value) const {
  auto found = values.find(value);
  if (found == values.end() || found->second.layout.empty())
    return getIdentityLayout(value.getShape().size());
  return found->second.layout;
}

OnnxValue GraphWriter::get(NodeValue value) {
  if (!value)
    return {};
  return get(value, getIdentityLayout(value.getShape().size()));
}

OnnxValue GraphWriter::get(NodeValue value,
                           llvm::ArrayRef<int64_t> permutation) {
  if (auto *constant = value.getNodeAs<Constant>())
    return pool.get(*constant, Layout(permutation));
  if (isConstantDequantized(value))
    return dequantize(*value.node, Layout(permutation));
  if (auto *weights = findTransposedWeights(value.node))
    return dequantize(*weights->getInput().node,
                      compose(Layout(weights->getPermutation()), permutation));
  return transpose(getStored(value), compose(getLayout(value), permutation));
}

OnnxValue GraphWriter::getExpanded(NodeValue value, const Layout &permutation) {
  DimsRef shape = value.getShape();
  if (shape.size() == permutation.size())
    return get(value, permutation);
  if (auto *constant = value.getNodeAs<Constant>())
    return pool.get(*constant, permutation);
  Dims expanded(permutation.size() - shape.size(), 1);
  llvm::append_range(expanded, shape);
  return transpose(reshape(get(value), expanded), permutation);
}

void GraphWriter::set(NodeValue value, OnnxValue written,
                      const Layout &layout) {
  values[value] = {std::move(written), layout};
}

void GraphWriter::setResult(const Node &node, OnnxValue written,
                            const Layout &layout) {
  set(NodeValue(const_cast<Node *>(&node)), std::move(written), layout);
}

//===- Nodes --------------------------------------------------------------===//

OnnxValues GraphWriter::raw(llvm::StringRef type,
                            llvm::ArrayRef<OnnxValue> inputs,
                            llvm::ArrayRef<ElemKind> kinds, OnnxAttrs attrs,
                            llvm::StringRef domain) {
  if (hasFailed())
    return OnnxValues(kinds.size());
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(type.str());
  if (!domain.empty()) {
    node.set_domain(domain.str());
    pool.requireDomain(domain);
  }
  while (!inputs.empty() && !inputs.back())
    inputs = inputs.drop_back();
  for (const OnnxValue &input : inputs)
    node.add_input(input.name);
  OnnxValues results;
  for (ElemKind kind : kinds) {
    results.push_back({pool.takeName(name), kind});
    node.add_output(results.back().name);
    computed.insert(results.back().name);
  }
  node.set_name(node.output(0));
  for (onnx::AttributeProto &attr : attrs)
    *node.add_attribute() = std::move(attr);
  return results;
}

void GraphWriter::writeAs(const Node &node, llvm::StringRef type,
                          llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs,
                          llvm::StringRef domain) {
  llvm::SmallVector<ElemKind, 4> kinds;
  for (const Type &result : node.getTypes())
    kinds.push_back(result.getKind());
  OnnxValues results = raw(type, inputs, kinds, std::move(attrs), domain);
  for (auto [i, result] : llvm::enumerate(results))
    set(NodeValue(const_cast<Node *>(&node), unsigned(i)), result);
}

OnnxValue GraphWriter::op(llvm::StringRef type,
                          llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs) {
  return emit(1, type, inputs, std::nullopt, std::move(attrs))[0];
}

OnnxValue GraphWriter::opOfKind(ElemKind kind, llvm::StringRef type,
                                llvm::ArrayRef<OnnxValue> inputs,
                                OnnxAttrs attrs) {
  return emit(1, type, inputs, kind, std::move(attrs))[0];
}

OnnxValues GraphWriter::ops(unsigned count, llvm::StringRef type,
                            llvm::ArrayRef<OnnxValue> inputs, OnnxAttrs attrs) {
  return emit(count, type, inputs, std::nullopt, std::move(attrs));
}

OnnxValue GraphWriter::cast(OnnxValue x, ElemKind kind) {
  if (x.kind == kind)
    return x;
  return raw("Cast", {x}, {kind}, {intAttr("to", getDataType(kind))})[0];
}

OnnxValue GraphWriter::reshape(const OnnxValue &x, DimsRef shape) {
  OnnxAttrs attrs;
  if (llvm::is_contained(shape, 0))
    attrs.push_back(intAttr("allowzero", 1));
  return op("Reshape", {x, ints(shape)}, std::move(attrs));
}

OnnxValue GraphWriter::transpose(OnnxValue x,
                                 llvm::ArrayRef<int64_t> permutation) {
  Layout layout(permutation);
  if (isIdentity(layout) || hasFailed())
    return x;
  OnnxValue &known = transposes[{x.name, layout}];
  if (!known)
    known = op("Transpose", {x}, {intsAttr("perm", permutation)});
  return known;
}

OnnxValue GraphWriter::slice(const OnnxValue &x, llvm::ArrayRef<int64_t> axes,
                             llvm::ArrayRef<int64_t> starts,
                             llvm::ArrayRef<int64_t> ends,
                             llvm::ArrayRef<int64_t> steps) {
  return op("Slice", {x, ints(starts), ints(ends), ints(axes), ints(steps)});
}

OnnxValue GraphWriter::pad(const OnnxValue &x, llvm::ArrayRef<int64_t> pads,
                           double value, llvm::StringRef mode) {
  OnnxValue filler = mode == "constant" ? numberLike(x, value) : OnnxValue();
  return op("Pad", {x, ints(pads), filler}, {stringAttr("mode", mode)});
}

OnnxValue GraphWriter::reduce(llvm::StringRef type, const OnnxValue &x,
                              llvm::ArrayRef<int64_t> axes, bool keepDims) {
  // An ONNX reduction without axes reduces all dimensions.
  if (axes.empty())
    return x;
  // Since opset 18 all of them take the axes as an input, ReduceSum before.
  if (type == "ReduceSum" || pool.getOpset() >= 18)
    return op(type, {x, ints(axes)}, {intAttr("keepdims", keepDims)});
  return op(type, {x}, {intsAttr("axes", axes), intAttr("keepdims", keepDims)});
}

//===- Quantization -------------------------------------------------------===//

OnnxValue GraphWriter::createLinear(const LinearQuantization &linear,
                                    OnnxValue input, const Layout &layout) {
  if (linear.needsNewerOpset() && pool.getOpset() < onnxWriterNewerOpset) {
    // The model is written again.
    pool.requireOpset(onnxWriterNewerOpset);
    fail("it needs opset " + llvm::Twine(onnxWriterNewerOpset));
    return {};
  }
  OnnxAttrs attrs;
  if (linear.axis)
    attrs.push_back(
        intAttr("axis", llvm::find(layout, *linear.axis) - layout.begin()));
  if (linear.block)
    attrs.push_back(intAttr("block_size", *linear.block));
  auto store = [&](const Tensor &parameter, llvm::StringRef what) {
    return pool.getSmall(
        linear.block ? permute(parameter, layout) : parameter.clone(), what);
  };
  // Those of int32 have none.
  OnnxValue zero;
  if (linear.kind != ElemKind::Int32)
    zero = store(linear.zeroPoint, "zero_point");
  OnnxValue scale = store(linear.scale, "scale");
  // The ONNX library may be older than this operator set.
  if (linear.needsNewerOpset())
    return raw("DequantizeLinear", {input, scale, zero}, {ElemKind::Float},
               std::move(attrs))[0];
  return op(linear.isToIntegers ? "QuantizeLinear" : "DequantizeLinear",
            {input, scale, zero}, std::move(attrs));
}

OnnxValue GraphWriter::dequantize(const LinearQuantization &integers) {
  return createLinear(integers, get(integers.input),
                      getIdentityLayout(integers.input.getShape().size()));
}

OnnxValue GraphWriter::dequantize(const Node &node, const Layout &layout) {
  OnnxValue &known = dequantized[{&node, layout}];
  if (!known) {
    const LinearQuantization &linear = linears.at(&node);
    known = createLinear(
        linear, pool.get(*linear.input.getNodeAs<Constant>(), layout), layout);
  }
  return known;
}

void GraphWriter::writeLinear(const Node &node,
                              const LinearQuantization &linear) {
  // In the order in which it is read, so that no Transpose is in between.
  if (linear.isOfConstant())
    return;
  Layout layout = getLayout(linear.input);
  setResult(node, createLinear(linear, getStored(linear.input), invert(layout)),
            layout);
}

const TransposeNode *
GraphWriter::findTransposedWeights(const Node *node) const {
  auto *transpose = llvm::dyn_cast<TransposeNode>(node);
  return transpose && isConstantDequantized(transpose->getInput()) &&
                 isPacked(linears.at(transpose->getInput().node).kind)
             ? transpose
             : nullptr;
}

const LinearQuantization *
GraphWriter::findDequantization(NodeValue value) const {
  while (llvm::isa<ReshapeNode, TransposeNode>(value.node))
    value = value.node->getOperand(0);
  auto found = linears.find(value.node);
  return found == linears.end() || found->second.isToIntegers ? nullptr
                                                              : &found->second;
}

OnnxValue GraphWriter::getBias(NodeValue bias, NodeValue input,
                               NodeValue weights) {
  auto *constant = bias ? bias.getNodeAs<Constant>() : nullptr;
  const LinearQuantization *ofInput = findDequantization(input),
                           *ofWeights = findDequantization(weights);
  if (!constant || !ofInput || !ofWeights)
    return get(bias);
  LinearQuantization linear = {.kind = ElemKind::Int32};
  std::optional<Tensor> multiples =
      findBiasMultiples(*constant, *ofInput, *ofWeights, linear.scale);
  if (!multiples)
    return get(bias);
  if (linear.scale.getNumElements() > 1)
    linear.axis = 0;
  return createLinear(linear, pool.getSmall(std::move(*multiples), "bias"),
                      {0});
}

//===- MatMulNBits --------------------------------------------------------===//

std::optional<GraphWriter::StoredNBits>
GraphWriter::storeNBits(const LinearQuantization &weights, bool isTransposed) {
  std::optional<NBitsWeights> packed = packNBits(weights, isTransposed);
  if (!packed)
    return std::nullopt;
  std::string base = weights.input.node->getName().str();
  auto add = [&](Tensor tensor, llvm::StringRef suffix) {
    Type type = tensor.getType();
    return pool.add(pool.takeName(base + suffix.str()), type,
                    std::make_shared<Tensor>(std::move(tensor)));
  };
  StoredNBits stored;
  stored.attrs = {intAttr("K", packed->rows), intAttr("N", packed->columns),
                  intAttr("bits", packed->bits),
                  intAttr("block_size", packed->block)};
  stored.inputs = {add(std::move(packed->integers), ".packed"),
                   add(std::move(packed->scales), ".scales")};
  if (packed->zeroPoints)
    stored.inputs.push_back(
        add(std::move(*packed->zeroPoints), ".zero_points"));
  return stored;
}

OnnxValue GraphWriter::multiplyNBits(NodeValue x,
                                     const LinearQuantization &weights,
                                     const Node &node, bool isTransposed) {
  auto [entry, isNew] = nBits.try_emplace({&node, isTransposed});
  if (isNew)
    entry->second = storeNBits(weights, isTransposed);
  if (!entry->second)
    return {};
  OnnxValue lhs = get(x);
  OnnxValues inputs = {cast(lhs, ElemKind::Float)};
  llvm::append_range(inputs, entry->second->inputs);
  OnnxValue result = raw("MatMulNBits", inputs, {ElemKind::Float},
                         entry->second->attrs, "com.microsoft")[0];
  return cast(result, lhs.kind);
}

OnnxValue GraphWriter::multiplyNBits(NodeValue x, NodeValue weights) {
  auto *transpose = weights.getNodeAs<TransposeNode>();
  bool isTransposed =
      transpose && transpose->getPermutation() == llvm::ArrayRef<int64_t>{1, 0};
  if (isTransposed)
    weights = transpose->getInput();
  auto found = linears.find(weights.node);
  if (found == linears.end() || !found->second.isOfConstant() ||
      !isPacked(found->second.kind))
    return {};
  return multiplyNBits(x, found->second, *weights.node, isTransposed);
}

//===- Constants ----------------------------------------------------------===//

OnnxValue GraphWriter::constant(Tensor tensor) {
  return pool.getSmall(std::move(tensor), "constant");
}

OnnxValue GraphWriter::number(ElemKind kind, double value) {
  Tensor tensor(Type(kind, Dims()));
  tensor.setFromDouble(0, value);
  return constant(std::move(tensor));
}

OnnxValue GraphWriter::ints(llvm::ArrayRef<int64_t> values) {
  return constant(Tensor::fromValues<int64_t>(
      Type(ElemKind::Int64, {int64_t(values.size())}), values));
}

OnnxValue GraphWriter::filled(ElemKind kind, DimsRef shape, double value) {
  // ConstantOfShape does not support bfloat16.
  if (kind == ElemKind::BFloat16)
    return cast(filled(ElemKind::Float, shape, value), kind);
  if (shape.empty())
    return number(kind, value);
  Tensor element(Type(kind, {1}));
  element.setFromDouble(0, value);
  return opOfKind(kind, "ConstantOfShape", {ints(shape)},
                  {tensorAttr("value", element)});
}

//===- Inputs and results of a graph --------------------------------------===//

OnnxValue GraphWriter::addInput(llvm::StringRef inputName, const Type &type) {
  OnnxValue input{pool.takeName(inputName), type.getKind()};
  *graph.add_input() = makeValueInfo(input.name, type);
  return input;
}

void GraphWriter::addOutput(const OnnxValue &value, const Type &type) {
  *graph.add_output() = makeValueInfo(makeOutput(value).name, type);
}

OnnxValue GraphWriter::makeOutput(OnnxValue value) {
  if (hasFailed())
    return value;
  if (!isComputed(value.name) || outputs.contains(value.name))
    value = op("Identity", {value});
  outputs.insert(value.name);
  return value;
}

//===- Nodes of the function ----------------------------------------------===//

/// Returns the nodes that save a value or whose results one of them needs, and
/// adds composed quantizations among them to \p linears: of these, only what is
/// read elsewhere needs the nodes in between.
static llvm::DenseSet<const Node *>
findLiveNodes(const Function &function,
              std::map<const Node *, LinearQuantization> &linears) {
  llvm::DenseSet<const Node *> live;
  for (const Node &node : llvm::reverse(function.getNodes())) {
    if (!node.hasSideEffects() && !live.contains(&node))
      continue;
    live.insert(&node);
    if (auto linear = matchLinearQuantization(node)) {
      live.insert(linear->input.node);
      linears.emplace(&node, std::move(*linear));
      continue;
    }
    for (NodeValue operand : node.getOperands())
      if (operand)
        live.insert(operand.node);
  }
  return live;
}

/// Checks that hold for nodes of all kinds.
static llvm::Error checkNode(const Node &node) {
  for (const Type &type : node.getTypes()) {
    if (type.isQuantized())
      return makeError("the result is {0}; accepted: floats, integers and bool",
                       type.str());
    if (isLowPrecisionKind(type.getKind()))
      return makeError(
          "the result is {0}, which needs opset 19 or more; models "
          "are written with opset {1}",
          type.str(), onnxWriterOpset);
  }
  if (!findExporter(node.getKind()))
    return makeError("it cannot be written as ONNX: {0}",
                     getOnnxRefusal(node.getKind()));
  return llvm::Error::success();
}

llvm::Error GraphWriter::writeNodes(const Function &function) {
  llvm::DenseSet<const Node *> live = findLiveNodes(function, linears);
  for (const Node &node : function.getNodes()) {
    if (!live.contains(&node))
      continue;
    name = node.getName().str();
    llvm::Error error = checkNode(node);
    if (!error) {
      auto linear = linears.find(&node);
      if (linear == linears.end())
        (*findExporter(node.getKind()))(*this, node);
      else
        writeLinear(node, linear->second);
      if (hasFailed())
        error = makeError("{0}", message);
    }
    if (error)
      return addContext(std::move(error),
                        node.getKindName() + " '" + node.getName() + "': ");
  }
  return llvm::Error::success();
}

//===- Control.cpp - Export of branches and loops -------------------------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

namespace {

/// Writes a body as a subgraph. ONNX subgraphs can use values of the enclosing
/// graph, so captures are not inputs.
class BodyWriter {
public:
  BodyWriter(GraphWriter &outer, const Function &body)
      : outer(outer), body(body), writer(outer.getPool(), graph) {
    graph.set_name(body.getName().str());
  }

  /// Maps parameter \p index to \p value of the enclosing graph.
  void capture(unsigned index, NodeValue value) {
    writer.set(NodeValue(body.getParameters()[index].get()), outer.get(value));
  }
  /// Makes parameter \p index an input of the subgraph.
  void addInput(unsigned index) {
    Placeholder *parameter = body.getParameters()[index].get();
    writer.set(NodeValue(parameter),
               writer.addInput(parameter->getName(), parameter->getType()));
  }
  void writeNodes() {
    if (llvm::Error error = writer.writeNodes(body))
      outer.fail(llvm::toString(std::move(error)));
  }
  /// Makes result \p index the next output of the subgraph.
  void addOutput(unsigned index) {
    const Placeholder *result = body.getResults()[index].get();
    if (!outer.hasFailed())
      writer.addOutput(writer.get(writer.getSaved(result)), result->getType());
  }
  GraphWriter &getWriter() { return writer; }
  onnx::GraphProto take() { return std::move(graph); }

private:
  GraphWriter &outer;
  const Function &body;
  onnx::GraphProto graph;
  GraphWriter writer;
};

} // namespace

//===- If -----------------------------------------------------------------===//

static onnx::GraphProto writeBranch(GraphWriter &w, const IfNode &node,
                                    const std::shared_ptr<Body> &branch) {
  const Function &function = getFunction(branch);
  BodyWriter body(w, function);
  for (auto [i, capture] : llvm::enumerate(node.getCaptures()))
    body.capture(i, capture);
  body.writeNodes();
  for (unsigned i = 0; i < function.getResults().size(); ++i)
    body.addOutput(i);
  return body.take();
}

static const NodeExporter ifExporter = [](GraphWriter &w, const IfNode &node) {
  onnx::GraphProto thenGraph = writeBranch(w, node, node.getThenBody());
  onnx::GraphProto elseGraph = writeBranch(w, node, node.getElseBody());
  w.writeAs(node, "If", w.get(node.getCondition()),
            {graphAttr("then_branch", std::move(thenGraph)),
             graphAttr("else_branch", std::move(elseGraph))});
};

//===- Loop ---------------------------------------------------------------===//

namespace {

/// ONNX's Loop does not return the number of iterations, and its scan outputs
/// have only as many elements as iterations. An additional state counts the
/// iterations, and scan outputs are padded.
class LoopWriter {
public:
  LoopWriter(GraphWriter &w, const LoopNode &node)
      : w(w), node(node), function(getFunction(node.getBody())),
        numStates(unsigned(node.getNumStates())),
        numScans(node.getNumResults() - numStates - 1) {}

  void write();

private:
  bool runsAllIterations() const;
  OnnxValue getTripCount();
  onnx::GraphProto writeBody();
  OnnxValue padScan(const OnnxValue &scan, const Type &type);
  NodeValue getResult(unsigned index) const {
    return NodeValue(const_cast<LoopNode *>(&node), index);
  }

  GraphWriter &w;
  const LoopNode &node;
  const Function &function;
  unsigned numStates, numScans;
};

} // namespace

/// Whether \p value is the constant true.
static bool isTrue(NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  return constant && constant->getTensor().getAsInt(0) != 0;
}

/// Whether the body is known to run maxTripCount times.
bool LoopWriter::runsAllIterations() const {
  if (node.getCondition() && !isTrue(node.getCondition()))
    return false;
  NodeValue next = function.getResultValue(0);
  if (!isTrue(next) && next.node != function.getParameters()[1].get())
    return false;
  if (!node.getTripCount())
    return true;
  auto *trips = node.getTripCount().getNodeAs<Constant>();
  return trips && trips->getTensor().getAsInt(0) >= node.getMaxTripCount();
}

OnnxValue LoopWriter::getTripCount() {
  OnnxValue maximum = w.constant(Tensor::fromValues<int64_t>(
      Type(ElemKind::Int64, {}), {node.getMaxTripCount()}));
  if (!node.getTripCount())
    return maximum;
  return w.op("Clip", {w.get(node.getTripCount()), w.number(ElemKind::Int64, 0),
                       maximum});
}

onnx::GraphProto LoopWriter::writeBody() {
  BodyWriter body(w, function);
  Type countType(ElemKind::Int64, {});
  for (unsigned i = 0; i < 2 + numStates; ++i)
    body.addInput(i);
  GraphWriter &inner = body.getWriter();
  OnnxValue count = inner.addInput("count", countType);
  auto values = node.getValues();
  for (unsigned i = numStates; i < values.size(); ++i)
    body.capture(2 + i, values[i]);
  body.writeNodes();
  for (unsigned i = 0; i < 1 + numStates; ++i)
    body.addOutput(i);
  inner.addOutput(inner.add(count, inner.numberLike(count, 1)), countType);
  for (unsigned i = 1 + numStates; i < 1 + numStates + numScans; ++i)
    body.addOutput(i);
  return body.take();
}

/// Pads \p scan with zeros to \p type.
OnnxValue LoopWriter::padScan(const OnnxValue &scan, const Type &type) {
  OnnxValue zeros = w.filled(type.getKind(), type.getShape(), 0);
  OnnxValue longer = w.op("Concat", {scan, zeros}, {intAttr("axis", 0)});
  return w.slice(longer, {0}, {0}, {type.getDim(0)}, {1});
}

void LoopWriter::write() {
  OnnxValues inputs = {getTripCount(), w.get(node.getCondition())};
  llvm::SmallVector<ElemKind, 4> kinds;
  for (unsigned i = 0; i < numStates; ++i) {
    inputs.push_back(w.get(node.getValues()[i]));
    kinds.push_back(inputs.back().kind);
  }
  inputs.push_back(w.number(ElemKind::Int64, 0));
  kinds.push_back(ElemKind::Int64);
  for (unsigned i = 0; i < numScans; ++i)
    kinds.push_back(node.getType(numStates + i).getKind());
  onnx::GraphProto body = writeBody();
  OnnxValues results =
      w.raw("Loop", inputs, kinds, {graphAttr("body", std::move(body))});
  if (w.hasFailed())
    return;
  for (unsigned i = 0; i < numStates; ++i)
    w.set(getResult(i), results[i]);
  w.set(getResult(numStates + numScans), results[numStates]);
  for (unsigned i = 0; i < numScans; ++i) {
    NodeValue scan = getResult(numStates + i);
    OnnxValue value = results[numStates + 1 + i];
    if (!runsAllIterations() && !scan.hasUses(0))
      value = padScan(value, scan.getType());
    w.set(scan, value);
  }
}

static const NodeExporter loop = [](GraphWriter &w, const LoopNode &node) {
  LoopWriter(w, node).write();
};

//===- ModelShrinker.cpp - Shrinks failing models -------------------------===//

#include "ModelShrinker.h"
#include "../Shrinker.h"
#include "glowish/Importer/ONNX.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

class ModelShrinker {
public:
  ModelShrinker(RangedModel &model, Finding &finding, unsigned maxChecks)
      : model(model), finding(finding), checksLeft(maxChecks) {}

  void run();

private:
  bool accept(RangedModel candidate);
  bool acceptConfig(CompileConfig config);
  bool dropOutputs();
  bool dropRuns();
  bool dropStates();
  bool removeNodes();
  bool replaceBy(int node, const std::string &input);
  bool replaceByInput(int node);
  bool dropOperands();
  bool lowerRanges();
  bool simplifyInputs();

  RangedModel &model;
  Finding &finding;
  unsigned checksLeft;
};

} // namespace

/// What \p message says of any model: without names and numbers.
static std::string getKind(llvm::StringRef message) {
  std::string kind;
  bool isQuoted = false;
  for (char c : message) {
    isQuoted ^= c == '\'';
    if (!isQuoted && !llvm::isDigit(c) && c != '<' && c != 'x')
      kind += c;
  }
  return kind;
}

/// What a compiler refuses, another model may be refused for, too.
static bool isSame(const Finding &a, const Finding &b) {
  return a.verdict == b.verdict && (a.verdict != Verdict::Refused ||
                                    getKind(a.message) == getKind(b.message));
}

bool ModelShrinker::accept(RangedModel candidate) {
  if (checksLeft == 0)
    return false;
  candidate.dropUnused();
  if (candidate.print() == model.print())
    return false;
  --checksLeft;
  Finding found = checkInChild(RangedCase(candidate), finding.config);
  if (!isSame(found, finding))
    return false;
  model = std::move(candidate);
  finding = std::move(found);
  return true;
}

bool ModelShrinker::acceptConfig(CompileConfig config) {
  if (checksLeft == 0)
    return false;
  --checksLeft;
  Finding found = checkInChild(RangedCase(model), config);
  if (!isSame(found, finding))
    return false;
  finding = std::move(found);
  return true;
}

bool ModelShrinker::dropOutputs() {
  bool changed = false;
  for (int i = model.proto.graph().output_size();
       i-- > 0 && model.proto.graph().output_size() > 1;) {
    RangedModel candidate = model;
    candidate.proto.mutable_graph()->mutable_output()->DeleteSubrange(i, 1);
    changed |= accept(std::move(candidate));
  }
  return changed;
}

bool ModelShrinker::dropRuns() {
  bool changed = false;
  for (size_t i = model.runs.size(); i-- > 0 && model.runs.size() > 1;) {
    RangedModel candidate = model;
    candidate.runs.erase(candidate.runs.begin() + int64_t(i));
    changed |= accept(std::move(candidate));
  }
  return changed;
}

bool ModelShrinker::dropStates() {
  bool changed = false;
  for (size_t i = model.states.size(); i-- > 0;) {
    RangedModel candidate = model;
    candidate.states.erase(candidate.states.begin() + int64_t(i));
    changed |= accept(std::move(candidate));
  }
  return changed;
}

/// Replaces the uses of \p from by \p to.
static void replaceUses(onnx::GraphProto &graph, const std::string &from,
                        const std::string &to) {
  for (onnx::NodeProto &node : *graph.mutable_node())
    for (std::string &input : *node.mutable_input())
      if (input == from)
        input = to;
}

bool ModelShrinker::replaceBy(int node, const std::string &input) {
  RangedModel candidate = model;
  onnx::GraphProto &graph = *candidate.proto.mutable_graph();
  std::string output = graph.node(node).output(0);
  replaceUses(graph, output, input);
  // An output that is an input says nothing.
  bool isComputed = llvm::any_of(graph.node(), [&](const auto &other) {
    return llvm::is_contained(other.output(), input);
  });
  for (auto &own : *graph.mutable_output())
    if (own.name() == output) {
      if (!isComputed)
        return false;
      own.set_name(input);
    }
  return accept(std::move(candidate));
}

/// The text of a dimension that has \p extents for \p points.
static std::optional<std::string> findDim(const RangedModel &model,
                                          llvm::ArrayRef<RunExtents> points,
                                          llvm::ArrayRef<int64_t> extents) {
  if (llvm::all_equal(extents))
    return std::to_string(extents[0]);
  std::vector<std::string> texts;
  for (const auto &[symbol, range] : model.ranges)
    texts.push_back(symbol);
  for (const auto &input : model.proto.graph().input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      texts.push_back(dim.dim_param());
  for (const std::string &text : texts) {
    bool fits = !text.empty();
    for (auto [point, extent] : llvm::zip_equal(points, extents))
      if (fits) {
        auto own = llvm::cantFail(evaluateDim(text, point));
        fits = own && *own == extent;
      }
    if (fits)
      return text;
  }
  return std::nullopt;
}

/// The runs, and the ends of the ranges.
static std::vector<RunExtents> getPoints(const RangedModel &model) {
  std::vector<RunExtents> points = model.runs;
  RunExtents least, most;
  for (const auto &[symbol, range] : model.ranges) {
    least[symbol] = range.low;
    most[symbol] = range.high;
  }
  points.push_back(least);
  points.push_back(most);
  return points;
}

/// An input of the kind and the extents of \p name; null where there is none.
static std::optional<onnx::ValueInfoProto>
makeInputFor(const RangedModel &model, const std::string &name) {
  RangedModel alone = model;
  alone.proto.mutable_graph()->clear_output();
  alone.proto.mutable_graph()->add_output()->set_name(name);
  alone.states.clear();
  alone.dropUnused();
  std::vector<RunExtents> points = getPoints(model);
  std::vector<Type> types;
  for (RunExtents point : points) {
    std::erase_if(point, [&](const auto &value) {
      return !alone.ranges.count(value.first);
    });
    auto module = alone.importFixed(point);
    if (!module) {
      llvm::consumeError(module.takeError());
      return std::nullopt;
    }
    types.push_back((*module)->findPlaceholder(name)->getType());
  }
  onnx::ValueInfoProto input;
  input.set_name("unit" + name.substr(1));
  auto *type = input.mutable_type()->mutable_tensor_type();
  type->set_elem_type(*getOnnxDataType(types[0].getKind()));
  type->mutable_shape();
  for (unsigned d = 0; d < types[0].getRank(); ++d) {
    std::vector<int64_t> extents;
    for (const Type &each : types)
      extents.push_back(each.getDim(d));
    std::optional<std::string> text = findDim(model, points, extents);
    if (!text)
      return std::nullopt;
    auto *dim = type->mutable_shape()->add_dim();
    if (llvm::all_equal(extents))
      dim->set_dim_value(extents[0]);
    else
      dim->set_dim_param(*text);
  }
  return input;
}

bool ModelShrinker::replaceByInput(int node) {
  RangedModel candidate = model;
  onnx::GraphProto &graph = *candidate.proto.mutable_graph();
  bool changed = false;
  std::vector<std::string> outputs(graph.node(node).output().begin(),
                                   graph.node(node).output().end());
  for (const std::string &output : outputs) {
    if (llvm::any_of(graph.output(),
                     [&](const auto &own) { return own.name() == output; }))
      continue;
    bool isUsed = llvm::any_of(graph.node(), [&](const auto &user) {
      return llvm::is_contained(user.input(), output);
    });
    // The importer is asked here: what crashes it can't be replaced so.
    if (!isUsed || finding.verdict == Verdict::Crashed)
      continue;
    auto input = makeInputFor(model, output);
    if (!input)
      return false;
    replaceUses(graph, output, input->name());
    *graph.add_input() = *input;
    changed = true;
  }
  return changed && accept(std::move(candidate));
}

/// Users of a node get one of its inputs, or an input of the model.
bool ModelShrinker::removeNodes() {
  bool changed = false;
  for (int i = model.proto.graph().node_size(); i-- > 0;) {
    if (i >= model.proto.graph().node_size())
      continue;
    onnx::NodeProto node = model.proto.graph().node(i);
    bool isRemoved = false;
    for (const std::string &input : node.input())
      isRemoved = isRemoved || (!input.empty() && replaceBy(i, input));
    changed |= isRemoved || replaceByInput(i);
  }
  return changed;
}

bool ModelShrinker::dropOperands() {
  bool changed = false;
  for (int i = 0; i < model.proto.graph().node_size(); ++i) {
    for (int o = model.proto.graph().node(i).input_size(); o-- > 1;) {
      RangedModel candidate = model;
      candidate.proto.mutable_graph()
          ->mutable_node(i)
          ->mutable_input()
          ->DeleteSubrange(o, 1);
      if (accept(std::move(candidate))) {
        changed = true;
        break; // nodes may have changed their places
      }
    }
    if (i >= model.proto.graph().node_size())
      break;
    for (int a = model.proto.graph().node(i).attribute_size(); a-- > 0;) {
      RangedModel candidate = model;
      candidate.proto.mutable_graph()
          ->mutable_node(i)
          ->mutable_attribute()
          ->DeleteSubrange(a, 1);
      changed |= accept(std::move(candidate));
    }
  }
  return changed;
}

/// Lower ranges, and extents in runs.
bool ModelShrinker::lowerRanges() {
  bool changed = false;
  std::map<std::string, IntRange> ranges = model.ranges;
  for (const auto &[symbol, range] : ranges) {
    for (int64_t high : {range.low, range.low + 1, (range.low + range.high) / 2,
                         range.high - 1}) {
      if (high >= range.high || high < range.low || !model.ranges.count(symbol))
        continue;
      RangedModel candidate = model;
      candidate.ranges[symbol].high = high;
      for (RunExtents &run : candidate.runs)
        run[symbol] = std::min(run[symbol], high);
      if (accept(std::move(candidate))) {
        changed = true;
        break;
      }
    }
    for (RunExtents &run : model.runs)
      for (int64_t value : {range.low, range.low + 1}) {
        auto own = run.find(symbol);
        if (own == run.end() || value >= own->second)
          break;
        RangedModel candidate = model;
        candidate.runs[size_t(&run - model.runs.data())][symbol] = value;
        if (accept(std::move(candidate))) {
          changed = true;
          break;
        }
      }
  }
  return changed;
}

/// Plain values.
bool ModelShrinker::simplifyInputs() {
  bool changed = false;
  for (int i = 0; i < model.proto.graph().input_size(); ++i) {
    std::string name = model.proto.graph().input(i).name();
    std::string digits(llvm::StringRef(name).drop_while(
        [](char c) { return c >= 'a' && c <= 'z'; }));
    for (llvm::StringRef simpler : {"unit", "whole", "positive"}) {
      if (llvm::StringRef(name).starts_with(simpler))
        break;
      RangedModel candidate = model;
      onnx::GraphProto &graph = *candidate.proto.mutable_graph();
      std::string other = simpler.str() + digits;
      graph.mutable_input(i)->set_name(other);
      replaceUses(graph, name, other);
      for (StateNames &state : candidate.states)
        if (state.input == name)
          state.input = other;
      if (accept(std::move(candidate))) {
        changed = true;
        break;
      }
    }
  }
  return changed;
}

void ModelShrinker::run() {
  auto takeConfig = [&](CompileConfig config) {
    return acceptConfig(std::move(config));
  };
  simplifyConfig(finding, takeConfig);
  for (bool changed = true; changed && checksLeft > 0;) {
    changed = dropOutputs();
    changed |= removeNodes();
    changed |= dropRuns();
    changed |= dropStates();
    changed |= dropOperands();
    changed |= lowerRanges();
    changed |= simplifyInputs();
  }
  simplifyConfig(finding, takeConfig);
}

void fuzz::shrink(RangedModel &model, Finding &finding, unsigned maxChecks) {
  ModelShrinker(model, finding, maxChecks).run();
}

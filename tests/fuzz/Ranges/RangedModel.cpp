//===- RangedModel.cpp - ONNX models with ranges for symbols --------------===//

#include "RangedModel.h"
#include "Forms/Form.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringSet.h"
#include <google/protobuf/text_format.h>

using namespace glowish;
using namespace glowish::fuzz;

//===- Text ---------------------------------------------------------------===//

std::string RangedModel::print() const {
  onnx::ModelProto whole = proto;
  auto add = [&](const std::string &key, const std::string &value) {
    onnx::StringStringEntryProto *entry = whole.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  };
  for (const auto &[symbol, range] : ranges)
    add("range " + symbol,
        std::to_string(range.low) + ".." + std::to_string(range.high));
  for (const StateNames &state : states)
    add("state " + state.input, state.output);
  for (auto [i, run] : llvm::enumerate(runs))
    add("run " + std::to_string(i), fuzz::print(run));
  if (form)
    add("form", form->name.str());
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  printer.PrintToString(whole, &text);
  return text;
}

/// "0..9".
static llvm::Expected<IntRange> parseRange(llvm::StringRef text) {
  auto [low, high] = text.split("..");
  IntRange range{};
  if (low.getAsInteger(10, range.low) || high.getAsInteger(10, range.high))
    return makeError("the range '{0}'; accepted: LOW..HIGH", text);
  return range;
}

/// "S=3 P=0".
static llvm::Expected<RunExtents> parseValues(llvm::StringRef text) {
  RunExtents values;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [symbol, value] = part.split('=');
    if (value.getAsInteger(10, values[symbol.str()]))
      return makeError("the run '{0}'; accepted: SYMBOL=EXTENT, with spaces "
                       "between them",
                       text);
  }
  return values;
}

llvm::Expected<RangedModel> RangedModel::parse(llvm::StringRef text) {
  RangedModel model;
  if (!google::protobuf::TextFormat::ParseFromString(text.str(), &model.proto))
    return makeError("not an ONNX model in protobuf text");
  for (const auto &entry : model.proto.metadata_props()) {
    auto [what, name] = llvm::StringRef(entry.key()).split(' ');
    if (what == "range") {
      GLOWISH_ASSIGN_OR_RETURN(model.ranges[name.str()],
                               parseRange(entry.value()));
    } else if (what == "state") {
      model.states.push_back({name.str(), entry.value()});
    } else if (what == "run") {
      GLOWISH_ASSIGN_OR_RETURN(model.runs.emplace_back(),
                               parseValues(entry.value()));
    } else if (what == "form") {
      model.form = findForm(entry.value());
      if (!model.form)
        return makeError("there is no form '{0}'", entry.value());
    }
  }
  model.proto.clear_metadata_props();
  for (const RunExtents &run : model.runs)
    for (const auto &[symbol, range] : model.ranges)
      if (!run.count(symbol))
        return makeError("the run '{0}' does not say what '{1}' is",
                         fuzz::print(run), symbol);
  return model;
}

//===- Import -------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<Module>>
importProto(const onnx::ModelProto &proto, ImportOptions options) {
  if (!options.evaluate)
    options.evaluate = evaluateNode;
  std::string bytes = proto.SerializeAsString();
  return importOnnx(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()),
                     bytes.size()),
      "fuzz", options);
}

llvm::Expected<std::unique_ptr<Module>> RangedModel::importRanged() const {
  if (form)
    return importForm(*this);
  ImportOptions options;
  options.symbolRanges = ranges;
  options.states = states;
  return importProto(proto, std::move(options));
}

std::string RangedModel::getOutputName(const std::string &output) const {
  return form && form->getOutputName ? form->getOutputName(output) : output;
}

llvm::Expected<std::unique_ptr<Module>>
RangedModel::importFixed(const RunExtents &values,
                         const NodeEvaluator &evaluate) const {
  ImportOptions options;
  options.evaluate = evaluate;
  options.symbols = values;
  return importProto(proto, std::move(options));
}

//===- What is not needed -------------------------------------------------===//

/// Removes the fields of \p list that \p isUnused says.
template <typename List, typename IsUnused>
static void removeIf(List &list, const IsUnused &isUnused) {
  for (int i = list.size(); i-- > 0;)
    if (isUnused(list.Get(i)))
      list.DeleteSubrange(i, 1);
}

/// The names that the outputs of \p graph need.
static llvm::StringSet<> findUsed(const onnx::GraphProto &graph) {
  llvm::StringSet<> used;
  for (const auto &output : graph.output())
    used.insert(output.name());
  for (int i = graph.node_size(); i-- > 0;)
    if (llvm::any_of(graph.node(i).output(), [&](const std::string &name) {
          return used.contains(name);
        }))
      for (const std::string &input : graph.node(i).input())
        used.insert(input);
  return used;
}

void RangedModel::dropUnused() {
  onnx::GraphProto &graph = *proto.mutable_graph();
  llvm::StringSet<> outputs;
  for (const auto &output : graph.output())
    outputs.insert(output.name());
  llvm::StringSet<> used = findUsed(graph);
  removeIf(*graph.mutable_node(), [&](const onnx::NodeProto &node) {
    return llvm::none_of(node.output(), [&](const std::string &name) {
      return used.contains(name);
    });
  });
  removeIf(*graph.mutable_input(), [&](const onnx::ValueInfoProto &input) {
    return !used.contains(input.name());
  });
  removeIf(*graph.mutable_initializer(), [&](const onnx::TensorProto &tensor) {
    return !used.contains(tensor.name());
  });
  llvm::erase_if(states, [&](const StateNames &state) {
    return !used.contains(state.input) || !outputs.contains(state.output);
  });
  llvm::StringSet<> symbols;
  for (const auto &input : graph.input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      for (const std::string &symbol : getDimSymbols(dim.dim_param()))
        symbols.insert(symbol);
  std::erase_if(ranges, [&](const auto &range) {
    return !symbols.contains(range.first);
  });
  for (RunExtents &run : runs)
    std::erase_if(
        run, [&](const auto &value) { return !symbols.contains(value.first); });
}

//===- Cases --------------------------------------------------------------===//

std::string RangedCase::findPlace(const std::string &output) const {
  for (const StateNames &state : model.states)
    if (state.output == output)
      return state.input;
  return model.getOutputName(output);
}

std::set<std::string> fuzz::describeFeatures(const RangedModel &model) {
  std::set<std::string> features;
  if (!model.form)
    for (const auto &node : model.proto.graph().node())
      features.insert(node.op_type());
  else if (auto written = writeForm(model))
    features = std::move(written->operators);
  else
    llvm::consumeError(written.takeError());
  for (const auto &input : model.proto.graph().input()) {
    const auto &type = input.type().tensor_type();
    features.insert("rank:" + std::to_string(type.shape().dim_size()));
    features.insert("type:" +
                    onnx::TensorProto::DataType_Name(
                        onnx::TensorProto::DataType(type.elem_type())));
    for (const auto &dim : type.shape().dim())
      if (getDimSymbols(dim.dim_param()).size() > 1)
        features.insert("sum-of-symbols");
  }
  if (!model.states.empty())
    features.insert("state");
  if (model.ranges.size() > 1)
    features.insert("several-symbols");
  if (model.proto.graph().output_size() > 1)
    features.insert("several-outputs");
  return features;
}

//===- AtenCalls.cpp - Programs of one operator of ATen -------------------===//

#include "AtenCalls.h"
#include "Aten/Schema.h"
#include "Extremes.h"
#include "glowish/Base/Type.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::robustness;
using Base = AtenType::Base;

//===- Values -------------------------------------------------------------===//

namespace {

/// Spells values in a language.
class Speller {
public:
  explicit Speller(Random &random) : random(random) {}
  virtual ~Speller() = default;

  std::string spell(const AtenArgument &argument);

protected:
  /// A value of \p base, or a list of such.
  virtual std::string spellOne(Base base, llvm::StringRef value) = 0;
  virtual std::string spellList(Base base,
                                llvm::ArrayRef<std::string> values) = 0;
  virtual std::string spellNone() = 0;

private:
  std::string pickValue(Base base);

  Random &random;
};

class JsonSpeller final : public Speller {
public:
  using Speller::Speller;

private:
  static llvm::StringRef getMember(Base base) {
    switch (base) {
    case Base::Tensor:
      return "as_tensor";
    case Base::Int:
    case Base::Number:
      return "as_int";
    case Base::Float:
      return "as_float";
    case Base::Bool:
      return "as_bool";
    case Base::Kind:
      return "as_scalar_type";
    default:
      return "as_string";
    }
  }
  static std::string spellValue(Base base, llvm::StringRef value) {
    if (base == Base::Tensor)
      return llvm::formatv(R"({{"name": "{0}"})", value).str();
    return base == Base::String ? ("\"" + value + "\"").str() : value.str();
  }
  std::string spellOne(Base base, llvm::StringRef value) override {
    return llvm::formatv(R"({{"{0}": {1}})", getMember(base),
                         spellValue(base, value));
  }
  std::string spellList(Base base,
                        llvm::ArrayRef<std::string> values) override {
    std::vector<std::string> parts;
    for (const std::string &value : values)
      parts.push_back(spellValue(base, value));
    return llvm::formatv(R"({{"{0}s": [{1}]})", getMember(base),
                         llvm::join(parts, ", "));
  }
  std::string spellNone() override { return R"({"as_none": true})"; }
};

class CodeSpeller final : public Speller {
public:
  using Speller::Speller;

private:
  std::string spellOne(Base base, llvm::StringRef value) override {
    if (base == Base::Bool)
      return value == "true" ? "True" : "False";
    return base == Base::String ? ("\"" + value + "\"").str() : value.str();
  }
  std::string spellList(Base base,
                        llvm::ArrayRef<std::string> values) override {
    std::vector<std::string> parts;
    for (const std::string &value : values)
      parts.push_back(spellOne(base, value));
    return "[" + llvm::join(parts, ", ") + "]";
  }
  std::string spellNone() override { return "None"; }
};

} // namespace

std::string Speller::pickValue(Base base) {
  static constexpr const char *strings[] = {
      "none",      "mean",     "sum",   "constant", "reflect",
      "replicate", "floor",    "trunc", "circular", "same",
      "valid",     "bilinear", "tanh",  "ij,jk->ik"};
  switch (base) {
  case Base::Tensor:
    return random.below(3) ? "x0" : "x1";
  case Base::Int:
  case Base::Number:
    return std::to_string(random.below(2) ? pickExtreme(random)
                                          : int64_t(random.below(6)) - 1);
  case Base::Float:
    return "0.5";
  case Base::Bool:
    return random.below(2) ? "true" : "false";
  case Base::Kind:
    return "6";
  default:
    return strings[random.below(std::size(strings))];
  }
}

std::string Speller::spell(const AtenArgument &argument) {
  const AtenType &type = argument.type;
  if (type.base == Base::Ignored || (type.isOptional && random.below(3) == 0))
    return spellNone();
  if (!type.isList)
    return spellOne(type.base, pickValue(type.base));
  std::vector<std::string> values;
  for (uint64_t left = random.below(5); left > 0; --left)
    values.push_back(pickValue(type.base));
  return spellList(type.base, values);
}

/// The types of the two tensors: mostly images or matrices of floats.
static std::array<Type, 2> pickInputs(Random &random) {
  const Type types[] = {
      {ElemKind::Float, {1, 4, 4, 4}}, {ElemKind::Float, {2, 4}},
      {ElemKind::Float, {2, 4}},       {ElemKind::Float, {1, 2, 4, 4, 4}},
      {ElemKind::Float, {2, 3, 4}},    {ElemKind::Int64, {2, 3}},
      {ElemKind::Float, {0, 4}},       {ElemKind::Float, {4, 0, 2, 2}}};
  const Type &first = types[random.below(std::size(types))];
  return {first,
          random.below(2) ? first : types[random.below(std::size(types))]};
}

//===- Exported programs --------------------------------------------------===//

static std::string spellMeta(const Type &type) {
  auto list = [](DimsRef numbers) {
    std::string text;
    for (int64_t number : numbers)
      text += llvm::formatv(R"({0}{{"as_int": {1}})", text.empty() ? "" : ", ",
                            number);
    return text;
  };
  return llvm::formatv(
      R"({{"dtype": {0}, "sizes": [{1}], "requires_grad": false, )"
      R"("device": {{"type": "cpu", "index": null}, "strides": [{2}], )"
      R"("storage_offset": {{"as_int": 0}, "layout": 7})",
      type.getKind() == ElemKind::Int64 ? 5 : 7, list(type.getShape()),
      list(getDenseStrides(type.getShape())));
}

AtenCall glowish::robustness::makeExportedCall(const std::string &text,
                                               Random &random) {
  AtenSchema schema = llvm::cantFail(parseAtenSchema(text));
  std::array<Type, 2> types = pickInputs(random);
  JsonSpeller speller(random);
  std::vector<std::string> inputs, outputs, specs;
  for (const AtenArgument &argument : schema.arguments)
    inputs.push_back(llvm::formatv(R"({{"name": "{0}", "arg": {1}, "kind": 1})",
                                   argument.name, speller.spell(argument)));
  for (size_t i = 0; i < schema.results.size(); ++i) {
    std::string value = llvm::formatv(R"({{"name": "y{0}"})", i);
    outputs.push_back(schema.results[i].type.isList
                          ? R"({"as_tensors": [)" + value + "]}"
                          : R"({"as_tensor": )" + value + "}");
    specs.push_back(
        llvm::formatv(R"({{"user_output": {{"arg": {0}}})", outputs.back()));
  }
  std::string model = llvm::formatv(
      R"({{"graph_module": {{"graph": {{"inputs": [{{"as_tensor": )"
      R"({{"name": "x0"}}, {{"as_tensor": {{"name": "x1"}}], "outputs": [{0}], )"
      R"("nodes": [{{"target": "torch.ops.aten.{1}", "inputs": [{2}], )"
      R"("outputs": [{3}], "metadata": {{}, )"
      R"("is_hop_single_tensor_return": null, "name": "y"}], )"
      R"("tensor_values": {{"x0": {4}, "x1": {5}}, "sym_int_values": {{}, )"
      R"("sym_bool_values": {{}, "is_single_tensor_return": false, )"
      R"("custom_obj_values": {{}, "sym_float_values": {{}}, )"
      R"("signature": {{"input_specs": [{{"user_input": {{"arg": )"
      R"({{"as_tensor": {{"name": "x0"}}}}, {{"user_input": {{"arg": )"
      R"({{"as_tensor": {{"name": "x1"}}}}], "output_specs": [{6}]}, )"
      R"("module_call_graph": [], "metadata": {{}, )"
      R"("treespec_namedtuple_fields": {{}}, "opset_version": {{"aten": 10}, )"
      R"("range_constraints": {{}, "schema_version": {{"major": 8, )"
      R"("minor": 2}, "verifiers": ["ATEN"], "torch_version": "2.8.0", )"
      R"("guards_code": []})",
      llvm::join(outputs, ", "),
      schema.name + "." +
          (schema.overload.empty() ? "default" : schema.overload),
      llvm::join(inputs, ", "), llvm::join(outputs, ", "), spellMeta(types[0]),
      spellMeta(types[1]), llvm::join(specs, ", "));
  std::string config = R"({"config": {}})";
  return {{{"a/archive_format", "pt2"},
           {"a/byteorder", "little"},
           {"a/.data/version", "0"},
           {"a/models/model.json", model},
           {"a/data/weights/model_weights_config.json", config},
           {"a/data/constants/model_constants_config.json", config}},
          {}};
}

//===- TorchScript --------------------------------------------------------===//

static std::string spellType(const AtenType &type) {
  std::string name = type.base == Base::Tensor  ? "Tensor"
                     : type.base == Base::Int   ? "int"
                     : type.base == Base::Float ? "float"
                     : type.base == Base::Bool  ? "bool"
                                                : "number";
  return type.isList ? "List[" + name + "]" : name;
}

AtenCall glowish::robustness::makeScriptCall(const std::string &text,
                                             Random &random) {
  AtenSchema schema = llvm::cantFail(parseAtenSchema(text));
  if (llvm::StringRef(schema.name).contains("::") || schema.results.empty())
    return {};
  // Arguments behind a `*` have names.
  size_t numPositional = schema.arguments.size();
  if (auto [before, rest] = llvm::StringRef(text).split("*, "); !rest.empty())
    numPositional = llvm::cantFail(parseAtenSchema(before.rtrim(", ").str() +
                                                   ") -> Tensor"))
                        .arguments.size();
  CodeSpeller speller(random);
  std::vector<std::string> arguments, results;
  for (auto [i, argument] : llvm::enumerate(schema.arguments))
    arguments.push_back((i < numPositional ? "" : argument.name + "=") +
                        speller.spell(argument));
  for (const AtenArgument &result : schema.results)
    results.push_back(spellType(result.type));
  std::string result = results.size() == 1
                           ? results[0]
                           : "Tuple[" + llvm::join(results, ", ") + "]";
  AtenCall call;
  call.entries = {
      {"net/code/__torch__.py",
       llvm::formatv("class Net(Module):\n  __parameters__ = []\n"
                     "  __buffers__ = []\n  training : bool\n"
                     "  def forward(self: __torch__.Net, x0: Tensor, "
                     "x1: Tensor) -> {0}:\n    return torch.{1}({2})\n",
                     result, schema.name, llvm::join(arguments, ", "))},
      // An object of the class with training = False.
      {"net/data.pkl",
       std::string("\x80\x02"
                   "c__torch__\nNet\n)\x81}X\x08\0\0\0training\x89sb.",
                   37)},
      {"net/constants.pkl", "\x80\x02)."},
      {"net/version", "3\n"}};
  for (auto [i, type] : llvm::enumerate(pickInputs(random)))
    call.inputs.push_back(llvm::formatv(
        "x{0},{1},[{2}]", i,
        type.getKind() == ElemKind::Int64 ? "int64" : "float",
        llvm::join(llvm::map_range(type.getShape(),
                                   [](int64_t d) { return std::to_string(d); }),
                   ",")));
  return call;
}

//===- Caffe2Extents.h - Caffe2 nets whose runs decide extents --*- C++ -*-===//
//
// Nets whose inputs have extents in their types, compiled once for each back
// end, against the same nets with the values in place of the symbols.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_UNIT_CAFFE2EXTENTS_H
#define GLOWISH_TESTS_UNIT_CAFFE2EXTENTS_H

#include "Caffe2Text.h"
#include "ExtentRuns.h"
#include "glowish/Compiler/InputTypes.h"
#include "gmock/gmock.h"

namespace glowish::caffe2extents {

using testing::HasSubstr;

inline const std::map<std::string, IntRange> ranges = {
    {"N", {1, 6}}, {"M", {1, 5}}, {"L", {6, 9}}};
inline const ExtentValues runs[] = {{{"N", 6}, {"M", 5}, {"L", 9}},
                                    {{"N", 1}, {"M", 1}, {"L", 6}},
                                    {{"N", 2}, {"M", 4}, {"L", 8}},
                                    {{"N", 5}, {"M", 2}, {"L", 7}}};

/// A net: its operators, the types of its inputs as -model-input has them, the
/// net that makes its weights, and its outputs.
struct Net {
  std::string ops;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string init = "";
  std::vector<std::string> outputs = {"y"};
};

/// Returns the options with the ranges of the symbols in \p net, which may
/// begin with 0, or with \p values.
inline ImportOptions makeOptions(const Net &net, const ExtentValues *values,
                                 bool fromNothing = false) {
  ImportOptions options;
  for (const auto &[symbol, range] : ranges) {
    if (llvm::none_of(net.inputs, [&](const auto &input) {
          return llvm::StringRef(input.second).contains(symbol);
        }))
      continue;
    if (values)
      options.symbols[symbol] = values->find(symbol)->second;
    else
      options.symbolRanges[symbol] = {
          fromNothing && range.low == 1 ? 0 : range.low, range.high};
  }
  for (const auto &[name, type] : net.inputs)
    llvm::cantFail(readInputTypes({name + "," + type}, options));
  return options;
}

inline llvm::Expected<Program> compile(const Net &net,
                                       const ExtentValues *values, bool isCPU,
                                       bool fromNothing = false) {
  GLOWISH_ASSIGN_OR_RETURN(auto module,
                           importNet(netText(net.ops, net.outputs), net.init,
                                     makeOptions(net, values, fromNothing)));
  return compileProgram(std::move(module), createBackend(isCPU));
}

inline std::string importError(const Net &net, bool fromNothing = false) {
  return importNetError(netText(net.ops, net.outputs), net.init,
                        makeOptions(net, nullptr, fromNothing));
}

/// Returns elements for the input \p name: lengths have L as their sum, offsets
/// ascend below it, indices are below 6, places in a row below 4, others
/// random.
inline Tensor makeElements(llvm::StringRef name, const Type &type,
                           uint64_t seed, const ExtentValues &values) {
  Tensor tensor = makeRandom(type, seed);
  if (!isIntegerKind(type.getKind()) || !name.consume_front("i"))
    return tensor;
  int64_t count = type.getNumElements(), sum = values.find("L")->second;
  Random random(seed);
  for (int64_t i = 0; i < count; ++i)
    tensor.setFromDouble(i, name == "lengths"
                                ? double(sum / count + (i < sum % count))
                            : name == "offsets" ? double(i * (sum / count))
                            : name == "places"  ? double(i % 4)
                                                : double(random.below(6)));
  return tensor;
}

/// Compares runs of \p net with those of the net for each of some values.
/// With \p mayBeNothing, and where ranges that begin with 0 are accepted, the
/// program is for these.
/// Lengths of the largest integer, and negative ones, would show.
inline void check(const Net &net, bool mayBeNothing = true) {
  SCOPED_TRACE(net.ops);
  std::optional<ExtentValues> nothing;
  bool fromNothing =
      mayBeNothing && importError(net, /*fromNothing=*/true) == "imported";
  if (fromNothing)
    nothing = {{"N", 0}, {"M", 0}, {"L", 6}};
  auto make = [&](const ExtentValues *values, bool isCPU) {
    return compile(net, values, isCPU, fromNothing);
  };
  checkRuns(make, runs, {makeElements, {0x7FFFFFFF, -5}}, nothing);
}

/// The input x of \p type, and an operator on it.
inline Net one(const std::string &op, const std::string &type,
               const std::string &args = "",
               std::vector<std::string> outputs = {"y"},
               std::vector<std::string> weights = {},
               const std::string &init = "") {
  std::vector<std::string> inputs = {"x"};
  llvm::append_range(inputs, weights);
  return {netOp(op, inputs, outputs, args), {{"x", type}}, init, outputs};
}

/// A weight with numbers that differ.
inline std::string weight(llvm::StringRef name, std::vector<int64_t> shape) {
  std::vector<float> values(countElements(shape));
  for (auto [i, value] : llvm::enumerate(values))
    value = float((i * 7 + name.size() * 3) % 11) / 8 - 0.5f;
  return floatFill(name, std::move(shape), std::move(values));
}

inline const std::string images = "float,[N,3,M+4,7]", rows = "float,[N,4]";

} // namespace glowish::caffe2extents

#endif // GLOWISH_TESTS_UNIT_CAFFE2EXTENTS_H

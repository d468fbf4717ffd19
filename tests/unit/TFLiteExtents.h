//===- TFLiteExtents.h - TensorFlow Lite models of open dimensions --*- C++
//-*-===//
//
// Models compiled once for the ranges of the symbols N and M, against the same
// models compiled for their values.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_UNIT_TFLITEEXTENTS_H
#define GLOWISH_TESTS_UNIT_TFLITEEXTENTS_H

#include "ExtentRuns.h"
#include "TFLiteRuns.h"
#include "glowish/Ops/TextForm.h"
#include "gmock/gmock.h"
#include <set>

namespace glowish::tfliteextents {

namespace schema = glowish::tflite::schema;
using schema::ActivationFunctionType;
using schema::BuiltinOperator;
using schema::MirrorPadMode;
using schema::Padding;
using schema::TensorType;
using testing::HasSubstr;

inline constexpr TensorType f32 = TensorType::FLOAT32, i8 = TensorType::INT8,
                            u8 = TensorType::UINT8, i16 = TensorType::INT16,
                            i32 = TensorType::INT32;

/// The bytes of a model, and the types of its inputs as a template.
struct OpenModel {
  std::string bytes;
  std::map<std::string, std::string> inputs;
  std::shared_ptr<const FormatOptions> format = nullptr;
};

/// A model of one operator, or of a few. Shapes that the file states are not
/// compared, and those of results are left out.
struct Builder : TFLiteModel {
  std::vector<int> sources, sinks;
  std::map<std::string, std::string> inputs;

  /// An input of the dimensions \p dims, "6{N}x3".
  int input(const char *name, const std::string &dims, TensorType type = f32,
            TFLiteScales scales = {}) {
    std::string kind = type == f32   ? "float"
                       : type == i8  ? "int8"
                       : type == u8  ? "uint8"
                       : type == i16 ? "int16"
                       : type == i32 ? "int32"
                                     : "bool";
    inputs[name] = kind + "<" + dims + ">";
    // Open dimensions have an extent that none of the runs has.
    std::vector<int32_t> shape;
    llvm::SmallVector<llvm::StringRef, 4> parts;
    llvm::StringRef(dims).split(parts, 'x', -1, false);
    for (llvm::StringRef part : parts)
      shape.push_back(part.contains('{') ? 97 : std::stoi(part.str()));
    sources.push_back(tensor(name, shape, type, std::move(scales)));
    return sources.back();
  }
  int ints(std::vector<int32_t> values) {
    return tensor("ints", {int(values.size())}, i32, {},
                  getTFLiteBytes(values));
  }
  int number(int32_t value) {
    return tensor("number", {}, i32, {}, getTFLiteBytes<int32_t>({value}));
  }
  /// Floats, or bytes, of a pattern.
  int weights(std::vector<int32_t> shape, TensorType type = f32,
              TFLiteScales scales = {}) {
    int count = 1;
    for (int32_t dim : shape)
      count *= dim;
    std::vector<uint8_t> bytes;
    for (int i = 0; i < count; ++i) {
      std::vector<uint8_t> own =
          type == f32   ? getTFLiteBytes<float>({float(i * 37 % 19 - 9) / 8})
          : type == i32 ? getTFLiteBytes<int32_t>({i * 37 % 190 - 95})
                        : std::vector<uint8_t>{uint8_t(i * 37 % 120)};
      bytes.insert(bytes.end(), own.begin(), own.end());
    }
    return tensor("weights", shape, type, std::move(scales), bytes);
  }
  int value(TensorType type = f32, TFLiteScales scales = {}) {
    return tensor("value", {1}, type, std::move(scales));
  }
  /// The result of an operator, which is an output.
  int result(TensorType type = f32, TFLiteScales scales = {}) {
    sinks.push_back(tensor("y", {1}, type, std::move(scales)));
    return sinks.back();
  }
  OpenModel end() { return {finish(sources, sinks), inputs}; }
};

inline const std::map<std::string, IntRange> ranges = {{"N", {1, 6}},
                                                       {"M", {1, 4}}};

/// Returns the type that \p text is a template of, with the extents or with
/// \p values in their place.
inline Type makeType(const std::string &text, const ExtentValues *values) {
  return llvm::cantFail(
      TextParser(values ? makeStatic(text, *values) : text, "type", nullptr)
          .parseType());
}

inline ImportOptions getOptions(const OpenModel &model,
                                const ExtentValues *values,
                                bool fromNothing = false) {
  ImportOptions options;
  options.ofFormat = model.format;
  std::set<std::string> &used = options.typeSymbols;
  for (const auto &[name, text] : model.inputs) {
    options.inputTypes[name] = makeType(text, values);
    for (const auto &extent : options.inputTypes[name].getExtents())
      if (extent)
        for (const std::string &symbol : extent->getSymbols())
          used.insert(symbol);
  }
  for (const auto &[symbol, range] : ranges)
    if (used.count(symbol))
      options.symbolRanges[symbol] = {fromNothing ? 0 : range.low, range.high};
  return options;
}

inline llvm::Expected<Program> compile(const OpenModel &model,
                                       const ExtentValues *values, bool isCPU,
                                       bool fromNothing = false) {
  GLOWISH_ASSIGN_OR_RETURN(
      auto module,
      importTFLiteBytes(model.bytes, getOptions(model, values, fromNothing)));
  return compileProgram(std::move(module), createBackend(isCPU));
}

/// Integers of all magnitudes, and floats.
inline Tensor makeElements(llvm::StringRef, const Type &type, uint64_t seed,
                           const ExtentValues &) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    double integer = type.getKind() == ElemKind::Int32
                         ? double(random.below(2))
                         : double(random.below(100)) - 40;
    tensor.setFromDouble(i, isFloatKind(type.getKind())
                                ? double(random.uniform(-1, 1))
                            : type.getKind() == ElemKind::UInt8 ||
                                    type.getKind() == ElemKind::Bool
                                ? std::abs(integer)
                                : integer);
  }
  return tensor;
}

/// Returns what the import of \p model for ranges says.
inline std::string refuse(const OpenModel &model, bool fromNothing = false) {
  return getTFLiteError(model.bytes, getOptions(model, nullptr, fromNothing));
}

/// Compares runs of \p model with values of which N is at least \p atLeast and
/// a multiple of \p divisor. With \p mayBeNothing, and where ranges that begin
/// with 0 are accepted, the program is for these.
inline void check(const OpenModel &model, int64_t atLeast = 1,
                  int64_t divisor = 1, bool mayBeNothing = true) {
  std::vector<ExtentValues> runs;
  for (auto [n, m] : {std::pair(6, 4), {1, 3}, {4, 1}, {3, 2}})
    if (n >= atLeast && n % divisor == 0)
      runs.push_back({{"N", n}, {"M", m}});
  bool fromNothing =
      mayBeNothing && atLeast == 1 && refuse(model, true) == "imported";
  std::optional<ExtentValues> nothing;
  if (fromNothing)
    nothing = {{"N", 0}, {"M", 0}};
  checkRuns(
      [&](const ExtentValues *values, bool isCPU) {
        return compile(model, values, isCPU, fromNothing);
      },
      runs, {makeElements}, nothing);
}

/// A model of one operator that reads \p dims, and constants.
template <typename T = schema::AbsOptions>
OpenModel
unary(BuiltinOperator kind, const std::string &dims,
      std::vector<std::vector<int32_t>> constants = {},
      llvm::function_ref<flatbuffers::Offset<T>(Builder &)> options = nullptr,
      unsigned numResults = 1, TensorType type = f32, TFLiteScales scales = {},
      TensorType to = f32) {
  Builder model;
  std::vector<int> operands = {model.input("x", dims, type, scales)}, results;
  for (const std::vector<int32_t> &values : constants)
    operands.push_back(model.ints(values));
  for (unsigned i = 0; i < numResults; ++i)
    results.push_back(model.result(to, scales));
  if (options)
    model.op(kind, operands, results, options(model));
  else
    model.op(kind, operands, results);
  return model.end();
}

/// Returns a model of one RESHAPE.
inline OpenModel reshape(const std::string &dims, std::vector<int32_t> shape) {
  return unary(BuiltinOperator::RESHAPE, dims, {shape});
}

/// [\p x's extent \p dim], of its shape.
inline int takeExtent(Builder &model, int shape, int dim) {
  int extent = model.value(i32);
  model.op(BuiltinOperator::STRIDED_SLICE,
           {shape, model.ints({dim}), model.ints({dim + 1}), model.ints({1})},
           {extent},
           schema::CreateStridedSliceOptions(model.fbb(), 0, 0, 0, 0, 1));
  return extent;
}

inline int takeShape(Builder &model, int x) {
  int shape = model.value(i32);
  model.op(BuiltinOperator::SHAPE, {x}, {shape},
           schema::CreateShapeOptions(model.fbb(), i32));
  return shape;
}

} // namespace glowish::tfliteextents

#endif // GLOWISH_TESTS_UNIT_TFLITEEXTENTS_H

//===- TFLiteOp.h - A TensorFlow Lite operator being imported ---*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_TFLITEOP_H
#define GLOWISH_LIB_IMPORTER_TFLITE_TFLITEOP_H

#include "Common/ImportedOp.h"
#include "Common/Messages.h"
#include "Common/OperatorTable.h"
#include "TFLite/FieldCheck.h"
#include "TFLite/ModelState.h"
#include "llvm/ADT/StringSet.h"
#include <string_view>

namespace glowish::tflite {

/// A tensor of a model.
struct TFLiteTensor {
  /// As the file states it; that of a resource is not used.
  Type type;
  std::optional<Quantization> quantization;
  std::string name;
  /// Its integers or floats in the graph; null before they are computed.
  NodeValue value;
  /// Whether it is a resource: no elements, but a variable.
  bool isResource = false;
  /// That of a resource, null before VAR_HANDLE; or what the tensor itself is,
  /// null for tensors that don't keep their value from run to run.
  TFLiteVariable *variable = nullptr;

  /// Whether its integers have one scale, which is not 0.
  bool hasOneScale() const {
    return quantization && quantization->isPerTensor() &&
           quantization->getScale() > 0;
  }
};

/// What crosses the boundary of a subgraph: a tensor, or a resource.
struct TFLiteValue {
  NodeValue tensor = {};
  std::optional<Quantization> quantization = {};
  /// Null unless it is a resource.
  TFLiteVariable *resource = nullptr;
};

/// State shared by the operators of a subgraph during import.
struct TFLiteContext {
  Function &function;
  const ImportOptions &options;
  FoldingBudget &budget;
  TFLiteModelState &model;
  /// Those of the function, where the next operator is.
  VariableScope &variables;
  /// Whether shapes differ from the file's, because of -model-input or of what
  /// is passed to a subgraph.
  bool hasOtherShapes = false;
};

/// The name of a field as an argument of a template.
template <size_t N> struct FieldName {
  char text[N];
  consteval FieldName(const char (&name)[N]) { std::copy_n(name, N, text); }
};

/// The options of an operator, a table of the schema. Which fields are read is
/// noted, as one that is set and not read is an error.
template <typename Table> class OperatorOptions {
public:
  /// \p reads: the names of fields that are read; null if \p table is not
  /// stored in the file.
  OperatorOptions(const Table &table, llvm::StringSet<> *reads)
      : table(table), reads(reads) {}

  /// Returns the value of a field: `options.get<"stride_w">()`.
  template <FieldName Name> auto get() const {
    constexpr size_t index = find(Name.text);
    if (reads)
      reads->insert(Name.text);
    return table.template get_field<index>();
  }

private:
  static consteval size_t find(std::string_view name) {
    const auto &names = Table::Traits::field_names;
    return size_t(std::find(names.begin(), names.end(), name) - names.begin());
  }

  const Table &table;
  llvm::StringSet<> *reads;
};

/// A TensorFlow Lite operator that is being imported.
class TFLiteOp final : public ImportedOp {
public:
  TFLiteOp(const schema::Operator &op, llvm::StringRef type,
           llvm::ArrayRef<TFLiteTensor *> inputs,
           llvm::ArrayRef<TFLiteTensor *> outputs,
           llvm::ArrayRef<TFLiteTensor *> intermediates,
           TFLiteContext &context);

  llvm::StringRef getType() const { return type; }
  TFLiteContext &getContext() const { return context; }

  /// The options; those that a file without them stands for if there are none.
  template <typename Options> OperatorOptions<Options> options() const {
    const Options *stored = findOptions<Options>();
    const void *table = stored ? stored : getEmptyTable();
    return {*static_cast<const Options *>(table), stored ? &reads : nullptr};
  }
  /// The options, or an error if the file has none.
  template <typename Options>
  llvm::Expected<OperatorOptions<Options>> requireOptions() const {
    if (findOptions<Options>())
      return options<Options>();
    llvm::StringRef name = Options::Traits::fully_qualified_name;
    return makeError("it has no {0}", name.rsplit('.').second);
  }
  /// Returns an error if the file has set something of the operator that was
  /// not read. To be called when the operator is imported.
  llvm::Error checkReads() const;
  /// Those of a custom operator.
  llvm::ArrayRef<uint8_t> getCustomOptions() const;
  /// Notes that option \p name was read.
  void noteRead(llvm::StringRef name) const { reads.insert(name); }

  //===- Inputs -------------------------------------------------------------//

  unsigned getNumInputs() const override { return unsigned(inputs.size()); }
  bool hasInput(unsigned index) const {
    return index < inputs.size() && inputs[index];
  }
  /// Input \p index, which exists if it is below the operator's least number of
  /// inputs; null if it is absent.
  NodeValue input(unsigned index) const override {
    return hasInput(index) ? inputs[index]->value : NodeValue();
  }
  const TFLiteTensor &getTensor(unsigned index) const { return *inputs[index]; }
  /// The constant input \p index, of any rank, as a list of integers.
  llvm::Expected<std::vector<int64_t>> getConstantInts(unsigned index) const {
    return ImportedOp::getConstantInts(index, /*mostRank=*/UINT_MAX);
  }
  /// Input \p index, which exists, as what is passed to a subgraph.
  TFLiteValue getValue(unsigned index) const;
  /// The variable that input \p index stands for, or an error if it is no
  /// resource.
  llvm::Expected<TFLiteVariable *> getResource(unsigned index) const;
  bool isQuantized(unsigned index) const {
    return hasInput(index) && inputs[index]->quantization.has_value();
  }
  /// Of an input with one scale (see checkQuantized); the zero point also of
  /// one whose zero points are the same.
  float getScale(unsigned index) const {
    return inputs[index]->quantization->getScale();
  }
  int64_t getZeroPoint(unsigned index) const {
    return inputs[index]->quantization->getZeroPoint();
  }
  /// An error if \p stated, option \p name, is set and not \p count.
  llvm::Error checkCount(llvm::StringRef name, int64_t stated,
                         int64_t count) const;
  /// An error unless input \p index has one scale.
  llvm::Error checkQuantized(unsigned index) const;
  /// An error unless no input is quantized.
  llvm::Error checkNotQuantized() const;
  /// An error unless dimensions of the inputs from \p first on, but for the
  /// \p numOwn last ones, broadcast in all runs as the bounds do.
  llvm::Error checkBroadcast(unsigned first = 0, unsigned numOwn = 0) const;
  /// An error if a run decides an extent of an input.
  llvm::Error checkAllKnown() const;

  /// What the file states of a tensor inside of the operator; null if it
  /// states none of that number.
  const TFLiteTensor *findIntermediate(unsigned index) const {
    return index < intermediates.size() ? intermediates[index] : nullptr;
  }

  //===- Outputs ------------------------------------------------------------//

  unsigned getNumOutputs() const { return unsigned(outputs.size()); }
  /// What the file states of output \p index.
  const Type &getStatedType(unsigned index = 0) const {
    return outputs[index]->type;
  }
  ElemKind getOutputKind(unsigned index = 0) const {
    return getStatedType(index).getKind();
  }
  bool isOutputQuantized(unsigned index = 0) const {
    return outputs[index]->quantization.has_value();
  }
  float getOutputScale(unsigned index = 0) const {
    return outputs[index]->quantization->getScale();
  }
  int64_t getOutputZeroPoint(unsigned index = 0) const {
    return outputs[index]->quantization->getZeroPoint();
  }
  const std::optional<Quantization> &
  getOutputQuantization(unsigned index = 0) const {
    return outputs[index]->quantization;
  }
  /// An error unless output \p index has one scale.
  llvm::Error checkOutputQuantized(unsigned index = 0) const;
  /// An error if \p stated, option \p name, is set and not the type that the
  /// file states of output 0.
  llvm::Error checkOutputType(llvm::StringRef name,
                              schema::TensorType stated) const;
  /// Sets output \p index to \p value, which has the stated kind, or returns
  /// the first error.
  llvm::Error setOutput(unsigned index, NodeValue value);
  /// Makes \p variable what output \p index stands for.
  llvm::Error setResource(unsigned index, TFLiteVariable &variable);
  /// Makes \p value the next one of input \p index, a variable.
  llvm::Error setVariable(unsigned index, NodeValue value);

  //===- Creating nodes -----------------------------------------------------//

  /// The int32 \p x times \p factor, rounded as TensorFlow Lite does.
  NodeValue rescale(NodeValue x, double factor);
  NodeValue rescale(NodeValue x, FixedPointFactor factor);
  /// Times one factor for each index of the last dimension.
  NodeValue rescale(NodeValue x, llvm::ArrayRef<double> factors);

private:
  /// The options that the file has, in one of two fields; null if it has none,
  /// or others.
  template <typename Options> const Options *findOptions() const {
    constexpr auto type = schema::BuiltinOptionsTraits<Options>::enum_value;
    constexpr auto later = schema::BuiltinOptions2Traits<Options>::enum_value;
    bool isFirst = type != schema::BuiltinOptions::NONE &&
                   op.builtin_options_type() == type;
    bool isSecond = later != schema::BuiltinOptions2::NONE &&
                    op.builtin_options_2_type() == later;
    const void *table = isFirst    ? op.builtin_options()
                        : isSecond ? op.builtin_options_2()
                                   : nullptr;
    return static_cast<const Options *>(table);
  }
  /// A table in which no field is stored.
  static const void *getEmptyTable();
  NodeValue foldKnown(NodeValue value);
  llvm::StringRef getInputName(unsigned index) const override {
    return hasInput(index) ? llvm::StringRef(inputs[index]->name)
                           : llvm::StringRef();
  }
  std::string describeInput(unsigned index) const override;
  double readNumber(llvm::StringRef name, double defaultValue) override;

  const schema::Operator &op;
  std::string type;
  /// The names of the options that were read.
  mutable llvm::StringSet<> reads;
  /// Null where an input is absent.
  std::vector<TFLiteTensor *> inputs;
  std::vector<TFLiteTensor *> outputs;
  /// Null where one is absent.
  std::vector<TFLiteTensor *> intermediates;
  TFLiteContext &context;
};

/// Properties of an operator, checked before its importer is called.
struct TFLiteOpTraits {
  InputCount inputs = 1;
  /// The least number of outputs: none of operators that only run a subgraph or
  /// assign a variable.
  unsigned minOutputs = 1;
  /// The first input that may be absent; all behind the least number may, but
  /// none of operators with any number of inputs.
  unsigned firstOptional = ~0u;
  /// Whether inputs may be resources.
  bool takesResources = false;
  /// Whether no run may decide extents of inputs.
  bool needsKnownExtents = false;
  /// One-line description of what is not supported.
  llvm::StringLiteral limit = "";

  unsigned getFirstOptional() const {
    return inputs.most == manyInputs ? manyInputs
                                     : std::min(inputs.least, firstOptional);
  }
};

using TFLiteOperators = OperatorTable<TFLiteOp, TFLiteOpTraits>;
using RegisteredTFLiteOp = TFLiteOperators::Entry;
/// The importer of the operator \p name, or of all external operators where
/// \p options declare it as one, or null.
const RegisteredTFLiteOp *findTFLiteOperator(llvm::StringRef name,
                                             const ImportOptions &options);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_TFLITEOP_H

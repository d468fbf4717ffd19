//===- AtenOp.h - An operator of ATen being imported ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_ATENOP_H
#define GLOWISH_LIB_IMPORTER_ATEN_ATENOP_H

#include "Aten/Schema.h"
#include "Common/Fourier.h"
#include "Common/ImportedOp.h"

namespace glowish::aten {

/// The tensors that an importer takes.
enum class AtenElements {
  /// Real ones; Aten/Complex.h and Aten/Quantized.h say which operators take
  /// others, too.
  Real,
  /// Real and complex ones, the parts of which AtenOp::complex() returns.
  RealOrComplex,
  /// Real and quantized ones, which readFloat() and readQuantized() take.
  RealOrQuantized,
};

/// State shared by the operators of a program during import.
struct AtenContext {
  FoldingBudget &budget;
  /// Evaluates shape arithmetic; null if nothing is folded.
  const NodeEvaluator &evaluate;
  /// Called with a one-line message for each argument that is ignored.
  llvm::function_ref<llvm::Error(llvm::StringRef)> report;
  /// Whether Dropout is kept, for training.
  bool isTraining = false;
  /// How many operators have drawn random values: each has a key of its own.
  uint64_t numDraws = 0;
};

/// An operator of ATen that is being imported. Its arguments are those of the
/// schema, which they have been checked against; those that are tensors are its
/// inputs.
class AtenOp final : public ImportedOp {
public:
  /// \p arguments has one value for each of \p schema.
  AtenOp(Function &function, llvm::StringRef name, const AtenSchema &schema,
         AtenValue::List arguments, AtenContext &context);

  const AtenSchema &getSchema() const { return schema; }
  AtenContext &getContext() const { return context; }
  /// Returns the error of the constructor, or one unless each argument is of
  /// its type, with tensors of \p elements, and the values of each extent fit
  /// 64 bits.
  llvm::Error checkArguments(AtenElements elements = AtenElements::Real);

  unsigned getNumInputs() const override { return unsigned(arguments.size()); }
  NodeValue input(unsigned index) const override {
    const AtenValue &value = arguments[index];
    return value.isTensor() ? value.get<NodeValue>() : NodeValue();
  }

  //===- Arguments ----------------------------------------------------------//

  // All take the name of an argument of the schema; it is a mistake of the
  // translation if there is none, or one of another type.

  const AtenValue &get(llvm::StringRef argument) const;
  bool isNone(llvm::StringRef argument) const { return get(argument).isNone(); }
  /// Returns whether the schema has an argument of this name. The functions
  /// below need it.
  bool has(llvm::StringRef argument) const {
    return schema.findArgument(argument).has_value();
  }
  /// Returns whether the schema has the argument, and it is not None.
  bool isStated(llvm::StringRef argument) const {
    return has(argument) && !isNone(argument);
  }
  /// Returns a tensor; null if it is None.
  NodeValue tensor(llvm::StringRef argument) const;
  using ImportedOp::getShape;
  DimsRef getShape(llvm::StringRef argument) const {
    return tensor(argument).getShape();
  }
  int64_t getRank(llvm::StringRef argument) const {
    return int64_t(getShape(argument).size());
  }
  /// Returns the parts of a tensor that may be complex; a real one has no
  /// imaginary part.
  ComplexParts complex(llvm::StringRef argument) const;
  /// Returns the tensors of a list, null ones where it has None.
  std::vector<NodeValue> tensors(llvm::StringRef argument) const;
  /// Returns an int, or the bound of an extent that a run decides.
  int64_t integer(llvm::StringRef argument) const;
  /// Returns the ints, or bounds, of a list; a single one is a list of one, and
  /// None is empty.
  std::vector<int64_t> integers(llvm::StringRef argument) const;
  /// Returns \p length ints, for all of which a single one may stand; an error
  /// if there are more or fewer.
  llvm::Expected<std::vector<int64_t>> integers(llvm::StringRef argument,
                                                size_t length) const;
  using NodeBuilder::number;
  /// Returns a float, or a Scalar, which must be known.
  llvm::Expected<double> number(llvm::StringRef argument) const;
  double number(llvm::StringRef argument, double ifNone) const;
  /// Returns the floats of a list; None is empty.
  std::vector<double> numbers(llvm::StringRef argument) const;
  bool flag(llvm::StringRef argument) const;
  std::string text(llvm::StringRef argument) const;
  /// Returns the kind that an argument of type ScalarType states; \p ifNone if
  /// it is None.
  ElemKind kind(llvm::StringRef argument, ElemKind ifNone) const;
  /// Returns a dimension of a tensor of \p rank, of which negative numbers
  /// count from the end. A scalar has one dimension.
  llvm::Expected<int64_t> axis(llvm::StringRef argument, int64_t rank) const;
  /// Returns the dimensions of a list in ascending order; all if it is empty or
  /// None.
  llvm::Expected<std::vector<int64_t>> axes(llvm::StringRef argument,
                                            int64_t rank) const;
  /// Returns the type of a new tensor, which `dtype` and `size` state, or
  /// `self` where they are None or missing. Without `self` a dtype that is None
  /// is
  /// \p ifNone.
  llvm::Expected<Type> newType(ElemKind ifNone) const;
  /// Returns an int as an expression of extents; none of other values.
  std::optional<Extent> extent(llvm::StringRef argument) const;
  /// Returns the ints of a list, or a single one, as expressions of extents.
  std::vector<Extent> lengths(llvm::StringRef argument) const;
  /// Returns the bound of an extent that a run decides; none of other values.
  std::optional<int64_t> getBound(llvm::StringRef argument) const;
  /// Returns a tensor or number as a tensor of \p kind.
  NodeValue operand(llvm::StringRef argument, ElemKind kind);
  /// Returns \p value times the number \p factor; \p value itself if that is 1.
  NodeValue scale(NodeValue value, llvm::StringRef factor);
  /// Returns an error that describes \p argument and says which values are
  /// \p accepted.
  llvm::Error refuse(llvm::StringRef argument, llvm::StringRef accepted) const;

  //===- Other operators ----------------------------------------------------//

  /// Returns the results of the operator of the table \p operatorName
  /// ("conv2d"), of \p operands, one for each argument of its schema.
  llvm::Expected<AtenValue::List> call(llvm::StringRef operatorName,
                                       AtenValue::List operands);

  //===- Element kinds ------------------------------------------------------//

  /// Returns the kind of a result of these tensors and numbers by PyTorch's
  /// rules of type promotion.
  ElemKind promote(llvm::ArrayRef<llvm::StringRef> arguments) const;
  /// Returns the kind that promote() does; float for integers and bools.
  ElemKind promoteToFloat(llvm::ArrayRef<llvm::StringRef> arguments) const;
  /// Returns a tensor, as float if it has integers or bools.
  NodeValue floating(llvm::StringRef argument);
  /// Casts half precision to float, in which PyTorch computes functions of
  /// several steps.
  NodeValue widen(NodeValue value);
  /// Casts float16 to float. PyTorch computes some functions of float16 in
  /// float, on GPUs, but those of bfloat16 in bfloat16, on CPUs.
  NodeValue widenFloat16(NodeValue value);
  using ImportedOp::checkFloat;
  /// Returns an error unless the elements of a tensor are floats.
  llvm::Error checkFloat(llvm::StringRef argument) const;

  //===- Results ------------------------------------------------------------//

  /// Sets result \p index, or returns the first error.
  llvm::Error setResult(NodeValue value, unsigned index = 0);
  llvm::Error setResult(llvm::ArrayRef<NodeValue> list, unsigned index = 0);
  llvm::Error setResult(AtenValue value, unsigned index = 0);
  /// Sets a complex result, or a real one if it has no imaginary part.
  llvm::Error setResult(ComplexParts parts, unsigned index = 0);
  /// Sets the result of an operator that packs weights: the list of its
  /// arguments.
  llvm::Error setPacked();
  /// Returns a value for each result of the schema, None for those that were
  /// not set.
  AtenValue::List takeResults() { return std::move(results); }

private:
  double readNumber(llvm::StringRef name, double defaultValue) override;
  void convertNumbers();
  int64_t getInteger(const AtenValue &value) const;
  int64_t getBound(const Extent &extent) const;
  llvm::StringRef getInputName(unsigned index) const override {
    return schema.arguments[index].name;
  }

  const AtenSchema &schema;
  AtenValue::List arguments, results;
  /// Extents that have become tensors, by the numbers of their arguments.
  std::map<unsigned, Extent> extents;
  AtenContext &context;
};

//===- Element kinds ------------------------------------------------------===//

/// Returns the kind that both of two kinds convert to.
ElemKind promoteKinds(ElemKind x, ElemKind y);
/// Returns the element kind with the number \p number of c10::ScalarType; none
/// if tensors of the graph don't have it.
std::optional<ElemKind> getAtenKind(int64_t number);

//===- Registry -----------------------------------------------------------===//

/// Imports one operator: creates its nodes and sets the results.
using AtenImporter = llvm::Error (*)(AtenOp &op);

/// The order in memory of the elements of an operator's result, where it is no
/// view. PyTorch's programs can ask for it.
enum class AtenOrder {
  /// Row-major if all operands are; else it isn't known.
  OfOperands,
  /// Row-major whatever the operands are.
  RowMajor,
  /// Another one may result of row-major operands.
  Unknown,
  /// That of an operator on each element: see combineStrides().
  ElementWise,
  /// That of the first operand, unless `memory_format` states one.
  Kept,
  /// Channels last if images of the operands are so, else row-major.
  Images,
};

/// An operator, and how it is imported.
struct RegisteredAtenOp {
  AtenSchema schema;
  AtenImporter importer;
  AtenOrder order;
  AtenElements elements;
  /// The schema as a text.
  std::string text;
};

/// Schemas of operators that one function imports.
struct AtenRow {
  AtenImporter importer;
  std::initializer_list<llvm::StringLiteral> schemas;
};

/// Registers the translation of operators, as a static object:
/// `static AtenOperators ops({{importRelu, {"relu(Tensor self) ->
/// Tensor"}}});`.
class AtenOperators {
public:
  AtenOperators(std::initializer_list<AtenRow> rows,
                AtenOrder order = AtenOrder::OfOperands,
                AtenElements elements = AtenElements::Real)
      : AtenOperators({""}, rows, order, elements) {}
  /// Registers a family of schemas: each text of \p rows, a name or a schema up
  /// to where they differ, with each of \p endings.
  AtenOperators(std::initializer_list<llvm::StringLiteral> endings,
                std::initializer_list<AtenRow> rows,
                AtenOrder order = AtenOrder::OfOperands,
                AtenElements elements = AtenElements::Real);
};

/// An element-wise operator of ATen that the record of a node names.
struct AtenRecord {
  NodeKind kind;
  llvm::StringLiteral name;
  unsigned numOperands;
  /// The element kinds, as the record states them.
  llvm::StringLiteral kinds;
  AtenImporter importer;
};

/// Registers operators that records name, as a static object: functions of one
/// tensor, which have the attributes as Scalars, comparisons, and functions of
/// two bools.
class AtenRecords {
public:
  AtenRecords(std::initializer_list<AtenRecord> records);
};

/// The ending of the schemas of operators that create tensors.
inline constexpr llvm::StringLiteral tensorOptions =
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor";
/// The ending of the schemas of operators that create tensors like others.
inline constexpr llvm::StringLiteral tensorOptionsWithFormat =
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";

/// Returns the operator of the full name \p name ("add.Tensor"), or null.
const RegisteredAtenOp *findAtenOperator(llvm::StringRef name);
/// Returns all overloads of the operator called \p name, such as "add".
std::vector<const RegisteredAtenOp *> findAtenOverloads(llvm::StringRef name);

/// Creates the nodes of \p op for \p arguments, one for each of its schema, and
/// returns its results. Errors name neither node nor operator.
llvm::Expected<AtenValue::List> importAtenOperator(const RegisteredAtenOp &op,
                                                   Function &function,
                                                   llvm::StringRef name,
                                                   AtenValue::List arguments,
                                                   AtenContext &context);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_ATENOP_H

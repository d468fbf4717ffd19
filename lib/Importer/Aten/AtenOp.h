//===- AtenOp.h - An operator of ATen being imported ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_ATENOP_H
#define GLOWISH_LIB_IMPORTER_ATEN_ATENOP_H

#include "Aten/Schema.h"
#include "Common/Axes.h"
#include "Common/Folding.h"
#include "Common/Fourier.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Support/Error.h"

namespace glowish::aten {

/// State shared by the operators of a program during import.
struct AtenContext {
  FoldingBudget &budget;
  /// Evaluates shape arithmetic; null if nothing is folded.
  const NodeEvaluator &evaluate;
  /// Called with a one-line message for what is ignored.
  llvm::function_ref<llvm::Error(llvm::StringRef)> report;
  /// Whether Dropout is kept, for training.
  bool isTraining = false;
  /// How many operators have drawn random values: each has a key of its own.
  uint64_t numDraws = 0;
};

/// An operator of ATen that is imported as nodes, built by the expressions of a
/// NodeBuilder. Its arguments are those of the schema, which they have been
/// checked against. The first error is kept; the caller adds the node's name
/// and the operator's.
class AtenOp final : public NodeBuilder {
public:
  /// \p arguments has one value for each of \p schema.
  AtenOp(Function &function, llvm::StringRef name, const AtenSchema &schema,
         AtenValue::List arguments, AtenContext &context);

  const AtenSchema &getSchema() const { return schema; }
  AtenContext &getContext() const { return context; }
  /// Returns the error of the constructor, or one unless each argument is of
  /// its type and the values of each extent fit 64 bits. With \p takesComplex
  /// tensors may be complex.
  llvm::Error checkArguments(bool takesComplex = false);

  /// Returns the ranges of the symbols in extents.
  const SymbolRanges &getSymbols() const { return module.getSymbols(); }

  //===- Arguments ----------------------------------------------------------//

  // All take the name of an argument of the schema; it is a mistake of the
  // translation if there is none, or one of another type.

  const AtenValue &get(llvm::StringRef argument) const;
  bool isNone(llvm::StringRef argument) const { return get(argument).isNone(); }
  /// Whether the schema has an argument of this name. The functions below need
  /// it.
  bool has(llvm::StringRef argument) const {
    return schema.findArgument(argument).has_value();
  }
  /// Whether the schema has it, and it is not None.
  bool isStated(llvm::StringRef argument) const {
    return has(argument) && !isNone(argument);
  }
  /// A tensor; null if it is None.
  NodeValue tensor(llvm::StringRef argument) const;
  DimsRef getShape(llvm::StringRef argument) const {
    return tensor(argument).getShape();
  }
  int64_t getRank(llvm::StringRef argument) const {
    return int64_t(getShape(argument).size());
  }
  /// The parts of a tensor that may be complex: of a real one it has no
  /// imaginary part.
  ComplexParts complex(llvm::StringRef argument) const;
  /// The tensors of a list; null ones where it has None.
  std::vector<NodeValue> tensors(llvm::StringRef argument) const;
  /// Returns an int, or the bound of an extent that a run decides.
  int64_t integer(llvm::StringRef argument) const;
  /// The same of a list; a single one is a list of one, and None is empty.
  std::vector<int64_t> integers(llvm::StringRef argument) const;
  /// \p length ints; a single one stands for all of them. An error if there are
  /// others.
  llvm::Expected<std::vector<int64_t>> integers(llvm::StringRef argument,
                                                size_t length) const;
  using NodeBuilder::number;
  /// A float, or a Scalar, which must be known.
  llvm::Expected<double> number(llvm::StringRef argument) const;
  double number(llvm::StringRef argument, double ifNone) const;
  /// Floats of a list; None is empty.
  std::vector<double> numbers(llvm::StringRef argument) const;
  bool flag(llvm::StringRef argument) const;
  std::string text(llvm::StringRef argument) const;
  /// The kind that an argument of type ScalarType states, \p ifNone if None.
  ElemKind kind(llvm::StringRef argument, ElemKind ifNone) const;
  /// A dimension of a tensor of \p rank; negative ones count from the end. A
  /// scalar has one dimension.
  llvm::Expected<int64_t> axis(llvm::StringRef argument, int64_t rank) const;
  /// Ascending dimensions; all if the list is empty or None.
  llvm::Expected<std::vector<int64_t>> axes(llvm::StringRef argument,
                                            int64_t rank) const;
  /// The type of a new tensor: `dtype` and `size`, or those of `self` where it
  /// states none. Without `self` a dtype that is None is \p ifNone.
  Type newType(ElemKind ifNone) const;
  /// Returns an int as an expression of extents; none of other values.
  std::optional<Extent> extent(llvm::StringRef argument) const;
  /// Returns the ints of a list, or a single one, as expressions of extents.
  std::vector<Extent> lengths(llvm::StringRef argument) const;
  /// Returns the type of \p kind with dimensions of \p lengths. A dimension has
  /// the bound that \p like has for the same length, if it does.
  Type makeType(ElemKind kind, llvm::ArrayRef<Extent> lengths,
                const Type &like = {}) const;
  /// Returns the bound of an extent that a run decides; none of other values.
  std::optional<int64_t> getBound(llvm::StringRef argument) const;
  /// A tensor or number as a tensor of \p kind.
  NodeValue operand(llvm::StringRef argument, ElemKind kind);
  /// \p value times the number \p factor; \p value itself if that is 1.
  NodeValue scale(NodeValue value, llvm::StringRef factor);
  /// An error that states what \p argument is and what is \p accepted.
  llvm::Error refuse(llvm::StringRef argument, llvm::StringRef accepted) const;

  //===- Element kinds ------------------------------------------------------//

  /// The kind of a result of these tensors and numbers by PyTorch's rules of
  /// type promotion.
  ElemKind promote(llvm::ArrayRef<llvm::StringRef> arguments) const;
  /// Like promote(), where integers and bools become float.
  ElemKind promoteToFloat(llvm::ArrayRef<llvm::StringRef> arguments) const;
  /// A tensor; float if it has integers or bools.
  NodeValue floating(llvm::StringRef argument);
  /// Half precision as float, in which PyTorch computes functions of several
  /// steps.
  NodeValue widen(NodeValue value);
  /// Casts float16 to float. PyTorch computes some functions of float16 in
  /// float, on GPUs, but those of bfloat16 in bfloat16, on CPUs.
  NodeValue widenFloat16(NodeValue value);
  /// An error unless the elements of a tensor are floats.
  llvm::Error checkFloat(llvm::StringRef argument) const;

  //===- Results ------------------------------------------------------------//

  /// Sets result \p index, or returns the first error.
  llvm::Error setResult(NodeValue value, unsigned index = 0);
  llvm::Error setResult(llvm::ArrayRef<NodeValue> list, unsigned index = 0);
  llvm::Error setResult(AtenValue value, unsigned index = 0);
  /// Sets a complex result, or a real one if it has no imaginary part.
  llvm::Error setResult(ComplexParts parts, unsigned index = 0);
  /// One for each result of the schema; None for those that were not set.
  AtenValue::List takeResults() { return std::move(results); }

  //===- Creating nodes -----------------------------------------------------//

  /// A constant of \p kind and \p shape with the elements \p values.
  NodeValue ints(ElemKind kind, DimsRef shape, llvm::ArrayRef<int64_t> values);

private:
  void convertNumbers();
  int64_t getInteger(const AtenValue &value) const;
  int64_t getBound(const Extent &extent) const;
  llvm::Expected<NodeValue> create(NodeDraft draft) override;
  llvm::Error checkConstant(const Type &type) override {
    return context.budget.check(type.getSizeInBytes());
  }

  const Module &module;
  const AtenSchema &schema;
  AtenValue::List arguments, results;
  /// Extents that have become tensors, by the numbers of their arguments.
  std::map<unsigned, Extent> extents;
  AtenContext &context;
};

//===- Element kinds ------------------------------------------------------===//

/// The kind that both of two kinds convert to.
ElemKind promoteKinds(ElemKind x, ElemKind y);
/// The element kind with the number \p number of c10::ScalarType; none of those
/// that tensors of the graph don't have.
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

/// The tensors that an importer takes.
enum class AtenElements {
  /// Real ones; Aten/Complex.h says which operators take others, too.
  Real,
  /// Those that AtenOp::complex() returns the parts of.
  RealOrComplex,
};

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

/// The ending of the schemas of operators that create tensors.
inline constexpr llvm::StringLiteral tensorOptions =
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor";
/// That of operators that create them like others.
inline constexpr llvm::StringLiteral tensorOptionsWithFormat =
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";

/// The operator of the full name \p name ("add.Tensor"), or null.
const RegisteredAtenOp *findAtenOperator(llvm::StringRef name);
/// Returns all overloads of the operator called \p name, such as "add".
std::vector<const RegisteredAtenOp *> findAtenOverloads(llvm::StringRef name);

/// Creates the nodes of \p op for \p arguments, one for each of its schema:
/// its results. Errors name neither node nor operator.
llvm::Expected<AtenValue::List> importAtenOperator(const RegisteredAtenOp &op,
                                                   Function &function,
                                                   llvm::StringRef name,
                                                   AtenValue::List arguments,
                                                   AtenContext &context);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_ATENOP_H

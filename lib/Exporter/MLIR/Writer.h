//===- Writer.h - Write nodes as operations of a dialect --------*- C++ -*-===//
//
// MlirWriter has what the forms of nodes (Forms/) are composed of: operations
// on whole tensors. Those that are virtual are written by a dialect.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_WRITER_H
#define GLOWISH_LIB_EXPORTER_MLIR_WRITER_H

#include "ImageWindows.h"
#include "MLIR/ConstantTable.h"
#include "MLIR/Scalar.h"
#include "MLIR/Text.h"
#include "NodeKindOf.h"
#include "glowish/Exporter/MLIR.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace glowish {

using MlirValues = std::vector<MlirValue>;
using IntsRef = llvm::ArrayRef<int64_t>;
/// Computes an element of elements.
using ScalarFunction =
    llvm::function_ref<MlirScalar(llvm::ArrayRef<MlirScalar> elements)>;

/// "%1, %2".
std::string joinNames(llvm::ArrayRef<MlirValue> values);
llvm::SmallVector<Type, 4> getTypes(llvm::ArrayRef<MlirValue> values);
/// "%1, %2 : tensor<...>, tensor<...>".
std::string formatOperands(llvm::ArrayRef<MlirValue> values,
                           TextStyle style = TextStyle::Llvm);

/// What sums of elements of \p kind are kept in: float for half precisions.
ElemKind getSumKind(ElemKind kind);

/// \p shape with 1, or nothing, in place of the extents of \p axes.
Dims getReducedShape(DimsRef shape, IntsRef axes, bool keepDims);

/// What a reduction of \p mode makes of no elements; a mean has no such value.
double getReductionIdentity(llvm::StringRef mode);

/// A convolution of operands of one kind.
struct MlirConvolution {
  MlirValue input, filter, bias;
  IntsRef strides, pads, dilations;
  int64_t group = 1;
  /// What every element of int8 is less; of TOSA alone.
  int64_t inputZero = 0, filterZero = 0;

  /// Returns that of \p node with these operands.
  template <typename T>
  static MlirConvolution of(const T &node, const MlirValue &input,
                            const MlirValue &filter, const MlirValue &bias) {
    return {.input = input,
            .filter = filter,
            .bias = bias,
            .strides = node.getStrides(),
            .pads = node.getPads(),
            .dilations = node.getDilations(),
            .group = node.getGroup()};
  }
};

class MlirWriter {
public:
  /// Those that have the forms that are composed with it.
  static constexpr llvm::ArrayRef<MlirDialect> formDialects = allMlirDialects;

  explicit MlirWriter(ConstantTable &constants) : constants(constants) {}
  virtual ~MlirWriter() = default;

  virtual MlirDialect getDialect() const = 0;

  /// Writes the nodes of \p function that it saves or that these depend on.
  /// Its inputs must have been set.
  void writeNodes(const Function &function);
  /// The operations of the function, indented.
  llvm::StringRef getText() const { return text; }

  //===- Errors -------------------------------------------------------------//

  /// Records that the node that is being written cannot be expressed, for
  /// \p reason. What is written of the function is of no use then.
  void refuse(const llvm::Twine &reason);
  /// Records that the dialect has nothing for \p what, and returns a value that
  /// stands for one.
  MlirValue refuseValue(const llvm::Twine &what, const Type &type);
  /// "'a' (Scatter): linalg ...", for each refused node.
  llvm::ArrayRef<std::string> getRefusals() const { return refusals; }

  //===- Values of the function ---------------------------------------------//

  /// Null for null.
  MlirValue get(NodeValue value);
  /// Returns \p value in the kind that sums of it are kept in.
  MlirValue getWide(NodeValue value) { return widen(get(value)); }
  void set(NodeValue value, const MlirValue &written);
  /// Sets the only result of \p node to \p written, converted to its kind.
  void setResult(const Node &node, const MlirValue &written);
  void setResults(const Node &node, llvm::ArrayRef<MlirValue> written);
  /// Writes the nodes of \p body, of which \p arguments are the parameters, and
  /// returns the values of its results.
  MlirValues writeBody(const Function &body,
                       llvm::ArrayRef<MlirValue> arguments);
  /// The same of a branch of \p node.
  MlirValues writeBranch(const IfNode &node, const std::shared_ptr<Body> &body);
  /// The same of an iteration of \p node, whose number, condition and states
  /// are
  /// \p values.
  MlirValues writeIteration(const LoopNode &node,
                            llvm::ArrayRef<MlirValue> values);
  /// Returns the value saved to \p placeholder, or null.
  MlirValue getSaved(const Node *placeholder);
  void save(const Node *placeholder, NodeValue value) {
    saved[placeholder] = value;
  }

  //===- Tensors ------------------------------------------------------------//

  /// \p function of the elements of \p operands, which broadcast to \p shape:
  /// values of half precisions are float. What it returns is converted to
  /// \p kind.
  MlirValue map(ElemKind kind, DimsRef shape,
                llvm::ArrayRef<MlirValue> operands, ScalarFunction function);
  /// The same of elements as they are stored, and \p function returns one of
  /// \p kind.
  virtual MlirValue mapElements(ElemKind kind, DimsRef shape,
                                llvm::ArrayRef<MlirValue> operands,
                                ScalarFunction function) = 0;
  /// \p operands' common shape, and the kind of the result.
  MlirValue mapSame(ElemKind kind, llvm::ArrayRef<MlirValue> operands,
                    ScalarFunction function);
  MlirValue cast(const MlirValue &x, ElemKind kind);
  MlirValue bitCast(const MlirValue &x, ElemKind kind);
  /// As getSumKind() says.
  MlirValue widen(const MlirValue &x) {
    return cast(x, getSumKind(x.getKind()));
  }
  MlirValue sub(const MlirValue &x, const MlirValue &y);
  MlirValue mul(const MlirValue &x, const MlirValue &y);
  MlirValue add(const MlirValue &x, const MlirValue &y);
  MlirValue div(const MlirValue &x, const MlirValue &y);

  /// \p mode of Reduce but mean, in the kind of \p x.
  virtual MlirValue reduce(llvm::StringRef mode, const MlirValue &x,
                           IntsRef axes, bool keepDims) = 0;
  virtual MlirValue reshape(const MlirValue &x, DimsRef shape) = 0;
  virtual MlirValue transpose(const MlirValue &x, IntsRef permutation) = 0;
  virtual MlirValue broadcast(const MlirValue &x, DimsRef shape) = 0;
  virtual MlirValue slice(const MlirValue &x, IntsRef starts, IntsRef sizes,
                          IntsRef steps) = 0;
  virtual MlirValue concat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                           const Type &type) = 0;
  /// \p pads: before, then after each dimension; negative ones crop.
  MlirValue pad(const MlirValue &x, IntsRef pads, double value);
  /// With pads that are not negative.
  virtual MlirValue padWider(const MlirValue &x, IntsRef pads,
                             double value) = 0;
  /// Pads of images: [top, left, bottom, right].
  MlirValue padImages(const MlirValue &x, IntsRef pads, double value);
  virtual MlirValue splat(const Type &type, double value) = 0;
  MlirValue constant(Tensor tensor) {
    return constants.getSmall(std::move(tensor));
  }
  /// An int64 constant of rank 1.
  MlirValue ints(IntsRef values);
  /// Returns a constant with the elements \p element(0), \p element(1), ...
  MlirValue table(ElemKind kind, DimsRef shape,
                  llvm::function_ref<double(int64_t i)> element);

  //===- Sums of products, and windows --------------------------------------//

  /// In the kind of the operands, which leading dimensions broadcast.
  virtual MlirValue matMul(const MlirValue &lhs, const MlirValue &rhs,
                           const Type &type) = 0;
  virtual MlirValue convolve(const MlirConvolution &convolution,
                             const Type &type) = 0;
  /// "max" or "sum" of the elements of each window, in the kind of \p x.
  virtual MlirValue pool(llvm::StringRef mode, const MlirValue &x,
                         const Windows &window, const Type &type) = 0;
  /// Divides \p sums of the windows over images of \p size, [H, W], by the
  /// number of elements that each has.
  MlirValue divideByTaps(const MlirValue &sums, const Windows &window,
                         IntsRef size, bool countPads);

  //===- Elements at computed places ----------------------------------------//

  virtual MlirValue gather(const MlirValue &x, const MlirValue &indices,
                           int64_t axis, const Type &type) = 0;
  virtual MlirValue argMax(const MlirValue &x, int64_t axis, bool selectLast,
                           const Type &type) = 0;

  //===- Scalars ------------------------------------------------------------//

  /// Operands of half precisions have been loaded.
  virtual MlirScalar applyPrimitive(ScalarPrimitive primitive,
                                    llvm::ArrayRef<MlirScalar> args) = 0;
  virtual MlirScalar literal(const MlirScalar &like, ElemKind kind,
                             double value) = 0;
  /// \p x as \p kind, where the values of both have a meaning: floats are
  /// truncated and in range, integers wrap.
  virtual MlirScalar castScalar(const MlirScalar &x, ElemKind kind) = 0;
  virtual MlirScalar bitCastScalar(const MlirScalar &x, ElemKind kind) = 0;
  virtual MlirScalar lookup(const MlirScalar &x,
                            llvm::ArrayRef<double> table) = 0;
  /// Returns a constant with \p numbers of \p kind.
  MlirValue makeLookupTable(ElemKind kind, llvm::ArrayRef<double> numbers) {
    return table(kind, {int64_t(numbers.size())},
                 [&](int64_t i) { return numbers[size_t(i)]; });
  }

  //===- Text ---------------------------------------------------------------//

  /// A new name of a value: "%5".
  std::string newName() { return "%" + std::to_string(nextName++); }
  /// Writes a line at the current depth.
  void line(const llvm::Twine &content);
  void indent() { ++depth; }
  void outdent() { --depth; }
  /// Writes an operation with one result.
  MlirValue op(const Type &type, const llvm::Twine &content) {
    std::string name = newName();
    line(name + " = " + content);
    return {name, type};
  }
  /// Writes a region: what \p body writes, and \p terminator with the values
  /// that it returns.
  void region(llvm::StringRef terminator,
              llvm::function_ref<MlirValues()> body);
  /// Writes an operation with results of \p types, up to what comes before its
  /// regions.
  MlirValues beginOp(llvm::ArrayRef<Type> types, const llvm::Twine &content);
  ConstantTable &getConstants() { return constants; }
  /// Declares a function that is called \p name, or like that where another one
  /// has it, and continues with \p signature. Returns the symbol to be called:
  /// the same for the same declaration.
  std::string declareFunction(llvm::StringRef name, llvm::StringRef signature);
  /// The declarations, a line each.
  llvm::ArrayRef<std::string> getDeclarations() const { return declarations; }

private:
  void writeNode(const Node &node);

  ConstantTable &constants;
  llvm::DenseMap<NodeValue, MlirValue> values;
  llvm::DenseMap<const Node *, NodeValue> saved;
  std::vector<std::string> refusals, declarations;
  /// The symbols of the module, and those of declarations by their texts.
  llvm::StringSet<> symbols{{"main"}};
  llvm::StringMap<std::string> declared;
  const Node *current = nullptr;
  std::string text;
  unsigned nextName = 0, depth = 2;
};

std::unique_ptr<MlirWriter> createMlirWriter(MlirDialect dialect,
                                             ConstantTable &constants);

//===- Registration -------------------------------------------------------===//

/// Registers the form of a node kind, as a static object: `static const
/// MlirForm splat = [](MlirWriter &w, const SplatNode &node) { return
/// w.splat(...); };`. The first parameter states the dialects: MlirWriter, or
/// the writer of the only ones that have the form. The function returns the
/// results of the node, of which a single one is converted to its kind, or sets
/// them itself.
class MlirForm {
public:
  using Function = std::function<void(MlirWriter &w, const Node &node)>;
  using Predicate = bool (*)(const Node &node);

  template <typename Fn>
    requires std::is_class_v<Fn> && requires(Fn write) { +write; }
  MlirForm(Fn write) : MlirForm(+write) {}
  /// With \p accepts: for the nodes that it accepts, others are lowered.
  template <typename R, typename W, typename T>
  MlirForm(R (*write)(W &w, const T &node), Predicate accepts = nullptr)
      : MlirForm(W::formDialects, write, accepts) {}
  /// For \p dialects, of those that W is for.
  template <typename R, typename W, typename T>
  MlirForm(llvm::ArrayRef<MlirDialect> dialects,
           R (*write)(W &w, const T &node), Predicate accepts = nullptr)
      : MlirForm(kindOf<T>, dialects,
                 Function([write](MlirWriter &w, const Node &node) {
                   auto &writer = static_cast<W &>(w);
                   if constexpr (std::is_void_v<R>)
                     write(writer, llvm::cast<T>(node));
                   else if constexpr (std::is_same_v<R, MlirValues>)
                     w.setResults(node, write(writer, llvm::cast<T>(node)));
                   else
                     w.setResult(node, write(writer, llvm::cast<T>(node)));
                 }),
                 accepts) {}
  MlirForm(NodeKind kind, llvm::ArrayRef<MlirDialect> dialects, Function write,
           Predicate accepts);
};

/// Returns the form of \p kind in \p dialect, or null.
const MlirForm::Function *findMlirForm(MlirDialect dialect, NodeKind kind);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_WRITER_H

//===- Composer.h - Operators composed of several nodes ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_COMPOSER_H
#define GLOWISH_LIB_IMPORTER_ONNX_COMPOSER_H

#include "ONNX/OpContext.h"

namespace glowish {

/// Makes nodes as expressions: `c.mul(c.sub(x, mean), scale)`. The first error
/// is kept until finish(); from then on all values are null, and functions of
/// null values return null. Numbers are constants of the other operand's kind.
class Composer {
public:
  explicit Composer(OpContext &op) : op(op) {}

  /// The value that was composed, or the first error.
  llvm::Expected<NodeValue> finish(NodeValue value);
  /// Sets output \p index of the node.
  llvm::Error setOutput(unsigned index, NodeValue value) {
    return op.setOutput(index, finish(value));
  }
  bool hasFailed() const { return !message.empty(); }

  template <typename T, typename... Args> NodeValue make(Args &&...args) {
    return keep(op.create<T>(std::forward<Args>(args)...));
  }

  //===- Element-wise -------------------------------------------------------//

#define GLOWISH_COMPOSER_BINARY(NAME, NODE)                                    \
  NodeValue NAME(NodeValue x, NodeValue y) {                                   \
    return x && y ? make<NODE##Node>(x, y) : NodeValue();                      \
  }                                                                            \
  NodeValue NAME(NodeValue x, double y) {                                      \
    return x ? NAME(x, number(x, y)) : x;                                      \
  }                                                                            \
  NodeValue NAME(double x, NodeValue y) {                                      \
    return y ? NAME(number(y, x), y) : y;                                      \
  }
  GLOWISH_COMPOSER_BINARY(add, Add)
  GLOWISH_COMPOSER_BINARY(sub, Sub)
  GLOWISH_COMPOSER_BINARY(mul, Mul)
  GLOWISH_COMPOSER_BINARY(div, Div)
  GLOWISH_COMPOSER_BINARY(max, Max)
  GLOWISH_COMPOSER_BINARY(min, Min)
  GLOWISH_COMPOSER_BINARY(pow, Pow)
  GLOWISH_COMPOSER_BINARY(less, Less)
  GLOWISH_COMPOSER_BINARY(greater, Greater)
  GLOWISH_COMPOSER_BINARY(equal, Equal)
  GLOWISH_COMPOSER_BINARY(lessOrEqual, LessOrEqual)
  GLOWISH_COMPOSER_BINARY(greaterOrEqual, GreaterOrEqual)
  GLOWISH_COMPOSER_BINARY(logicalAnd, And)
  GLOWISH_COMPOSER_BINARY(logicalOr, Or)
#undef GLOWISH_COMPOSER_BINARY

  template <typename T> NodeValue unary(NodeValue x) {
    return x ? make<T>(x) : x;
  }
  NodeValue select(NodeValue condition, NodeValue x, NodeValue y) {
    return condition && x && y ? make<SelectNode>(condition, x, y)
                               : NodeValue();
  }
  NodeValue cast(NodeValue x, ElemKind kind) {
    return !x || x.getElemKind() == kind ? x : make<CastNode>(x, kind);
  }
  /// ~x, which is -x - 1 of unsigned and signed integers alike.
  NodeValue complement(NodeValue x) {
    return x ? sub(sub(number(x, 0), number(x, 1)), x) : x;
  }
  NodeValue clip(NodeValue x, double low, double high) {
    return x ? make<ClipNode>(x, low, high) : x;
  }

  //===- Data movement ------------------------------------------------------//

  NodeValue reshape(NodeValue x, DimsRef shape) {
    return x ? keep(op.reshape(x, shape)) : x;
  }
  NodeValue transpose(NodeValue x, llvm::ArrayRef<int64_t> permutation);
  /// The permutation that swaps the last two dimensions.
  NodeValue transposeLast(NodeValue x);
  /// Elements start ... start + size - 1 along dimension \p axis.
  NodeValue slice(NodeValue x, int64_t axis, int64_t start, int64_t size);
  NodeValue concat(llvm::ArrayRef<NodeValue> parts, int64_t axis);
  NodeValue broadcast(NodeValue x, DimsRef shape);
  NodeValue gather(NodeValue x, NodeValue indices, int64_t axis) {
    return x && indices ? make<GatherNode>(x, indices, axis) : NodeValue();
  }
  /// \p x with a dimension of extent 1 in front of dimension \p axis.
  NodeValue unsqueeze(NodeValue x, int64_t axis);
  NodeValue pad(NodeValue x, llvm::ArrayRef<int64_t> pads, double value);

  //===- Reductions and products --------------------------------------------//

  NodeValue reduce(NodeValue x, llvm::StringRef mode,
                   llvm::ArrayRef<int64_t> axes, bool keepDims);
  NodeValue matMul(NodeValue x, NodeValue y) {
    return x && y ? make<MatMulNode>(x, y) : NodeValue();
  }

  //===- Constants ----------------------------------------------------------//

  NodeValue number(NodeValue like, double value) {
    return op.createScalar(like.getElemKind(), value);
  }
  NodeValue scalar(ElemKind kind, double value) {
    return op.createScalar(kind, value);
  }
  NodeValue splat(ElemKind kind, DimsRef shape, double value) {
    return make<SplatNode>(kind, shape, value);
  }
  /// A tensor of \p kind with the value \p fn(index) at each index.
  NodeValue table(ElemKind kind, DimsRef shape,
                  llvm::function_ref<double(DimsRef)> fn);
  /// 0 ... extent - 1 along dimension \p axis of \p rank dimensions, of which
  /// the others have extent 1.
  NodeValue iota(ElemKind kind, unsigned rank, int64_t axis, int64_t extent);

private:
  NodeValue keep(llvm::Expected<NodeValue> value);

  OpContext &op;
  std::string message;
};

/// The one integer of input \p index, which must be a constant.
llvm::Expected<int64_t> readConstantInt(const OpContext &op, unsigned index);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_COMPOSER_H

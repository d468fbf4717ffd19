//===- NodeBuilder.h - Create nodes by expressions --------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_NODEBUILDER_H
#define GLOWISH_GRAPH_NODEBUILDER_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// Creates nodes by nested expressions: `b.mul(b.sub(x, mean), scale)`. The
/// first error is kept for finish(); after it all functions return null, as
/// they do for null arguments. Numbers become constants of the other operand's
/// kind.
class NodeBuilder {
public:
  /// Nodes are created at \p function's insertion point and named \p name.
  NodeBuilder(Function &function, llvm::StringRef name)
      : function(function), name(name) {}
  virtual ~NodeBuilder() = default;

  Function &getFunction() { return function; }
  llvm::StringRef getName() const { return name; }
  /// Sets the name of the nodes created from now on.
  void setName(llvm::StringRef newName) { name = newName.str(); }

  bool hasFailed() const { return !message.empty(); }
  /// Returns the first error, or success.
  llvm::Error takeError() const;
  /// Returns \p value, or the first error.
  llvm::Expected<NodeValue> finish(NodeValue value) const;

  template <typename T, typename... Args> NodeValue make(Args &&...args) {
    if (hasFailed())
      return {};
    return keep(create(T::draft(std::forward<Args>(args)...)));
  }

  //===- Element-wise -------------------------------------------------------//

#define GLOWISH_BUILDER_BINARY(NAME, NODE)                                     \
  NodeValue NAME(NodeValue x, NodeValue y) {                                   \
    return x && y ? make<NODE##Node>(x, y) : NodeValue();                      \
  }                                                                            \
  NodeValue NAME(NodeValue x, double y) {                                      \
    return x ? NAME(x, number(x, y)) : x;                                      \
  }                                                                            \
  NodeValue NAME(double x, NodeValue y) {                                      \
    return y ? NAME(number(y, x), y) : y;                                      \
  }
  GLOWISH_BUILDER_BINARY(add, Add)
  GLOWISH_BUILDER_BINARY(sub, Sub)
  GLOWISH_BUILDER_BINARY(mul, Mul)
  GLOWISH_BUILDER_BINARY(div, Div)
  GLOWISH_BUILDER_BINARY(max, Max)
  GLOWISH_BUILDER_BINARY(min, Min)
  GLOWISH_BUILDER_BINARY(pow, Pow)
  GLOWISH_BUILDER_BINARY(less, Less)
  GLOWISH_BUILDER_BINARY(greater, Greater)
  GLOWISH_BUILDER_BINARY(equal, Equal)
  GLOWISH_BUILDER_BINARY(lessOrEqual, LessOrEqual)
  GLOWISH_BUILDER_BINARY(greaterOrEqual, GreaterOrEqual)
  GLOWISH_BUILDER_BINARY(logicalAnd, And)
  GLOWISH_BUILDER_BINARY(logicalOr, Or)
#undef GLOWISH_BUILDER_BINARY

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
  /// ~x, computed as -x - 1, which holds for unsigned and signed integers
  /// alike.
  NodeValue complement(NodeValue x) {
    return x ? sub(sub(number(x, 0), number(x, 1)), x) : x;
  }
  NodeValue clip(NodeValue x, double low, double high) {
    return x ? make<ClipNode>(x, low, high) : x;
  }

  //===- Data movement ------------------------------------------------------//

  /// Returns \p x with the extents of \p type, its own type but for these.
  NodeValue declareExtents(NodeValue x, const Type &type);
  /// Returns \p x with its bounds in the place of the extents in its type; may
  /// be overridden.
  virtual NodeValue dropExtents(NodeValue x);
  /// Returns \p x in the shape and with the extents of \p type, in row-major
  /// order of the extents (Repack); both have as many elements in each run. May
  /// be overridden.
  virtual NodeValue repack(NodeValue x, const Type &type);
  NodeValue reshape(NodeValue x, DimsRef shape) {
    return !x || x.getShape() == shape ? x : make<ReshapeNode>(x, shape);
  }
  NodeValue transpose(NodeValue x, llvm::ArrayRef<int64_t> permutation);
  /// Swaps two dimensions; returns \p x if they are the same.
  NodeValue swapDims(NodeValue x, int64_t first, int64_t second);
  /// Swaps the last two dimensions.
  NodeValue transposeLast(NodeValue x);
  /// Returns the elements [start, start + size) along dimension \p axis.
  NodeValue slice(NodeValue x, int64_t axis, int64_t start, int64_t size);
  /// Reverses the order of elements along each of \p axes.
  NodeValue reverse(NodeValue x, llvm::ArrayRef<int64_t> axes);
  NodeValue concat(llvm::ArrayRef<NodeValue> parts, int64_t axis);
  NodeValue broadcast(NodeValue x, DimsRef shape);
  NodeValue gather(NodeValue x, NodeValue indices, int64_t axis) {
    return x && indices ? make<GatherNode>(x, indices, axis) : NodeValue();
  }
  /// Inserts a dimension of extent 1 before dimension \p axis.
  NodeValue unsqueeze(NodeValue x, int64_t axis);
  /// Returns \p x with dimensions of 1 inserted or removed: dimension d is
  /// dimension \p dims[d] of \p x, in their order, or a new one if that is -1.
  NodeValue rearrange(NodeValue x, llvm::ArrayRef<int64_t> dims);
  NodeValue pad(NodeValue x, llvm::ArrayRef<int64_t> pads, double value);

  //===- Reductions and matrix multiplication -------------------------------//

  NodeValue reduce(NodeValue x, llvm::StringRef mode,
                   llvm::ArrayRef<int64_t> axes, bool keepDims);
  /// Returns the inclusive sums along dimension \p axis.
  NodeValue cumSum(NodeValue x, int64_t axis) {
    return x ? make<CumSumNode>(x, axis, /*exclusive=*/false, /*reverse=*/false)
             : x;
  }
  NodeValue matMul(NodeValue x, NodeValue y) {
    return x && y ? make<MatMulNode>(x, y) : NodeValue();
  }

  //===- Constants ----------------------------------------------------------//

  NodeValue number(NodeValue like, double value) {
    return like ? scalar(like.getElemKind(), value) : like;
  }
  NodeValue scalar(ElemKind kind, double value);
  /// Returns the value of \p extent, an int64 scalar, for those of its symbols
  /// that \p getSymbol gives, none of them negative.
  NodeValue compute(const Extent &extent,
                    llvm::function_ref<NodeValue(llvm::StringRef)> getSymbol);
  /// Returns the value of \p extent, an int64 scalar, of symbols that inputs
  /// state or nodes of this function count; an error for others, and in a
  /// branch or loop for those of inputs. May be overridden.
  virtual NodeValue compute(const Extent &extent);
  /// Returns the extent of dimension \p dim of \p x, an int64 scalar: a
  /// constant unless a run decides it.
  NodeValue getLength(NodeValue x, unsigned dim);
  /// Returns the product of the extents of dimensions \p dims of \p x, an int64
  /// scalar.
  NodeValue countAlong(NodeValue x, llvm::ArrayRef<int64_t> dims);
  /// Returns a bool tensor that broadcasts to \p x: whether the index along
  /// each of \p dims whose extent a run decides is below it. Null if there is
  /// none.
  NodeValue isInside(NodeValue x, llvm::ArrayRef<int64_t> dims);
  /// Returns \p x with its bounds in the place of the extents of dimensions
  /// \p dims.
  NodeValue closeDims(NodeValue x, llvm::ArrayRef<int64_t> dims);
  /// Replaces what lies beyond the extents of dimensions \p dims of \p x by
  /// \p filler; an infinity stands for the least or largest number of the kind.
  /// The result has the bounds of \p x in the place of these extents.
  NodeValue fillOutside(NodeValue x, llvm::ArrayRef<int64_t> dims,
                        double filler);
  /// Returns a uint64 scalar constant.
  NodeValue uint64(uint64_t value);
  /// Returns an int64 constant of rank 1.
  NodeValue int64s(llvm::ArrayRef<int64_t> values);
  virtual NodeValue createConstant(Tensor tensor);
  NodeValue splat(ElemKind kind, DimsRef shape, double value) {
    return make<SplatNode>(kind, shape, value);
  }
  /// Returns a constant of \p kind whose element at each index is \p fn(index).
  NodeValue table(ElemKind kind, DimsRef shape,
                  llvm::function_ref<double(DimsRef)> fn);
  /// Returns the constant 0 ... extent - 1 along dimension \p axis; the other
  /// dimensions of \p rank have extent 1.
  NodeValue iota(ElemKind kind, unsigned rank, int64_t axis, int64_t extent);

protected:
  NodeValue keep(llvm::Expected<NodeValue> value);
  /// Creates the nodes of all functions above; may be overridden.
  virtual llvm::Expected<NodeValue> create(NodeDraft draft);
  /// Returns an error if a constant of \p type must not be created.
  virtual llvm::Error checkConstant(const Type &type);

private:
  Function &function;
  std::string name;
  std::string message;
};

} // namespace glowish

#endif // GLOWISH_GRAPH_NODEBUILDER_H

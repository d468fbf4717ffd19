//===- Rewriter.h - Small rewrites driven by one worklist -------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_REWRITER_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_REWRITER_H

#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Passes.h"
#include <map>

namespace glowish {

/// The context of a rewrite: the function, the pass context, and the insertion
/// point (new nodes go before the root, and get its name).
class RewriteContext {
public:
  RewriteContext(Node &root, const GraphPassContext &pass)
      : root(root), function(*root.getParent()), pass(pass) {}

  Function &getFunction() { return function; }
  Module &getModule() { return function.getModule(); }
  const GraphPassContext &getPass() const { return pass; }

  /// A node before the root. The rewrite has made sure that its types fit.
  template <typename T, typename... Args> NodeValue create(Args &&...args) {
    return function.create<T>(root.getName(), std::forward<Args>(args)...)
        ->getResult();
  }
  /// The same, or null where the back end does not take the node. For what
  /// lowering would only undo.
  template <typename T, typename... Args>
  NodeValue createIfSupported(Args &&...args) {
    NodeValue value = create<T>(std::forward<Args>(args)...);
    if (!pass.isSupported || pass.isSupported(*value.node))
      return value;
    function.erase(value.node);
    return {};
  }
  NodeValue createConstant(Tensor tensor) {
    return getModule().createConstant(root.getName(), std::move(tensor));
  }
  /// A scalar constant of \p kind.
  NodeValue createScalar(ElemKind kind, double value);
  NodeValue reshape(NodeValue value, DimsRef shape);
  NodeValue transpose(NodeValue value, llvm::ArrayRef<int64_t> permutation);
  /// The transposes of the matrices in the last two dimensions.
  NodeValue transposeMatrices(NodeValue value);

private:
  Node &root;
  Function &function;
  const GraphPassContext &pass;
};

/// A rewrite: the value that replaces the root's only result, or null where it
/// does not apply. It must not change the graph then; nodes that it has created
/// before the root are erased.
using Rewrite = NodeValue (*)(Node &root, RewriteContext &context);

/// Rewrites by the kind of their root.
class RewriteSet {
public:
  /// `set.add<rewriteGemm>(NodeKind::Gemm)` for
  /// `NodeValue rewriteGemm(GemmNode &root, RewriteContext &context)`.
  template <auto Fn> void add(NodeKind kind) {
    add(kind, [](Node &root, RewriteContext &context) {
      return call(Fn, root, context);
    });
  }
  void add(NodeKind kind, Rewrite rewrite);
  /// For the kinds whose record \p isWanted selects.
  void addWhere(llvm::function_ref<bool(const OpInfo &info)> isWanted,
                Rewrite rewrite);
  void addElementWise(Rewrite rewrite) {
    addWhere([](const OpInfo &info) { return info.scalarOp.has_value(); },
             rewrite);
  }
  llvm::ArrayRef<Rewrite> get(NodeKind kind) const;

private:
  template <typename T>
  static NodeValue call(NodeValue (*fn)(T &, RewriteContext &), Node &root,
                        RewriteContext &context) {
    return fn(llvm::cast<T>(root), context);
  }
  std::map<unsigned, std::vector<Rewrite>> rewrites;
};

/// Applies \p set until nothing applies: a worklist of nodes, to which the
/// users and operands of what changed return. Dead nodes are erased on the way.
/// Linear in the number of rewrites that apply.
bool applyRewrites(Function &function, const RewriteSet &set,
                   const GraphPassContext &context);

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_REWRITER_H

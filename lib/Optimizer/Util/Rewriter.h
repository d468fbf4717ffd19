//===- Rewriter.h - Small rewrites driven by one worklist -------*- C++ -*-===//

#ifndef GLOWISH_LIB_OPTIMIZER_UTIL_REWRITER_H
#define GLOWISH_LIB_OPTIMIZER_UTIL_REWRITER_H

#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/Passes.h"
#include <map>
#include <set>

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
  /// The result of a node of \p draft, before the root, called as \p like.
  NodeValue recreate(const Node &like, NodeDraft draft) {
    return function.create(like.getName(), std::move(draft))->getResult();
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

/// A rewrite, and the name of the function that it is.
struct NamedRewrite {
  llvm::StringRef name;
  Rewrite apply;
};

/// Rewrites by the kind of their root.
class RewriteSet {
public:
  /// `set.add<rewriteMatMul>(NodeKind::MatMul)` for
  /// `NodeValue rewriteMatMul(MatMulNode &root, RewriteContext &context)`.
  template <auto Fn> void add(NodeKind kind) {
    rewrites[unsigned(kind)].push_back(
        {getName<Fn>(), [](Node &root, RewriteContext &context) {
           return call(Fn, root, context);
         }});
  }
  /// For the kinds whose record \p isWanted selects.
  template <auto Fn>
  void addWhere(llvm::function_ref<bool(const OpInfo &info)> isWanted) {
    for (unsigned kind = 0; kind < getNodeTable().size(); ++kind)
      if (isWanted(getNodeTable()[kind]))
        add<Fn>(NodeKind(kind));
  }
  template <auto Fn> void addElementWise() {
    addWhere<Fn>([](const OpInfo &info) { return info.scalarOp.has_value(); });
  }
  llvm::ArrayRef<NamedRewrite> get(NodeKind kind) const;
  /// What observers call \p rewrite of roots of \p kind: its name, and where
  /// there are several of that name the kind, "foldOperation<Mul>".
  std::string describe(NodeKind kind, const NamedRewrite &rewrite) const;
  /// What they call all.
  std::set<std::string> describeAll() const;

private:
  /// As the compiler has it, without arguments of templates.
  template <auto Fn> static llvm::StringRef getName() {
    llvm::StringRef name = __PRETTY_FUNCTION__;
    name = name.split("Fn = &").second.drop_back();
    name.consume_front("glowish::");
    return name;
  }
  template <typename T>
  static NodeValue call(NodeValue (*fn)(T &, RewriteContext &), Node &root,
                        RewriteContext &context) {
    return fn(llvm::cast<T>(root), context);
  }
  std::map<unsigned, std::vector<NamedRewrite>> rewrites;
};

/// Replaces a reshape of a reshape by one, and one to the shape that its input
/// has by that.
NodeValue joinReshapes(ReshapeNode &root, RewriteContext &context);

/// Applies \p set until nothing applies: a worklist of nodes, to which the
/// users and operands of what changed return. Dead nodes are erased on the way.
/// Linear in the number of rewrites that apply.
bool applyRewrites(Function &function, const RewriteSet &set,
                   const GraphPassContext &context);
/// Applies those that \p addRewrites adds to a set, which is made once: each
/// caller has a function type of its own.
template <typename AddRewrites>
bool applyRewrites(Function &function, const GraphPassContext &context,
                   AddRewrites addRewrites) {
  static const RewriteSet set = [&] {
    RewriteSet rewrites;
    addRewrites(rewrites);
    return rewrites;
  }();
  return applyRewrites(function, set, context);
}

} // namespace glowish

#endif // GLOWISH_LIB_OPTIMIZER_UTIL_REWRITER_H

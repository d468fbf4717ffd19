//===- OpenBody.h - Bodies of branches and loops during import --*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_OPENBODY_H
#define GLOWISH_LIB_IMPORTER_COMMON_OPENBODY_H

#include "glowish/Graph/Module.h"
#include "llvm/Support/Error.h"

namespace glowish {

/// Maximum number of nodes of loops that are unrolled by choice.
inline constexpr int64_t maxUnrolledNodes = 256;

/// A body that is being imported. Values of the enclosing function that it uses
/// become captures.
class OpenBody {
public:
  OpenBody(Module &module, llvm::StringRef name)
      : OpenBody(FunctionBody::create(module, name)) {}
  explicit OpenBody(std::shared_ptr<FunctionBody> body)
      : body(std::move(body)) {}

  /// The attribute of the node that executes the body.
  std::shared_ptr<Body> getAttr() const { return body; }
  Function &getFunction() const { return body->getFunction(); }
  /// Adds a parameter that is not a capture. Must be called before captures are
  /// added.
  NodeValue addParameter(llvm::StringRef name, const Type &type);
  /// Returns the parameter for \p value of the enclosing function, added as a
  /// capture on first use. Constants are returned as they are.
  NodeValue enter(NodeValue value);
  /// Lets the body capture what \p other, the other branch, captures.
  void enterCaptures(const OpenBody &other);
  /// Returns the captured values, in the order of their parameters.
  llvm::ArrayRef<NodeValue> getCaptures() const { return captures; }

private:
  std::shared_ptr<FunctionBody> body;
  std::vector<NodeValue> captures;
  llvm::DenseMap<NodeValue, NodeValue> entered;
};

/// Limits the nodes and weights imported from subgraphs, as nested loops that
/// are unrolled grow exponentially.
class SubgraphBudget {
public:
  /// Takes \p count nodes and constants.
  llvm::Error take(int64_t count);

private:
  int64_t left = 1 << 16;
};

/// Erases the nodes of \p function behind \p last, which only each other use;
/// all if that is null. \p onErase is called before each.
void eraseNodesBehind(
    Function &function, Node *last,
    llvm::function_ref<void(Node &)> onErase = [](Node &) {});

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_OPENBODY_H

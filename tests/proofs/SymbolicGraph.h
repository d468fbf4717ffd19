//===- SymbolicGraph.h - What graphs compute of unknown values --*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_SYMBOLICGRAPH_H
#define GLOWISH_TESTS_PROOFS_SYMBOLICGRAPH_H

#include "SymbolicNumber.h"
#include "glowish/Graph/Nodes.h"
#include <map>
#include <variant>

namespace glowish::proofs {

using Scalar = std::variant<Number, Truth>;

/// The elements of a tensor, in row-major order.
struct SymbolicTensor {
  Type type;
  std::vector<Scalar> elements;

  const Number &getNumber(int64_t position) const {
    return std::get<Number>(elements[size_t(position)]);
  }
  /// The element at \p index.
  const Number &getNumber(DimsRef index) const;
  /// The element at \p index of the shape to which it broadcasts.
  const Scalar &getBroadcast(DimsRef index) const;
};

/// The elements of each output, by its name in the model. Inputs are unknowns
/// by their names: those of two graphs with the same inputs are the same.
/// Fails (Proof::obstacle) at nodes that have no definition here.
std::map<std::string, SymbolicTensor> evaluate(Proof &proof,
                                               const Function &function);

/// What a kind of nodes computes, as its record says.
struct NodeDefinition {
  using Define = SymbolicTensor (*)(Proof &, const Node &,
                                    llvm::ArrayRef<SymbolicTensor> operands);
  /// Registers the definition of \p kind.
  NodeDefinition(NodeKind kind, Define define);
  /// Null where there is none.
  static Define find(NodeKind kind);
};

/// `NodeDefinition::Define` for a node class.
template <typename T, SymbolicTensor (*Fn)(Proof &, const T &,
                                           llvm::ArrayRef<SymbolicTensor>)>
SymbolicTensor defineAs(Proof &proof, const Node &node,
                        llvm::ArrayRef<SymbolicTensor> operands) {
  return Fn(proof, llvm::cast<T>(node), operands);
}

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_SYMBOLICGRAPH_H

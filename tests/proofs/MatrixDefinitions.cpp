//===- MatrixDefinitions.cpp - Matrix multiplication ----------------------===//

#include "Definitions.h"
#include "glowish/Base/ForEachIndex.h"

using namespace glowish;
using namespace glowish::proofs;

//===- Parts --------------------------------------------------------------===//

Number proofs::sum(Proof &proof, ElemKind kind, int64_t count,
                   llvm::function_ref<Number(int64_t)> getTerm) {
  Number result(proof, kind, 0.0);
  for (int64_t i = 0; i < count; ++i)
    result = result + getTerm(i);
  return result;
}

Number proofs::addAll(llvm::ArrayRef<Number> elements) {
  Number total = elements[0];
  for (const Number &element : elements.drop_front())
    total = total + element;
  return total;
}
Number proofs::widen(const SymbolicTensor &tensor, DimsRef index,
                     const SymbolicTensor &zeroPoints, DimsRef zeroPoint,
                     ElemKind kind) {
  Number number = convert(std::get<Number>(tensor.getBroadcast(index)), kind);
  if (!isPresent(zeroPoints))
    return number;
  return number -
         convert(std::get<Number>(zeroPoints.getBroadcast(zeroPoint)), kind);
}

//===- Matrix multiplication ----------------------------------------------===//

static SymbolicTensor defineSplat(Proof &proof, const SplatNode &node,
                                  Tensors) {
  Number value(proof, node.getType().getKind(), node.getValue());
  return {node.getType(),
          std::vector<Scalar>(size_t(node.getType().getNumElements()), value)};
}
static const NodeDefinition splat(NodeKind::Splat,
                                  defineAs<SplatNode, defineSplat>);

/// The matrix product of type \p type, of matrices with \p depth columns and
/// rows: sums of what \p multiply makes of the indices of two elements.
static SymbolicTensor multiplyMatrices(
    Proof &proof, const Type &type, int64_t depth,
    llvm::function_ref<Number(DimsRef left, DimsRef right)> multiply) {
  SymbolicTensor result = {type, {}};
  forEachIndex(type.getShape(), [&](DimsRef index) {
    result.elements.push_back(sum(proof, type.getKind(), depth, [&](int64_t k) {
      Dims left(index), right(index);
      left.back() = k;
      right[right.size() - 2] = k;
      return multiply(left, right);
    }));
  });
  return result;
}

/// Adds \p factor times the elements of \p summand.
static void addBroadcast(SymbolicTensor &result, const SymbolicTensor &summand,
                         double factor) {
  size_t next = 0;
  forEachIndex(result.type.getShape(), [&](DimsRef index) {
    Scalar &element = result.elements[next++];
    element = std::get<Number>(element) +
              std::get<Number>(summand.getBroadcast(index)) * factor;
  });
}

static SymbolicTensor defineMatMul(Proof &proof, const MatMulNode &node,
                                   Tensors operands) {
  return multiplyMatrices(
      proof, node.getType(), operands[0].type.getShape().back(),
      [&](DimsRef left, DimsRef right) {
        return std::get<Number>(operands[0].getBroadcast(left)) *
               std::get<Number>(operands[1].getBroadcast(right));
      });
}
static const NodeDefinition matMul(NodeKind::MatMul,
                                   defineAs<MatMulNode, defineMatMul>);

static SymbolicTensor defineMatMulInteger(Proof &proof,
                                          const MatMulIntegerNode &node,
                                          Tensors operands) {
  return multiplyMatrices(
      proof, node.getType(), operands[0].type.getShape().back(),
      [&](DimsRef left, DimsRef right) {
        return widen(operands[0], left, SymbolicTensor(), {}, ElemKind::Int32) *
               widen(operands[1], right, operands[2], right.take_back(1),
                     ElemKind::Int32);
      });
}
static const NodeDefinition
    matMulInteger(NodeKind::MatMulInteger,
                  defineAs<MatMulIntegerNode, defineMatMulInteger>);

static SymbolicTensor
defineMatMulNBits(Proof &proof, const MatMulNBitsNode &node, Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  const SymbolicTensor &lhs = operands[0], &rhs = operands[1];
  const SymbolicTensor &scales = operands[2], &zeroPoints = operands[3];
  if (isPresent(operands[4]))
    proof.fail("MatMulNBits of quantized rows");
  ElemKind kind = node.getType().getKind();
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    result.elements.push_back(
        sum(proof, kind, lhs.type.getShape().back(), [&](int64_t k) {
          Dims left(index), right = {k, index.back()};
          left.back() = k;
          Dims block = {k / node.getBlock(), index.back()};
          Number weight = convert(rhs.getNumber(right), ElemKind::Int32);
          if (isPresent(zeroPoints))
            weight =
                weight - convert(zeroPoints.getNumber(block), ElemKind::Int32);
          return lhs.getNumber(left) *
                 convert(convert(weight, ElemKind::Float) *
                             scales.getNumber(block),
                         kind);
        }));
  });
  return result;
}
static const NodeDefinition
    matMulNBits(NodeKind::MatMulNBits,
                defineAs<MatMulNBitsNode, defineMatMulNBits>);

static SymbolicTensor defineFullyConnected(Proof &proof,
                                           const FullyConnectedNode &node,
                                           Tensors operands) {
  SymbolicTensor result = multiplyMatrices(
      proof, node.getType(), operands[0].type.getShape()[1],
      [&](DimsRef left, DimsRef right) {
        return operands[0].getNumber(left) * operands[1].getNumber(right);
      });
  addBroadcast(result, operands[2], 1);
  return result;
}
static const NodeDefinition
    fullyConnected(NodeKind::FullyConnected,
                   defineAs<FullyConnectedNode, defineFullyConnected>);

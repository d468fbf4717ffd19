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

static SymbolicTensor defineMatMul(Proof &proof, const MatMulNode &node,
                                   Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  int64_t depth = operands[0].type.getShape().back();
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    result.elements.push_back(
        sum(proof, node.getType().getKind(), depth, [&](int64_t k) {
          Dims left(index), right(index);
          left.back() = k;
          right[right.size() - 2] = k;
          return std::get<Number>(operands[0].getBroadcast(left)) *
                 std::get<Number>(operands[1].getBroadcast(right));
        }));
  });
  return result;
}
static const NodeDefinition matMul(NodeKind::MatMul,
                                   defineAs<MatMulNode, defineMatMul>);

static SymbolicTensor defineMatMulInteger(Proof &proof,
                                          const MatMulIntegerNode &node,
                                          Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  int64_t depth = operands[0].type.getShape().back();
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    result.elements.push_back(
        sum(proof, ElemKind::Int32, depth, [&](int64_t k) {
          Dims left(index), right(index);
          left.back() = k;
          right[right.size() - 2] = k;
          return widen(operands[0], left, SymbolicTensor(), {},
                       ElemKind::Int32) *
                 widen(operands[1], right, operands[2], index.take_back(1),
                       ElemKind::Int32);
        }));
  });
  return result;
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

static SymbolicTensor defineGemm(Proof &proof, const GemmNode &node,
                                 Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  int64_t depth = operands[0].type.getShape()[node.getTransposeA() ? 0 : 1];
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    Number total = sum(proof, node.getType().getKind(), depth, [&](int64_t k) {
      Dims left = {index[0], k}, right = {k, index[1]};
      if (node.getTransposeA())
        std::swap(left[0], left[1]);
      if (node.getTransposeB())
        std::swap(right[0], right[1]);
      return operands[0].getNumber(left) * operands[1].getNumber(right);
    });
    total = total * node.getAlpha();
    if (isPresent(operands[2]))
      total = total + std::get<Number>(operands[2].getBroadcast(index)) *
                          node.getBeta();
    result.elements.push_back(total);
  });
  return result;
}
static const NodeDefinition gemm(NodeKind::Gemm,
                                 defineAs<GemmNode, defineGemm>);

static SymbolicTensor defineFullyConnected(Proof &proof,
                                           const FullyConnectedNode &node,
                                           Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    result.elements.push_back(
        sum(proof, node.getType().getKind(), operands[0].type.getShape()[1],
            [&](int64_t k) {
              return operands[0].getNumber({index[0], k}) *
                     operands[1].getNumber({k, index[1]});
            }) +
        operands[2].getNumber(index[1]));
  });
  return result;
}
static const NodeDefinition
    fullyConnected(NodeKind::FullyConnected,
                   defineAs<FullyConnectedNode, defineFullyConnected>);

//===- MatMul.cpp - Batched matrix product --------------------------------===//

#include "Run.h"

using namespace glowish;
using namespace glowish::interpreter;

/// The number of the matrix of an operand of \p shape that takes part in
/// matrix \p batch of the result: leading dimensions broadcast.
static int64_t getMatrixIndex(DimsRef batch, DimsRef shape) {
  DimsRef leading = shape.drop_back(2);
  int64_t number = 0;
  for (size_t d = 0; d < leading.size(); ++d) {
    int64_t index = batch[batch.size() - leading.size() + d];
    number = number * leading[d] + (leading[d] == 1 ? 0 : index);
  }
  return number;
}

/// Multiplies \p a, a row of \p depth elements, with \p lanes columns of \p b,
/// from which \p zeros are subtracted. Rows of \p b are \p stride elements
/// apart.
template <typename LhsT, typename RhsT, typename Sum>
static inline void multiplyRow(const LhsT *a, int64_t depth, const RhsT *b,
                               int64_t stride, int64_t lanes,
                               const Sum (&zeros)[numLanes],
                               Sum (&result)[numLanes]) {
  Sum sums[numLanes] = {}; // a copy, which the compiler keeps in registers
  for (int64_t k = 0; k < depth; ++k, b += stride)
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += Sum(a[k]) * (Sum(b[lane]) - zeros[lane]);
  std::copy_n(sums, numLanes, result);
}

/// \p instr: any matmul, of rhs less \p zeros: none, one, or one per column.
/// Only the first \p needed elements of the depth are summed.
template <typename LhsT, typename RhsT, typename T, typename InstrT>
static void multiply(const InstrT &instr, const Memory &memory,
                     llvm::ArrayRef<RhsT> zeros, llvm::MutableArrayRef<T> out,
                     DimsRef outShape, int64_t needed) {
  DimsRef lhsShape = instr.getLhs()->getShape();
  DimsRef rhsShape = instr.getRhs()->getShape();
  const Tensor lhsTensor = readOperand(memory, instr.getLhs());
  const Tensor rhsTensor = readOperand(memory, instr.getRhs());
  auto lhs = lhsTensor.data<LhsT>();
  auto rhs = rhsTensor.data<RhsT>();
  int64_t rows = outShape[outShape.size() - 2], columns = outShape.back();
  int64_t depth = lhsShape.back();
  size_t next = 0;
  forEachIndex(outShape.drop_back(2), [&](DimsRef batch) {
    const LhsT *a = lhs.data() + getMatrixIndex(batch, lhsShape) * rows * depth;
    const RhsT *b =
        rhs.data() + getMatrixIndex(batch, rhsShape) * depth * columns;
    for (int64_t m = 0; m < rows; ++m, a += depth)
      for (int64_t n = 0; n < columns; n += numLanes) {
        int64_t lanes = std::min(numLanes, columns - n);
        SumType<T> columnZeros[numLanes] = {};
        for (int64_t lane = 0; lane < lanes; ++lane)
          columnZeros[lane] = SumType<T>(getZeroPoint(zeros, n + lane));
        SumType<T> sums[numLanes] = {};
        // A constant number of lanes is faster.
        if (lanes == numLanes)
          multiplyRow(a, needed, b + n, columns, numLanes, columnZeros, sums);
        else
          multiplyRow(a, needed, b + n, columns, lanes, columnZeros, sums);
        for (int64_t lane = 0; lane < lanes; ++lane)
          out[next++] = T(ComputeType<T>(sums[lane]));
      }
  });
}

void interpreter::runMatMul(const Memory &memory, const MatMulInstr &instr) {
  ElemKind kind = instr.getLhs()->getType().getKind();
  Tensor result(Type(kind, instr.getResult()->getShape()));
  dispatchNumberKind(kind, [&](auto zero) {
    using T = decltype(zero);
    multiply<T, T>(instr, memory, /*zeros=*/{}, result.data<T>(),
                   result.getType().getShape(),
                   countNeeded(memory, instr, MatMulInstr::lhsIdx,
                               instr.getLhs()->getType().getRank() - 1));
  });
  storeThroughEpilogue(memory, instr, std::move(result));
}

void interpreter::runMatMulInteger(const Memory &memory,
                                   const MatMulIntegerInstr &instr) {
  Tensor result(Type(ElemKind::Int32, instr.getResult()->getShape()));
  dispatchByteKind(instr.getLhs()->getType().getKind(), [&](auto lhs) {
    dispatchByteKind(instr.getRhs()->getType().getKind(), [&](auto rhs) {
      using RhsT = decltype(rhs);
      multiply<decltype(lhs), RhsT>(
          instr, memory, getOptional<RhsT>(memory, instr.getRhsZeroPoint()),
          result.data<int32_t>(), result.getType().getShape(),
          instr.getLhs()->getShape().back());
    });
  });
  storeThroughEpilogue(memory, instr, std::move(result));
}

/// Calls \p fn with a zero of the type of \p kind, that of weights.
template <typename Fn>
static void dispatchWeightKind(ElemKind kind, const Fn &fn) {
  dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t> ||
                  std::is_same_v<T, Int4> || std::is_same_v<T, UInt4>)
      fn(zero);
    else
      llvm_unreachable("type rules refuse this kind");
  });
}

/// The weights of \p instr, of integers \p T, as the numbers they stand for.
template <typename T>
static std::vector<double> getWeights(const Memory &memory,
                                      const MatMulNBitsInstr &instr) {
  DimsRef shape = instr.getRhs()->getShape();
  int64_t columns = shape[1];
  auto integers = getDense<const T>(memory, instr.getRhs());
  auto scales = getDense<const float>(memory, instr.getScales());
  auto zeros = getOptional<T>(memory, instr.getZeroPoints());
  std::vector<double> weights(integers.size());
  for (int64_t k = 0; k < shape[0]; ++k)
    for (int64_t n = 0; n < columns; ++n) {
      size_t i = size_t(k * columns + n);
      size_t parameter = size_t(k / instr.getBlock() * columns + n);
      double zero = zeros.empty() ? 0 : double(int(zeros[parameter]));
      weights[i] =
          (double(int(integers[i])) - zero) * double(scales[parameter]);
    }
  return weights;
}

void interpreter::runMatMulNBits(const Memory &memory,
                                 const MatMulNBitsInstr &instr) {
  // Not by whether there are elements: without rows there are none.
  bool hasLhsScales = instr.getLhsScales() != nullptr;
  auto lhsScales = getOptional<float>(memory, instr.getLhsScales());
  ElemKind kind =
      hasLhsScales ? ElemKind::Float : instr.getLhs()->getType().getKind();
  Tensor result(Type(kind, instr.getResult()->getShape()));
  const Tensor lhs = readOperand(memory, instr.getLhs());
  std::vector<double> weights;
  dispatchWeightKind(instr.getRhs()->getType().getKind(), [&](auto zero) {
    weights = getWeights<decltype(zero)>(memory, instr);
  });
  int64_t depth = instr.getRhs()->getShape()[0];
  int64_t columns = instr.getRhs()->getShape()[1];
  int64_t block = instr.getBlock(), blocks = (depth + block - 1) / block;
  auto getLhs = [&](int64_t row, int64_t k) {
    double x = lhs.getAsDouble(row * depth + k);
    return hasLhsScales
               ? x * double(lhsScales[size_t(row * blocks + k / block)])
               : x;
  };
  for (int64_t i = 0; i < result.getNumElements(); ++i) {
    int64_t row = i / columns, n = i % columns;
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += getLhs(row, k) * weights[size_t(k * columns + n)];
    result.setFromDouble(i, double(float(sum)));
  }
  storeThroughEpilogue(memory, instr, std::move(result));
}

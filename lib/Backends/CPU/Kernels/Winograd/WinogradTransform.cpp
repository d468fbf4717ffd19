//===- WinogradTransform.cpp - The matrices of fast convolution -----------===//

#include "Kernels/Winograd/WinogradTransform.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace glowish;
using llvm::Value;

//===- Multiplying by literals --------------------------------------------===//

TransformMatrix TransformMatrix::transpose() const {
  TransformMatrix result(columns, rows);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j)
      result.at(j, i) = at(i, j);
  return result;
}

/// A row after \p row that has the same magnitudes, not all with the same sign.
std::optional<unsigned> TransformMatrix::findMirroredRow(unsigned row) const {
  for (unsigned other = row + 1; other < rows; ++other) {
    bool isMirrored = true, differs = false, agrees = false;
    for (unsigned j = 0; j < columns; ++j) {
      double x = at(row, j), y = at(other, j);
      isMirrored &= std::abs(x) == std::abs(y);
      agrees |= x != 0 && x == y;
      differs |= x != 0 && x != y;
    }
    if (isMirrored && differs && agrees)
      return other;
  }
  return std::nullopt;
}

/// sum + \p factor * \p value; a null sum is 0.
static Value *accumulate(KernelBuilder &b, Value *sum, double factor,
                         Value *value) {
  unsigned lanes = KernelBuilder::getLanes(value);
  Value *literal = b.literal(ElemKind::Float, factor, lanes);
  if (!sum)
    return factor == 1    ? value
           : factor == -1 ? b.CreateFNeg(value)
                          : b.CreateFMul(literal, value);
  if (factor == 1)
    return b.CreateFAdd(sum, value);
  if (factor == -1)
    return b.CreateFSub(sum, value);
  return b.multiplyAdd(literal, value, sum);
}

/// Columns j and k that differ only in signs: their parts of the result are
/// those of two other columns, the elements that agree times x_j + x_k and
/// those that don't times x_j - x_k. \p rest becomes the matrix of these.
Values TransformMatrix::joinMirroredColumns(KernelBuilder &b,
                                            llvm::ArrayRef<Value *> values,
                                            TransformMatrix &rest) const {
  TransformMatrix transposed = transpose();
  Values joined(values);
  std::vector<bool> isDone(columns, false);
  rest = *this;
  for (unsigned j = 0; j < columns; ++j) {
    std::optional<unsigned> k = transposed.findMirroredRow(j);
    if (!k || isDone[j] || isDone[*k])
      continue;
    isDone[j] = isDone[*k] = true;
    joined[j] = b.CreateFAdd(values[j], values[*k]);
    joined[*k] = b.CreateFSub(values[j], values[*k]);
    for (unsigned i = 0; i < rows; ++i) {
      bool agrees = at(i, j) == at(i, *k);
      rest.at(i, j) = agrees ? at(i, j) : 0;
      rest.at(i, *k) = agrees ? 0 : at(i, j);
    }
  }
  return joined;
}

Values TransformMatrix::apply(KernelBuilder &b,
                              llvm::ArrayRef<Value *> values) const {
  assert(values.size() == columns);
  TransformMatrix matrix(rows, columns);
  Values terms = joinMirroredColumns(b, values, matrix);
  Values results(rows, nullptr);
  for (unsigned i = 0; i < rows; ++i) {
    if (results[i])
      continue;
    std::optional<unsigned> mirrored = matrix.findMirroredRow(i);
    // The terms that both rows share, and those whose signs differ.
    Value *common = nullptr, *opposite = nullptr;
    for (unsigned j = columns; j-- > 0;) {
      double factor = matrix.at(i, j);
      if (factor == 0)
        continue;
      bool agrees = !mirrored || matrix.at(*mirrored, j) == factor;
      Value *&sum = agrees ? common : opposite;
      sum = accumulate(b, sum, factor, terms[j]);
    }
    results[i] = mirrored ? b.CreateFAdd(common, opposite) : common;
    if (mirrored)
      results[*mirrored] = b.CreateFSub(common, opposite);
  }
  return results;
}

//===- Cook and Toom ------------------------------------------------------===//

/// Where the polynomials are evaluated, beside infinity. With these the errors
/// of four outputs of three taps are about twice those of the direct sum, as
/// measured; with 0, +-1, +-2, which are usual, four times. Powers and
/// differences are exact in float.
static llvm::ArrayRef<double> getFinitePoints(unsigned points) {
  static constexpr double three[] = {0, 1, -1};
  static constexpr double five[] = {0, 0.625, -0.625, 1.5, -1.5};
  if (points == 4)
    return three;
  if (points == 6)
    return five;
  assert(points == 1);
  return {};
}

/// The coefficients of the product of x - a over \p roots, lowest first.
static std::vector<double> multiplyOut(llvm::ArrayRef<double> roots) {
  std::vector<double> result = {1};
  for (double root : roots) {
    result.insert(result.begin(), 0);
    for (size_t i = 0; i + 1 < result.size(); ++i)
      result[i] -= root * result[i + 1];
  }
  return result;
}

WinogradTransform::WinogradTransform(unsigned outputs, unsigned taps)
    : outputs(outputs), taps(taps), toOutput(outputs, getPoints()),
      filter(getPoints(), taps), input(getPoints(), getPoints()) {
  llvm::ArrayRef<double> points = getFinitePoints(getPoints());
  for (unsigned j = 0; j < points.size(); ++j) {
    std::vector<double> others(points);
    others.erase(others.begin() + j);
    double denominator = 1;
    for (double other : others)
      denominator *= points[j] - other;
    for (unsigned i = 0; i < outputs; ++i)
      toOutput.at(i, j) = std::pow(points[j], i);
    for (unsigned k = 0; k < taps; ++k)
      filter.at(j, k) = std::pow(points[j], k) / denominator;
    for (auto [k, coefficient] : llvm::enumerate(multiplyOut(others)))
      input.at(j, unsigned(k)) = coefficient;
  }
  // The point at infinity takes the highest coefficients.
  unsigned last = getPoints() - 1;
  toOutput.at(outputs - 1, last) = 1;
  filter.at(last, taps - 1) = 1;
  for (auto [k, coefficient] : llvm::enumerate(multiplyOut(points)))
    input.at(last, unsigned(k)) = coefficient;
}

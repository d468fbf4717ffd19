//===- GradientSum.cpp - Sums of adjoints ---------------------------------===//

#include "GradientSum.h"
#include <map>

using namespace glowish;

using Values = llvm::SmallVector<NodeValue, 4>;

//===- Gradients of slices ------------------------------------------------===//

namespace {
/// An adjoint that is zero outside a slice along dimension `axis`.
struct Piece {
  int64_t axis, start;
  NodeValue value;
};
} // namespace

/// Returns the slice if \p part is the gradient of a Slice along one dimension:
/// a Pad with zeros.
static std::optional<Piece> findPiece(NodeValue part) {
  auto *pad = part.getNodeAs<PadNode>();
  if (!pad || pad->getMode() != "constant" || pad->getValue() != 0)
    return std::nullopt;
  auto pads = pad->getPads();
  size_t rank = pads.size() / 2;
  std::optional<int64_t> axis;
  for (size_t d = 0; d < rank; ++d) {
    if (pads[d] < 0 || pads[rank + d] < 0)
      return std::nullopt;
    if (!pads[d] && !pads[rank + d])
      continue;
    if (axis)
      return std::nullopt;
    axis = int64_t(d);
  }
  if (!axis)
    return std::nullopt;
  return Piece{*axis, pads[*axis], pad->getInput()};
}

/// Concatenates \p pieces, with zeros in the gaps; null if they overlap.
static NodeValue join(NodeBuilder &b, std::vector<Piece> &pieces,
                      DimsRef shape) {
  llvm::sort(pieces,
             [](const Piece &x, const Piece &y) { return x.start < y.start; });
  int64_t axis = pieces.front().axis, end = 0;
  for (const Piece &piece : pieces) {
    if (piece.start < end)
      return {};
    end = piece.start + piece.value.getShape()[axis];
  }
  Values parts;
  auto fill = [&](int64_t size) {
    Dims zeros(shape);
    zeros[axis] = size;
    if (size)
      parts.push_back(b.splat(pieces.front().value.getElemKind(), zeros, 0));
  };
  end = 0;
  for (const Piece &piece : pieces) {
    fill(piece.start - end);
    parts.push_back(piece.value);
    end = piece.start + piece.value.getShape()[axis];
  }
  fill(shape[axis] - end);
  return b.concat(parts, axis);
}

/// Joins the pieces along each dimension; other \p parts are kept.
static Values joinPieces(NodeBuilder &b, Values parts) {
  std::map<int64_t, std::vector<Piece>> pieces;
  Values sums;
  for (NodeValue part : parts) {
    if (std::optional<Piece> piece = findPiece(part))
      pieces[piece->axis].push_back(*piece);
    else
      sums.push_back(part);
  }
  for (auto &[axis, along] : pieces) {
    DimsRef shape = parts.front().getShape();
    NodeValue joined = along.size() > 1 ? join(b, along, shape) : NodeValue();
    if (joined) {
      sums.push_back(joined);
      continue;
    }
    for (NodeValue part : parts)
      if (auto piece = findPiece(part); piece && piece->axis == axis)
        sums.push_back(part);
  }
  return sums;
}

//===- Matmuls ------------------------------------------------------------===//

static bool isPlainMatMul(NodeValue part) {
  auto *matMul = part.getNodeAs<MatMulNode>();
  return matMul && matMul->getLhs().getShape().size() == 2 &&
         matMul->getRhs().getShape().size() == 2;
}

/// Adds matmuls by concatenation along K: the sum of A_i B_i is [A_1 A_2 ...]
/// times [B_1; B_2; ...]. For a few of them, copying the operands costs more
/// than it saves.
static Values addMatMuls(NodeBuilder &b, Values parts) {
  constexpr size_t fewest = 3;
  if (size_t(llvm::count_if(parts, isPlainMatMul)) < fewest)
    return parts;
  Values lhs, rhs, sums;
  for (NodeValue part : parts) {
    if (!isPlainMatMul(part)) {
      sums.push_back(part);
      continue;
    }
    auto *matMul = part.getNodeAs<MatMulNode>();
    lhs.push_back(matMul->getLhs());
    rhs.push_back(matMul->getRhs());
  }
  sums.push_back(b.matMul(b.concat(lhs, 1), b.concat(rhs, 0)));
  return sums;
}

NodeValue glowish::sumGradients(NodeBuilder &b,
                                llvm::ArrayRef<NodeValue> parts) {
  Values sums(parts);
  if (sums.size() > 1)
    sums = addMatMuls(b, joinPieces(b, std::move(sums)));
  NodeValue sum = sums[0];
  for (NodeValue part : llvm::ArrayRef(sums).drop_front())
    sum = b.add(sum, part);
  return sum;
}

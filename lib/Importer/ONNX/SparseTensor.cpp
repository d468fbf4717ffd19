//===- SparseTensor.cpp - Parsing of sparse tensors -----------------------===//

#include "Common/Folding.h"
#include "ONNX/ModelFile.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace glowish;
using namespace glowish::onnximport;

/// Returns the row-major positions given by \p indices (positions, or one index
/// per dimension), in the order of the values.
static llvm::Expected<std::vector<int64_t>>
readPositions(const Tensor &indices, int64_t count, const Type &dense) {
  DimsRef shape = indices.getType().getShape();
  bool isLinear = shape.size() == 1;
  int64_t rank = dense.getRank();
  if (indices.getType().getKind() != ElemKind::Int64 ||
      (!isLinear && (shape.size() != 2 || shape[1] != rank)) ||
      shape[0] != count)
    return makeError("its indices are {0}; accepted for {1} values of {2}: "
                     "int64<{1}> or int64<{1}x{3}>",
                     indices.getType().str(), count, dense.str(), rank);
  auto data = indices.data<int64_t>();
  auto refuse = [](int64_t index, int64_t extent) {
    return makeError("index {0} is out of range; accepted: 0 to {1}", index,
                     extent - 1);
  };
  std::vector<int64_t> positions(count);
  for (int64_t i = 0; i < count; ++i) {
    if (isLinear) {
      positions[i] = data[i];
      if (data[i] < 0 || data[i] >= dense.getNumElements())
        return refuse(data[i], dense.getNumElements());
      continue;
    }
    for (int64_t k = 0; k < rank; ++k) {
      int64_t index = data[i * rank + k], extent = dense.getShape()[k];
      if (index < 0 || index >= extent)
        return refuse(index, extent);
      positions[i] = positions[i] * extent + index;
    }
  }
  return positions;
}

static llvm::Error checkUnique(std::vector<int64_t> positions) {
  if (!llvm::is_sorted(positions))
    llvm::sort(positions);
  auto found = std::adjacent_find(positions.begin(), positions.end());
  if (found == positions.end())
    return llvm::Error::success();
  return makeError("element {0} is given twice", *found);
}

llvm::Expected<std::shared_ptr<const Tensor>>
onnximport::readSparseTensor(const onnx::SparseTensorProto &proto,
                             ExternalData &external) {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Tensor> values,
                           readTensor(proto.values(), external));
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Tensor> indices,
                           readTensor(proto.indices(), external));
  const Type &given = values->getType();
  if (given.getRank() != 1)
    return makeError("its values are {0}; accepted: rank 1", given.str());
  Dims dims(proto.dims().begin(), proto.dims().end());
  GLOWISH_RETURN_IF_ERROR(checkShape(given.getKind(), dims));
  Type type(given.getKind(), dims);
  int64_t stored = values->getSizeInBytes() + indices->getSizeInBytes();
  int64_t most = getMostExpanded(stored);
  if (type.getSizeInBytes() > most)
    return makeError("{0} values of {1} are too sparse; accepted: tensors of "
                     "up to {2} bytes for them",
                     given.getNumElements(), type.str(), most);
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<int64_t> positions,
      readPositions(*indices, given.getNumElements(), type));
  GLOWISH_RETURN_IF_ERROR(checkUnique(positions));

  Tensor dense(type);
  auto *to = static_cast<uint8_t *>(dense.getBytes());
  const uint8_t *from = values->getByteRange().data();
  int64_t size = getElemSize(type.getKind());
  for (auto [i, position] : llvm::enumerate(positions))
    std::memcpy(to + position * size, from + i * size, size);
  return std::make_shared<const Tensor>(std::move(dense));
}

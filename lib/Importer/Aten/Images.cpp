//===- Images.cpp - Images and windows of ATen's operators ----------------===//

#include "Aten/Images.h"

using namespace glowish;
using namespace glowish::aten;

llvm::Expected<AtenImages>
AtenImages::read(AtenOp &op, llvm::StringRef argument, unsigned numSpatial) {
  AtenImages images;
  images.value = op.tensor(argument);
  images.numSpatial = numSpatial;
  unsigned rank = unsigned(op.getRank(argument));
  if (rank != numSpatial + 1 && rank != numSpatial + 2)
    return op.refuse(
        argument,
        llvm::formatv("rank {0} or {1}", numSpatial + 1, numSpatial + 2).str());
  images.hasBatch = rank == numSpatial + 2;
  if (!images.hasBatch)
    images.value = op.unsqueeze(images.value, 0);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  return images;
}

bool AtenImages::hasOpenSides() const {
  const Type &type = value.getType();
  for (unsigned d = 2; d < type.getRank(); ++d)
    if (type.getExtent(d))
      return true;
  return false;
}

NodeValue AtenImages::toNHWC(AtenOp &op, NodeValue value) {
  if (!value)
    return value;
  DimsRef shape = value.getShape();
  if (shape.size() == 3)
    value = op.reshape(value, {shape[0], shape[1], 1, shape[2]});
  return op.transpose(value, {0, 2, 3, 1});
}

NodeValue AtenImages::fromNHWC(AtenOp &op, NodeValue result) const {
  result = op.transpose(result, {0, 3, 1, 2});
  if (result && numSpatial == 1) {
    DimsRef shape = result.getShape();
    result = op.reshape(result, {shape[0], shape[1], shape[3]});
  }
  return restoreBatch(op, result);
}

NodeValue AtenImages::restoreBatch(AtenOp &op, NodeValue result) const {
  if (hasBatch || !result)
    return result;
  return op.reshape(result, result.getShape().drop_front());
}

llvm::Expected<std::vector<Edge>> aten::readEdges(AtenOp &op,
                                                  const AtenImages &images) {
  const Type &type = images.getValue().getType();
  return readEdges(op, images.getSpatial(),
                   type.getExtents().drop_front(type.hasExtents() ? 2 : 0));
}

llvm::Expected<std::vector<Edge>>
aten::readEdges(AtenOp &op, DimsRef spatial,
                llvm::ArrayRef<std::optional<Extent>> extents) {
  size_t count = spatial.size();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> kernels,
                           op.integers("kernel_size", count));
  std::vector<int64_t> strides = kernels, dilations(count, 1);
  if (!op.integers("stride").empty()) {
    GLOWISH_ASSIGN_OR_RETURN(strides, op.integers("stride", count));
  }
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                           op.integers("padding", count));
  if (op.has("dilation")) {
    GLOWISH_ASSIGN_OR_RETURN(dilations, op.integers("dilation", count));
  }
  bool isCeiled = op.has("ceil_mode") && op.flag("ceil_mode");
  pads.insert(pads.end(), pads.begin(), pads.begin() + count);
  std::vector<Edge> edges =
      makeEdges(spatial, kernels, strides, dilations, pads);
  for (auto [d, edge] : llvm::enumerate(edges)) {
    if (!edge.isWithinLimits())
      return op.refuse("kernel_size", "windows of at least 1");
    bool isOpen = !extents.empty() && extents[d];
    GLOWISH_RETURN_IF_ERROR(completePads(edge, "NOTSET", isCeiled,
                                         isOpen ? &*extents[d] : nullptr));
    if (edge.getCount() < 1)
      return op.refuse("kernel_size", "windows that fit into the images");
  }
  return edges;
}

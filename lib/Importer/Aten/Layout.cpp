//===- Layout.cpp - The order of elements in memory -----------------------===//

#include "Aten/Layout.h"
#include <numeric>

using namespace glowish;
using namespace glowish::aten;

llvm::Expected<NodeValue> aten::applyView(AtenView view, NodeValue base,
                                          Function &function,
                                          llvm::StringRef name,
                                          AtenContext &context) {
  view.arguments[view.self] = base;
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           importAtenOperator(*view.op, function, name,
                                              std::move(view.arguments),
                                              context));
  if (!view.element)
    return results[0].get<NodeValue>();
  return results[0].get<AtenValue::List>()[*view.element].get<NodeValue>();
}

//===- Strides ------------------------------------------------------------===//

std::optional<Dims> aten::findStrides(DimsRef shape,
                                      llvm::ArrayRef<int64_t> places) {
  Dims strides(shape.size(), 0), dense = getDenseStrides(shape);
  if (places.empty())
    return strides;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (extent > 1)
      strides[d] = places[size_t(dense[d])] - places[0];
  for (auto [number, place] : llvm::enumerate(places)) {
    int64_t expected = places[0], rest = int64_t(number);
    for (auto [stride, own] : llvm::zip_equal(strides, dense)) {
      expected += rest / own * stride;
      rest %= own;
    }
    if (place != expected)
      return std::nullopt;
  }
  return strides;
}

bool aten::haveSameOrder(DimsRef shape, DimsRef strides, DimsRef others) {
  for (auto [extent, stride, other] : llvm::zip_equal(shape, strides, others))
    if (extent > 1 && stride != other)
      return false;
  return true;
}

bool aten::canReshape(DimsRef shape, DimsRef strides, DimsRef wanted) {
  // Dimensions that follow each other without gaps are one.
  Dims runs;
  int64_t next = 0;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
    if (extent == 0)
      return true;
    if (extent == 1)
      continue;
    if (!runs.empty() && next == stride * extent)
      runs.back() *= extent;
    else
      runs.push_back(extent);
    next = stride;
  }
  // Each of them must be some of the wanted ones.
  size_t run = 0;
  int64_t size = 1;
  for (int64_t extent : wanted) {
    size *= extent;
    if (extent == 1 || run == runs.size())
      continue;
    if (size == runs[run]) {
      size = 1;
      ++run;
    } else if (size > runs[run]) {
      return false;
    }
  }
  return run == runs.size();
}

std::optional<std::vector<int64_t>> aten::findOrder(DimsRef shape,
                                                    DimsRef strides) {
  std::vector<int64_t> order = getAllDims(int64_t(shape.size()));
  llvm::sort(order, [&](int64_t x, int64_t y) {
    int64_t own = strides[size_t(x)], other = strides[size_t(y)];
    return own != other ? own > other : x < y;
  });
  // Dimensions with one index may be anywhere.
  int64_t next = 1;
  for (int64_t d : llvm::reverse(order)) {
    if (shape[size_t(d)] == 1)
      continue;
    if (shape[size_t(d)] > 1 && strides[size_t(d)] != next)
      return std::nullopt;
    next *= shape[size_t(d)];
  }
  return order;
}

Dims aten::getOrderedStrides(DimsRef shape, llvm::ArrayRef<int64_t> order) {
  Dims strides(shape.size(), 1);
  int64_t next = 1;
  for (int64_t d : llvm::reverse(order)) {
    strides[size_t(d)] = next;
    next *= std::max<int64_t>(shape[size_t(d)], 1);
  }
  return strides;
}

Dims aten::getRowMajorStrides(DimsRef shape) {
  return getOrderedStrides(shape, getAllDims(int64_t(shape.size())));
}

std::optional<Dims> aten::getChannelsLastStrides(DimsRef shape) {
  if (shape.size() != 4 && shape.size() != 5)
    return std::nullopt;
  std::vector<int64_t> order = getAllDims(int64_t(shape.size()));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return getOrderedStrides(shape, order);
}

std::optional<Dims> aten::getStrides(MemoryFormat format, DimsRef shape) {
  switch (format) {
  case MemoryFormat::Contiguous:
    return getRowMajorStrides(shape);
  case MemoryFormat::ChannelsLast:
    return shape.size() == 4 ? getChannelsLastStrides(shape) : std::nullopt;
  case MemoryFormat::ChannelsLast3d:
    return shape.size() == 5 ? getChannelsLastStrides(shape) : std::nullopt;
  case MemoryFormat::Preserve:
    return std::nullopt;
  }
  return std::nullopt;
}

bool aten::areChannelsLast(DimsRef shape, DimsRef strides) {
  if (shape.size() != 4 && shape.size() != 5)
    return false;
  // From the innermost dimension on.
  std::vector<int64_t> order = getAllDims(int64_t(shape.size()));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  int64_t least = 0;
  for (int64_t d : llvm::reverse(order)) {
    int64_t extent = shape[size_t(d)], stride = strides[size_t(d)];
    if (extent == 0 || stride < std::max<int64_t>(least, d == 1) ||
        (d == 0 && least == strides[1]))
      return false;
    least = stride * extent;
  }
  return true;
}

//===- Operators on each element ------------------------------------------===//

/// Whether dimension \p inner should be outside of \p outer, for operands with
/// these strides: 1 if so, -1 if not, 0 if none of them tells.
static int compareDims(DimsRef shape, llvm::ArrayRef<Dims> operands,
                       size_t inner, size_t outer) {
  for (const Dims &strides : operands) {
    int64_t own = strides[inner], other = strides[outer];
    // Broadcast ones have no order.
    if (own == 0 || other == 0)
      continue;
    if (own != other)
      return own < other ? -1 : 1;
    if (shape[inner] > shape[outer])
      return 1;
  }
  return 0;
}

Dims aten::combineStrides(DimsRef shape, llvm::ArrayRef<DimsRef> shapes,
                          llvm::ArrayRef<DimsRef> strides) {
  // Strides of all dimensions of the result, 0 where an operand broadcasts.
  std::vector<Dims> operands;
  for (auto [own, given] : llvm::zip_equal(shapes, strides)) {
    Dims &all = operands.emplace_back(shape.size(), 0);
    size_t added = shape.size() - own.size();
    for (size_t d = 0; d < own.size(); ++d)
      if (own[d] != 1 || shape[d + added] == 1)
        all[d + added] = given[d];
  }
  // From the innermost to the outermost one.
  std::vector<int64_t> order = getAllDims(int64_t(shape.size()));
  std::reverse(order.begin(), order.end());
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t low = i, back = i; back-- > 0;) {
      int comparison =
          compareDims(shape, operands, size_t(order[back]), size_t(order[low]));
      if (comparison < 0)
        break;
      if (comparison > 0) {
        std::swap(order[back], order[low]);
        low = back;
      }
    }
  std::reverse(order.begin(), order.end());
  return getOrderedStrides(shape, order);
}

//===- Places -------------------------------------------------------------===//

llvm::Expected<NodeValue> aten::makePlaces(Module &module, DimsRef shape,
                                           DimsRef strides,
                                           AtenContext &context,
                                           int64_t first) {
  Type type(ElemKind::Int64, shape);
  GLOWISH_RETURN_IF_ERROR(context.budget.check(type.getSizeInBytes()));
  Tensor tensor(type);
  Dims dense = getDenseStrides(shape);
  for (auto [number, place] : llvm::enumerate(tensor.data<int64_t>())) {
    int64_t rest = int64_t(number);
    place = first;
    for (auto [stride, own] : llvm::zip_equal(strides, dense)) {
      place += rest / own * stride;
      rest %= own;
    }
  }
  return NodeValue(module.createConstant("places", std::move(tensor)));
}

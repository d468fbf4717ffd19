//===- DataMovement.cpp - Movement of elements in tensor and linalg -------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace glowish;

//===- Reshape ------------------------------------------------------------===//

namespace {
/// The dimensions of two shapes of as many elements, in groups of as many
/// elements each: those of a reshape that become one, and what they become.
struct Regrouping {
  std::vector<std::vector<int64_t>> from, to;
  Dims joined;
};
} // namespace

/// The groups of \p from and \p to, which have elements, as small as possible.
static Regrouping regroup(DimsRef from, DimsRef to) {
  Regrouping groups;
  size_t i = 0, k = 0;
  while (i < from.size() || k < to.size()) {
    std::vector<int64_t> left, right;
    int64_t leftSize = 1, rightSize = 1;
    do {
      // Ones at the end belong to the last group.
      bool takesLeft =
          k == to.size() || (i < from.size() && leftSize <= rightSize);
      if (takesLeft) {
        leftSize *= from[i];
        left.push_back(int64_t(i++));
      } else {
        rightSize *= to[k];
        right.push_back(int64_t(k++));
      }
    } while (leftSize != rightSize || left.empty() || right.empty());
    auto isRestOfOnes = [](DimsRef rest) {
      return llvm::all_of(rest, [](int64_t extent) { return extent == 1; });
    };
    if (isRestOfOnes(from.drop_front(i)) && isRestOfOnes(to.drop_front(k))) {
      while (i < from.size())
        left.push_back(int64_t(i++));
      while (k < to.size())
        right.push_back(int64_t(k++));
    }
    groups.from.push_back(left);
    groups.to.push_back(right);
    groups.joined.push_back(leftSize);
  }
  return groups;
}

/// "[[0, 1], [2]]".
static std::string formatGroups(llvm::ArrayRef<std::vector<int64_t>> groups) {
  std::vector<std::string> texts;
  for (const std::vector<int64_t> &group : groups)
    texts.push_back("[" + formatList(group) + "]");
  return "[" + llvm::join(texts, ", ") + "]";
}

MlirValue LinalgWriter::reshape(const MlirValue &x, DimsRef shape) {
  Type type = x.type.withShape(shape);
  if (type == x.type)
    return x;
  if (type.getNumElements() == 0)
    return empty(type);
  Regrouping groups;
  // One element has dimensions of extent 1 in any number, and none is a group
  // of its own.
  if (type.getNumElements() != 1)
    groups = regroup(x.getShape(), shape);
  Type joined = x.type.withShape(groups.joined);
  MlirValue value = x;
  if (joined != x.type)
    value = op(joined, "tensor.collapse_shape " + x.name + " " +
                           formatGroups(groups.from) + " : " +
                           getTensorType(x.type) + " into " +
                           getTensorType(joined));
  if (joined == type)
    return value;
  return op(type, "tensor.expand_shape " + value.name + " " +
                      formatGroups(groups.to) + " output_shape [" +
                      formatList(shape) + "] : " + getTensorType(joined) +
                      " into " + getTensorType(type));
}

//===- Transposes and slices ----------------------------------------------===//

MlirValue LinalgWriter::transpose(const MlirValue &x, IntsRef permutation) {
  Dims shape;
  for (int64_t d : permutation)
    shape.push_back(x.getShape()[d]);
  if (llvm::is_sorted(permutation))
    return x;
  Type type = x.type.withShape(shape);
  MlirValue start = empty(type);
  return op(type, "linalg.transpose ins(" + formatOperands(x) + ") outs(" +
                      formatOperands(start) + ") permutation = [" +
                      formatList(permutation) + "]");
}

MlirValue LinalgWriter::slice(const MlirValue &x, IntsRef starts, IntsRef sizes,
                              IntsRef steps) {
  Type type = x.type.withShape(sizes);
  if (type.getNumElements() == 0)
    return empty(type);
  if (llvm::all_of(steps, [](int64_t step) { return step > 0; }))
    return op(type, "tensor.extract_slice " + x.name + "[" +
                        formatList(starts) + "] [" + formatList(sizes) + "] [" +
                        formatList(steps) + "] : " + getTensorType(x.type) +
                        " to " + getTensorType(type));
  // A dimension that is read in order has to be read as a whole: it is cut
  // first.
  std::vector<int64_t> first(starts.size(), 0), strides(starts.size(), 1);
  std::vector<int64_t> cut(x.getShape());
  std::vector<std::string> indices = getLoopNames(type.getRank());
  for (size_t d = 0; d < starts.size(); ++d) {
    if (steps[d] > 0) {
      first[d] = starts[d];
      cut[d] = sizes[d];
      strides[d] = steps[d];
    } else {
      indices[d] = sizes[d] == 1 ? std::to_string(starts[d])
                                 : "d" + std::to_string(d) + " * " +
                                       std::to_string(steps[d]) + " + " +
                                       std::to_string(starts[d]);
    }
  }
  MlirValue forward =
      DimsRef(cut) == x.getShape() ? x : slice(x, first, cut, strides);
  Access out = {empty(type), getLoopNames(type.getRank())};
  return genericOne({.count = type.getRank()}, Access{forward, indices}, out,
                    [](auto elements, auto) { return elements[0]; });
}

MlirValue LinalgWriter::insertSlice(const MlirValue &update, const MlirValue &x,
                                    llvm::ArrayRef<std::string> offsets,
                                    IntsRef sizes) {
  std::vector<int64_t> steps(sizes.size(), 1);
  return op(x.type, "tensor.insert_slice " + update.name + " into " + x.name +
                        "[" + llvm::join(offsets, ", ") + "] [" +
                        formatList(sizes) + "] [" + formatList(steps) +
                        "] : " + getTensorType(update.type) + " into " +
                        getTensorType(x.type));
}

MlirValue LinalgWriter::concat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                               const Type &type) {
  MlirValue result = empty(type);
  int64_t offset = 0;
  for (const MlirValue &x : xs) {
    std::vector<std::string> offsets(type.getRank(), "0");
    offsets[axis] = std::to_string(offset);
    offset += x.getShape()[axis];
    if (x.type.getNumElements() != 0)
      result = insertSlice(x, result, offsets, x.getShape());
  }
  return result;
}

MlirValue LinalgWriter::padWider(const MlirValue &x, IntsRef pads,
                                 double value) {
  unsigned rank = x.getRank();
  Dims shape(x.getShape());
  std::vector<std::string> indices;
  for (unsigned d = 0; d < rank; ++d) {
    shape[d] += pads[d] + pads[rank + d];
    indices.push_back(newName() + ": index");
  }
  Type type = x.type.withShape(shape);
  if (x.type.getNumElements() == 0)
    return fill(type, value);
  MlirScalar element = scalar(x.getKind(), value);
  MlirValues results =
      beginOp(type, "tensor.pad " + x.name + " low[" +
                        formatList(pads.take_front(rank)) + "] high[" +
                        formatList(pads.drop_front(rank)) + "] {");
  line("^bb0(" + llvm::join(indices, ", ") + "):");
  indent();
  line("tensor.yield " + element.name + " : " + getElementType(element.kind));
  outdent();
  line("} : " + getTensorType(x.type) + " to " + getTensorType(type));
  return results.front();
}

//===- Gather -------------------------------------------------------------===//

MlirValue LinalgWriter::gather(const MlirValue &x, const MlirValue &indices,
                               int64_t axis, const Type &type) {
  if (type.getNumElements() == 0)
    return empty(type);
  unsigned rank = type.getRank(), numIndices = indices.getRank();
  int64_t length = x.getShape()[axis];
  Access in = {indices, getLoopNames(numIndices, unsigned(axis))};
  Access out = {empty(type), getLoopNames(rank)};
  return genericOne({.count = rank}, in, out, [&](auto elements, auto) {
    MlirScalar number = countFromStart(elements[0], length);
    number = max(min(number, double(length - 1)), 0.0);
    std::vector<Index> place;
    for (unsigned d = 0; d < x.getRank(); ++d)
      if (int64_t(d) == axis)
        place.push_back(toIndex(number));
      else
        place.push_back(loopIndex(int64_t(d) < axis ? d : d + numIndices - 1));
    return extract(x, place);
  });
}

//===- Scatter and DynamicUpdateSlice -------------------------------------===//

static const MlirForm scatter = [](LinalgWriter &w, const ScatterNode &node) {
  const Type &type = node.getType();
  MlirValue input = w.get(node.getInput()), indices = w.get(node.getIndices());
  MlirValue updates = w.get(node.getUpdates());
  int64_t rows = type.getDim(0), columns = type.getDim(1);
  if (type.getNumElements() == 0 || updates.type.getNumElements() == 0)
    return input;
  Type rowType = type.withShape({1, columns});
  auto takeRow = [&](const MlirValue &x, const LinalgWriter::Index &row) {
    return w.op(rowType, "tensor.extract_slice " + x.name + "[" + row +
                             ", 0] [1, " + llvm::Twine(columns) +
                             "] [1, 1] : " + getTensorType(x.type) + " to " +
                             getTensorType(rowType));
  };
  auto update = [&](const LinalgWriter::Index &i, const MlirValues &carried) {
    MlirScalar row = countFromStart(w.extract(indices, {i}), rows);
    MlirScalar isInside = row >= 0.0 && row < double(rows);
    auto change = [&]() -> MlirValues {
      LinalgWriter::Index place = w.toIndex(row);
      MlirValue value = takeRow(updates, i);
      if (node.getMode() != "replace")
        value = w.map(type.getKind(), rowType.getShape(),
                      {takeRow(carried[0], place), value}, [&](auto elements) {
                        return combineElements(node.getMode(), elements[0],
                                               elements[1]);
                      });
      return {w.insertSlice(value, carried[0], {place, "0"}, {1, columns})};
    };
    return w.ifElse(isInside, type, change,
                    [&]() -> MlirValues { return carried; });
  };
  LinalgWriter::Index count = w.index(indices.type.getNumElements());
  return w.forLoop(count, input, update).front();
};

static MlirValue writeDynamicUpdateSlice(LinalgWriter &w,
                                         const DynamicUpdateSliceNode &node) {
  MlirValue input = w.get(node.getInput()), update = w.get(node.getUpdate());
  int64_t axis = node.getAxis();
  if (update.type.getNumElements() == 0)
    return input;
  double last = double(input.getShape()[axis] - update.getShape()[axis]);
  MlirScalar start = w.extract(w.get(node.getStart()));
  std::vector<std::string> offsets(input.getRank(), "0");
  offsets[axis] = w.toIndex(max(min(start, last), 0.0));
  return w.insertSlice(update, input, offsets, update.getShape());
}
static const MlirForm dynamicUpdateSlice = writeDynamicUpdateSlice;

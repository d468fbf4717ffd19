//===- StableHloWriter.cpp - Movement and regions in StableHLO ------------===//

#include "MLIR/StableHlo/StableHloWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace glowish;

std::string glowish::getHloType(const Type &type) {
  return getTensorType(type, TextStyle::StableHlo);
}

//===- Shapes -------------------------------------------------------------===//

MlirValue StableHloWriter::writeReshape(const MlirValue &x, const Type &type) {
  return tensorOp("stablehlo.reshape", x, type);
}

MlirValue StableHloWriter::writeTranspose(const MlirValue &x,
                                          IntsRef permutation,
                                          const Type &type) {
  return tensorOp("stablehlo.transpose", x, type,
                  ", dims = [" + formatList(permutation) + "]");
}

MlirValue StableHloWriter::writeBroadcast(const MlirValue &x,
                                          const Type &type) {
  std::vector<int64_t> dims;
  for (unsigned d = 0; d < type.getRank(); ++d)
    dims.push_back(d);
  return tensorOp("stablehlo.broadcast_in_dim", x, type,
                  ", dims = [" + formatList(dims) + "]");
}

MlirValue StableHloWriter::writeReverse(const MlirValue &x, int64_t axis) {
  return op(x.type, "stablehlo.reverse " + x.name + ", dims = [" +
                        llvm::Twine(axis) + "] : " + getHloType(x.type));
}

MlirValue StableHloWriter::writeSlice(const MlirValue &x, IntsRef starts,
                                      IntsRef steps, const Type &type) {
  std::vector<std::string> ranges;
  for (size_t d = 0; d < starts.size(); ++d) {
    int64_t end = starts[d] + (type.getShape()[d] - 1) * steps[d] + 1;
    ranges.push_back(
        llvm::formatv("{0}:{1}:{2}", starts[d], end, steps[d]).str());
  }
  return tensorOp("stablehlo.slice", x, type,
                  " [" + llvm::join(ranges, ", ") + "]");
}

MlirValue StableHloWriter::writeConcat(llvm::ArrayRef<MlirValue> xs,
                                       int64_t axis, const Type &type) {
  return tensorOp("stablehlo.concatenate", xs, type,
                  ", dim = " + llvm::Twine(axis));
}

/// ", low = [0], high = [1], interior = [0]".
static std::string formatPads(IntsRef pads, IntsRef between) {
  size_t rank = between.size();
  return ", low = [" + formatList(pads.take_front(rank)) + "], high = [" +
         formatList(pads.drop_front(rank)) + "], interior = [" +
         formatList(between) + "]";
}

MlirValue StableHloWriter::writePad(const MlirValue &x, IntsRef pads,
                                    double value, const Type &type) {
  std::vector<int64_t> zeros(x.getRank(), 0);
  return tensorOp("stablehlo.pad", {x, splat(Type(x.getKind(), {}), value)},
                  type, formatPads(pads, zeros));
}

MlirValue StableHloWriter::padInside(const MlirValue &x, IntsRef pads,
                                     IntsRef between, const Type &type) {
  return tensorOp("stablehlo.pad", {x, splat(Type(x.getKind(), {}), 0)}, type,
                  formatPads(pads, between));
}

//===- Elements at computed places ----------------------------------------===//

MlirValue StableHloWriter::iota(const Type &type, int64_t axis) {
  return op(type, "stablehlo.iota dim = " + llvm::Twine(axis) + " : " +
                      getHloType(type));
}

MlirValue StableHloWriter::gatherInside(const MlirValue &x,
                                        const MlirValue &indices, int64_t axis,
                                        const Type &type) {
  std::vector<int64_t> offsets, sizes(x.getShape());
  sizes[axis] = 1;
  for (int64_t d = 0; d < int64_t(type.getRank()); ++d)
    if (d < axis || d >= axis + int64_t(indices.getRank()))
      offsets.push_back(d);
  std::string content = "\"stablehlo.gather\"(" + x.name + ", " + indices.name +
                        ") <{dimension_numbers = #stablehlo.gather<";
  if (!offsets.empty())
    content += "offset_dims = [" + formatList(offsets) + "], ";
  content += llvm::formatv("collapsed_slice_dims = [{0}], start_index_map = "
                           "[{0}], index_vector_dim = {1}>, slice_sizes = {2}}"
                           "> : ({3}, {4}) -> {5}",
                           axis, indices.getRank(), formatArray(sizes),
                           getHloType(x.type), getHloType(indices.type),
                           getHloType(type))
                 .str();
  return op(type, content);
}

MlirValue StableHloWriter::gather(const MlirValue &x, const MlirValue &indices,
                                  int64_t axis, const Type &type) {
  if (type.getNumElements() == 0)
    return splat(type, 0);
  MlirValue places = mapSame(indices.getKind(), indices, [&](auto elements) {
    return countFromStart(elements[0], x.getShape()[axis]);
  });
  return gatherInside(x, places, axis, type);
}

MlirScalar StableHloWriter::lookup(const MlirScalar &x,
                                   llvm::ArrayRef<double> table) {
  MlirScalar place =
      castScalar(bitCastScalar(x, ElemKind::UInt8), ElemKind::Int32);
  return getScalar(gatherInside(makeLookupTable(x.kind, table),
                                getTensor(place), 0, Type(x.kind, x.shape)));
}

/// The names of scalars that are indices, ", %1, %2", and their types.
static std::pair<std::string, std::string>
formatStarts(llvm::ArrayRef<MlirValue> starts) {
  std::string names, types;
  for (const MlirValue &start : starts) {
    names += ", " + start.name;
    types += ", " + getHloType(start.type);
  }
  return {names, types};
}

MlirValue StableHloWriter::dynamicSlice(const MlirValue &x,
                                        llvm::ArrayRef<MlirValue> starts,
                                        DimsRef sizes) {
  Type type = x.type.withShape(sizes);
  auto [names, types] = formatStarts(starts);
  return op(type, "stablehlo.dynamic_slice " + x.name + names + ", sizes = [" +
                      formatList(sizes) + "] : (" + getHloType(x.type) + types +
                      ") -> " + getHloType(type));
}

MlirValue
StableHloWriter::dynamicUpdateSlice(const MlirValue &x, const MlirValue &update,
                                    llvm::ArrayRef<MlirValue> starts) {
  auto [names, types] = formatStarts(starts);
  return op(x.type, "stablehlo.dynamic_update_slice " + x.name + ", " +
                        update.name + names + " : (" + getHloType(x.type) +
                        ", " + getHloType(update.type) + types + ") -> " +
                        getHloType(x.type));
}

//===- Regions ------------------------------------------------------------===//

static constexpr llvm::StringLiteral returnName = "stablehlo.return";

MlirValues StableHloWriter::computeOp(llvm::StringRef operation,
                                      llvm::ArrayRef<MlirValue> operands,
                                      const llvm::Twine &attributes,
                                      llvm::ArrayRef<ElemKind> parameters,
                                      Computation computation,
                                      llvm::ArrayRef<Type> types) {
  std::vector<std::string> declarations;
  std::string attributeText = attributes.str();
  MlirValues results =
      beginOp(types, "\"" + operation + "\"(" + joinNames(operands) + ") <{" +
                         attributeText + "}> ({");
  std::vector<MlirScalar> scalars;
  for (ElemKind kind : parameters) {
    scalars.push_back({this, newName(), kind});
    declarations.push_back(scalars.back().name + ": " +
                           getHloType(Type(kind, {})));
  }
  line("^bb0(" + llvm::join(declarations, ", ") + "):");
  region(returnName, [&] {
    llvm::SaveAndRestore inside(isInComputation, true);
    MlirValues returned;
    for (const MlirScalar &result : computation(scalars))
      returned.push_back(getTensor(result));
    return returned;
  });
  std::string resultTypes = getTensorTypes(types, TextStyle::StableHlo);
  line("}) : (" + getTensorTypes(getTypes(operands), TextStyle::StableHlo) +
       ") -> " + (types.size() == 1 ? resultTypes : "(" + resultTypes + ")"));
  return results;
}

MlirValues
StableHloWriter::ifElse(const MlirValue &condition, llvm::ArrayRef<Type> types,
                        llvm::function_ref<MlirValues()> thenBranch,
                        llvm::function_ref<MlirValues()> elseBranch) {
  MlirValues results =
      beginOp(types, "\"stablehlo.if\"(" + condition.name + ") ({");
  region(returnName, thenBranch);
  line("}, {");
  region(returnName, elseBranch);
  line("}) : (" + getHloType(condition.type) + ") -> (" +
       getTensorTypes(types, TextStyle::StableHlo) + ")");
  return results;
}

MlirValues StableHloWriter::whileLoop(
    llvm::ArrayRef<MlirValue> values,
    llvm::function_ref<MlirValue(const MlirValues &carried)> condition,
    llvm::function_ref<MlirValues(const MlirValues &carried)> body) {
  MlirValues carried;
  std::vector<std::string> starts;
  for (const MlirValue &value : values) {
    carried.push_back({newName(), value.type});
    starts.push_back(carried.back().name + " = " + value.name);
  }
  llvm::SmallVector<Type, 4> types = getTypes(values);
  MlirValues results =
      beginOp(types, "stablehlo.while(" + llvm::join(starts, ", ") +
                         ") : " + getTensorTypes(types, TextStyle::StableHlo));
  line("cond {");
  region(returnName, [&] { return MlirValues{condition(carried)}; });
  line("} do {");
  region(returnName, [&] { return body(carried); });
  line("}");
  return results;
}

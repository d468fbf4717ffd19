//===- LinalgWriter.cpp - linalg.generic and control flow -----------------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

MlirValue LinalgWriter::empty(const Type &type) {
  return op(type, "tensor.empty() : " + getTensorType(type));
}

MlirValue LinalgWriter::fill(const Type &type, double value) {
  MlirValue start = empty(type);
  MlirScalar element = scalar(type.getKind(), value);
  return op(type, "linalg.fill ins(" + element.name + " : " +
                      getElementType(type.getKind()) + ") outs(" +
                      formatOperands(start) + ") -> " + getTensorType(type));
}

MlirValue LinalgWriter::splat(const Type &type, double value) {
  return fill(getStoredType(type), value);
}

//===- linalg.generic -----------------------------------------------------===//

std::vector<std::string> LinalgWriter::getLoopNames(unsigned count,
                                                    unsigned first) {
  std::vector<std::string> names;
  for (unsigned i = first; i < first + count; ++i)
    names.push_back("d" + std::to_string(i));
  return names;
}

MlirValues LinalgWriter::generic(const Loops &loops, llvm::ArrayRef<Access> ins,
                                 llvm::ArrayRef<Access> outs, Body body) {
  std::string domain = llvm::join(getLoopNames(loops.count), ", ");
  std::vector<std::string> maps, parameters, iterators;
  MlirValues inValues, outValues;
  std::vector<MlirScalar> inElements, outElements;
  auto add = [&](const Access &access, MlirValues &values,
                 std::vector<MlirScalar> &elements) {
    maps.push_back("affine_map<(" + domain + ") -> (" +
                   llvm::join(access.indices, ", ") + ")>");
    values.push_back(access.value);
    ElemKind kind = access.value.getKind();
    elements.push_back({.writer = this, .name = newName(), .kind = kind});
    parameters.push_back(elements.back().name + ": " +
                         getElementType(kind).str());
  };
  for (const Access &access : ins)
    add(access, inValues, inElements);
  for (const Access &access : outs)
    add(access, outValues, outElements);
  for (unsigned loop = 0; loop < loops.count; ++loop)
    iterators.push_back(llvm::is_contained(loops.reduced, loop)
                            ? "\"reduction\""
                            : "\"parallel\"");
  std::string operands =
      ins.empty() ? "" : " ins(" + formatOperands(inValues) + ")";
  llvm::SmallVector<Type, 4> types = getTypes(outValues);
  MlirValues results = beginOp(
      types, "linalg.generic {indexing_maps = [" + llvm::join(maps, ", ") +
                 "], iterator_types = [" + llvm::join(iterators, ", ") + "]}" +
                 operands + " outs(" + formatOperands(outValues) + ") {");
  line("^bb0(" + llvm::join(parameters, ", ") + "):");
  indent();
  std::vector<std::string> names, yielded;
  for (const MlirScalar &element : body(inElements, outElements)) {
    names.push_back(element.name);
    yielded.push_back(getElementType(element.kind).str());
  }
  line("linalg.yield " + llvm::join(names, ", ") + " : " +
       llvm::join(yielded, ", "));
  outdent();
  std::string typeList = getTensorTypes(types);
  line("} -> " + (types.size() == 1 ? typeList : "(" + typeList + ")"));
  return results;
}

MlirValue LinalgWriter::genericOne(const Loops &loops,
                                   llvm::ArrayRef<Access> ins,
                                   const Access &out, OneBody body) {
  return generic(loops, ins, out,
                 [&](auto elements, auto sums) {
                   return std::vector<MlirScalar>{body(elements, sums)};
                 })
      .front();
}

/// The indices of an operand of extents \p own that broadcasts to \p shape.
static std::vector<std::string> getBroadcastIndices(DimsRef own,
                                                    DimsRef shape) {
  std::vector<std::string> indices;
  for (size_t d = 0; d < own.size(); ++d) {
    size_t loop = shape.size() - own.size() + d;
    bool isRepeated = own[d] == 1 && shape[loop] != 1;
    indices.push_back(isRepeated ? "0" : "d" + std::to_string(loop));
  }
  return indices;
}

MlirValue LinalgWriter::mapElements(ElemKind kind, DimsRef shape,
                                    llvm::ArrayRef<MlirValue> operands,
                                    ScalarFunction function) {
  Type type(kind, shape);
  std::vector<Access> ins;
  for (const MlirValue &operand : operands)
    ins.push_back({operand, getBroadcastIndices(operand.getShape(), shape)});
  Access out = {empty(type), getLoopNames(shape.size())};
  return genericOne({.count = unsigned(shape.size())}, ins, out,
                    [&](auto elements, auto) { return function(elements); });
}

MlirValue LinalgWriter::broadcast(const MlirValue &x, DimsRef shape) {
  return mapElements(x.getKind(), shape, {x},
                     [](auto elements) { return elements[0]; });
}

//===- Regions ------------------------------------------------------------===//

MlirValues LinalgWriter::forLoop(
    const Index &count, llvm::ArrayRef<MlirValue> values,
    llvm::function_ref<MlirValues(const Index &i, const MlirValues &carried)>
        body) {
  Index i = newName();
  MlirValues carried;
  std::vector<std::string> starts;
  for (const MlirValue &value : values) {
    carried.push_back({newName(), value.type});
    starts.push_back(carried.back().name + " = " + value.name);
  }
  llvm::SmallVector<Type, 4> types = getTypes(values);
  MlirValues results = beginOp(
      types, "scf.for " + i + " = " + index(0) + " to " + count + " step " +
                 index(1) + " iter_args(" + llvm::join(starts, ", ") +
                 ") -> (" + getTensorTypes(types) + ") {");
  region("scf.yield", [&] { return body(i, carried); });
  line("}");
  return results;
}

MlirValues LinalgWriter::ifElse(const MlirScalar &condition,
                                llvm::ArrayRef<Type> types, Branch thenBranch,
                                Branch elseBranch) {
  MlirValues results = beginOp(types, "scf.if " + condition.name + " -> (" +
                                          getTensorTypes(types) + ") {");
  region("scf.yield", thenBranch);
  line("} else {");
  region("scf.yield", elseBranch);
  line("}");
  return results;
}

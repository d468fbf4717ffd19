//===- Scalars.cpp - Scalars in arith and math ----------------------------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

MlirScalar LinalgWriter::scalarOp(ElemKind kind, const llvm::Twine &content) {
  MlirScalar result = {.writer = this, .name = newName(), .kind = kind};
  line(result.name + " = " + content);
  return result;
}

MlirScalar LinalgWriter::scalar(ElemKind kind, double value) {
  return {.writer = this,
          .name = getConstants().getScalar(getElementType(kind),
                                           formatLiteral(kind, value)),
          .kind = kind};
}

MlirScalar LinalgWriter::literal(const MlirScalar & /*like*/, ElemKind kind,
                                 double value) {
  return scalar(kind, value);
}

//===- Conversions --------------------------------------------------------===//

MlirScalar LinalgWriter::castScalar(const MlirScalar &x, ElemKind kind) {
  if (x.kind == kind)
    return x;
  llvm::StringRef from = getElementType(x.kind), to = getElementType(kind);
  bool fromFloat = isFloatKind(x.kind), toFloat = isFloatKind(kind);
  bool isSigned = isSignedIntegerKind(x.kind);
  unsigned fromSize = getElemSize(x.kind), toSize = getElemSize(kind);
  llvm::StringRef operation;
  if (fromFloat && toFloat)
    operation = fromSize < toSize ? "extf" : "truncf";
  else if (fromFloat)
    operation = isSignedIntegerKind(kind) ? "fptosi" : "fptoui";
  else if (toFloat)
    operation = isSigned ? "sitofp" : "uitofp";
  else if (x.kind == ElemKind::Bool || fromSize < toSize)
    operation = isSigned ? "extsi" : "extui";
  else if (fromSize > toSize)
    operation = "trunci";
  else
    return {.writer = this, .name = x.name, .kind = kind};
  return scalarOp(kind, "arith." + operation + " " + x.name + " : " + from +
                            " to " + to);
}

MlirScalar LinalgWriter::bitCastScalar(const MlirScalar &x, ElemKind kind) {
  if (x.kind == ElemKind::Bool)
    return castScalar(x, kind);
  llvm::StringRef from = getElementType(x.kind), to = getElementType(kind);
  if (from == to)
    return {.writer = this, .name = x.name, .kind = kind};
  return scalarOp(kind, "arith.bitcast " + x.name + " : " + from + " to " + to);
}

MlirScalar LinalgWriter::lookup(const MlirScalar &x,
                                llvm::ArrayRef<double> table) {
  MlirScalar byte = x;
  byte.kind = ElemKind::UInt8;
  return extract(makeLookupTable(x.kind, table),
                 {toIndex(castScalar(byte, ElemKind::Int64))});
}

//===- Primitives ---------------------------------------------------------===//

/// The operations of a primitive: of floats, and of integers with and without a
/// sign. Empty where it is composed.
namespace {
struct PrimitiveNames {
  ScalarPrimitive primitive;
  llvm::StringLiteral ofFloats, ofSigned, ofUnsigned;
};
} // namespace

static llvm::ArrayRef<PrimitiveNames> getPrimitiveNames() {
  using enum ScalarPrimitive;
  static constexpr PrimitiveNames names[] = {
      {Add, "arith.addf", "arith.addi", "arith.addi"},
      {Sub, "arith.subf", "arith.subi", "arith.subi"},
      {Mul, "arith.mulf", "arith.muli", "arith.muli"},
      {Div, "arith.divf", "arith.divsi", "arith.divui"},
      {Neg, "arith.negf", "", ""},
      {Less, "arith.cmpf olt,", "arith.cmpi slt,", "arith.cmpi ult,"},
      {LessOrEqual, "arith.cmpf ole,", "arith.cmpi sle,", "arith.cmpi ule,"},
      {Equal, "arith.cmpf oeq,", "arith.cmpi eq,", "arith.cmpi eq,"},
      {And, "", "", "arith.andi"},
      {Or, "", "", "arith.ori"},
      {BitAnd, "", "arith.andi", "arith.andi"},
      {BitOr, "", "arith.ori", "arith.ori"},
      {BitXor, "", "arith.xori", "arith.xori"},
      {ArithmeticShiftRight, "", "arith.shrsi", ""},
      {Max, "arith.maximumf", "arith.maxsi", "arith.maxui"},
      {Min, "arith.minimumf", "arith.minsi", "arith.minui"},
      {Exp, "math.exp", "", ""},
      {Expm1, "math.expm1", "", ""},
      {Log, "math.log", "", ""},
      {Log1p, "math.log1p", "", ""},
      {Sqrt, "math.sqrt", "", ""},
      {Floor, "math.floor", "", ""},
      {Ceil, "math.ceil", "", ""},
      {Rint, "math.roundeven", "", ""},
      {Tanh, "math.tanh", "", ""},
      {Erf, "math.erf", "", ""},
      {Sin, "math.sin", "", ""},
      {Cos, "math.cos", "", ""},
      {Atan, "math.atan", "", ""},
  };
  return names;
}

static llvm::StringRef findOperation(ScalarPrimitive primitive, ElemKind kind) {
  llvm::ArrayRef<PrimitiveNames> all = getPrimitiveNames();
  auto found = llvm::find_if(all, [&](const PrimitiveNames &names) {
    return names.primitive == primitive;
  });
  if (found == all.end())
    return "";
  if (isFloatKind(kind))
    return found->ofFloats;
  return isSignedIntegerKind(kind) ? found->ofSigned : found->ofUnsigned;
}

/// 0 where \p y is not below the width, which LLVM leaves open.
static MlirScalar shift(LinalgWriter &w, llvm::StringRef operation,
                        const MlirScalar &x, const MlirScalar &y) {
  MlirScalar distance = y;
  distance.kind = ElemKind::UInt64;
  std::string type = getElementType(x.kind).str();
  unsigned width = 8 * getElemSize(x.kind);
  MlirScalar isInside = w.scalarOp(
      ElemKind::Bool, "arith.cmpi ult, " + y.name + ", " +
                          w.scalar(x.kind, width).name + " : " + type);
  MlirScalar near = select(isInside, y, y.like(0));
  MlirScalar shifted = w.scalarOp(x.kind, operation + " " + x.name + ", " +
                                              near.name + " : " + type);
  return select(isInside, shifted, x.like(0));
}

/// In double, so that the square of a float is what x * x is.
static MlirScalar raise(LinalgWriter &w, const MlirScalar &x,
                        const MlirScalar &y) {
  MlirScalar base = w.castScalar(x, ElemKind::Double);
  MlirScalar exponent = w.castScalar(y, ElemKind::Double);
  MlirScalar power =
      w.scalarOp(ElemKind::Double,
                 "math.powf " + base.name + ", " + exponent.name + " : f64");
  return w.castScalar(power, x.kind);
}

MlirScalar LinalgWriter::applyPrimitive(ScalarPrimitive primitive,
                                        llvm::ArrayRef<MlirScalar> args) {
  using enum ScalarPrimitive;
  const MlirScalar &x = args[0], &y = args.back();
  ElemKind kind = y.kind;
  std::string type = getElementType(kind).str();
  if (primitive == ShiftLeft || primitive == ShiftRight)
    return shift(*this, primitive == ShiftLeft ? "arith.shli" : "arith.shrui",
                 x, y);
  auto write = [&](ScalarPrimitive part, const MlirScalar &left,
                   const MlirScalar &right) {
    return scalarOp(left.kind, findOperation(part, left.kind) + " " +
                                   left.name + ", " + right.name + " : " +
                                   getElementType(left.kind));
  };
  if (auto composed = composePrimitive(primitive, x, y, write))
    return *composed;
  llvm::StringRef operation = findOperation(primitive, kind);
  if (!operation.empty()) {
    bool isComparison =
        primitive == Less || primitive == LessOrEqual || primitive == Equal;
    std::string names = x.name;
    if (args.size() == 2)
      names += ", " + y.name;
    return scalarOp(isComparison ? ElemKind::Bool : kind,
                    operation + " " + names + " : " + type);
  }
  switch (primitive) {
  case Select:
    return scalarOp(kind, "arith.select " + x.name + ", " + args[1].name +
                              ", " + y.name + " : " + type);
  case Neg:
    return x.like(0) - x;
  case Not:
    return scalarOp(kind, "arith.xori " + x.name + ", " + x.like(1).name +
                              " : " + type);
  case Pow:
    return raise(*this, x, y);
  default:
    llvm_unreachable("type rules refuse this kind");
  }
}

//===- Indices ------------------------------------------------------------===//

LinalgWriter::Index LinalgWriter::index(int64_t value) {
  return getConstants().getScalar("index", std::to_string(value));
}

LinalgWriter::Index LinalgWriter::loopIndex(unsigned loop) {
  Index name = newName();
  line(name + " = linalg.index " + llvm::Twine(loop) + " : index");
  return name;
}

LinalgWriter::Index LinalgWriter::toIndex(const MlirScalar &x) {
  Index name = newName();
  line(name + " = arith.index_cast " + x.name + " : " + getElementType(x.kind) +
       " to index");
  return name;
}

MlirScalar LinalgWriter::fromIndex(const Index &index) {
  return scalarOp(ElemKind::Int64,
                  "arith.index_cast " + index + " : index to i64");
}

MlirScalar LinalgWriter::extract(const MlirValue &x,
                                 llvm::ArrayRef<Index> indices) {
  std::vector<Index> all(indices);
  if (all.empty())
    all.assign(x.getRank(), index(0));
  return scalarOp(x.getKind(), "tensor.extract " + x.name + "[" +
                                   llvm::join(all, ", ") +
                                   "] : " + getTensorType(x.type));
}

MlirValue LinalgWriter::fromScalar(const MlirScalar &x) {
  Type type(x.kind, {});
  return op(type,
            "tensor.from_elements " + x.name + " : " + getTensorType(type));
}

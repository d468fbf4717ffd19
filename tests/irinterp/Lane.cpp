//===- Lane.cpp - Scalars of LLVM IR while it is interpreted --------------===//

#include "Lane.h"
#include "llvm/ADT/APFloat.h"

using namespace glowish::irinterp;

void TypeLayout::add(llvm::Type *type, const llvm::DataLayout &layout,
                     uint64_t offset) {
  if (type->isVoidTy())
    return;
  if (auto *structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout *places = layout.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      add(structure->getElementType(i), layout,
          offset + places->getElementOffset(i));
    return;
  }
  if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    uint64_t size = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t i = 0; i < array->getNumElements(); ++i)
      add(array->getElementType(), layout, offset + i * size);
    return;
  }
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    uint64_t bits = layout.getTypeSizeInBits(vector->getElementType());
    // Lanes of less than a byte are packed.
    isSupported &= bits % 8 == 0 || bits == 1;
    for (unsigned i = 0; i < vector->getNumElements(); ++i)
      add(vector->getElementType(), layout, offset + i * bits / 8);
    return;
  }
  ScalarType scalar;
  if (type->isFloatTy())
    scalar.kind = ScalarType::Float;
  else if (type->isDoubleTy())
    scalar.kind = ScalarType::Double;
  else if (type->isHalfTy())
    scalar.kind = ScalarType::Half;
  else if (type->isBFloatTy())
    scalar.kind = ScalarType::BFloat;
  else if (type->isPointerTy())
    scalar.kind = ScalarType::Pointer;
  else if (!type->isIntegerTy())
    isSupported = false;
  if (isSupported)
    scalar.bits = unsigned(layout.getTypeSizeInBits(type));
  isSupported &= scalar.bits <= 64;
  lanes.push_back(scalar);
  offsets.push_back(offset);
}

TypeLayout TypeLayout::of(llvm::Type *type, const llvm::DataLayout &layout) {
  TypeLayout result;
  result.add(type, layout, 0);
  return result;
}

static const llvm::fltSemantics &getSemantics(ScalarType type) {
  return type.kind == ScalarType::Half ? llvm::APFloat::IEEEhalf()
                                       : llvm::APFloat::BFloat();
}

double glowish::irinterp::readFloat(uint64_t bits, ScalarType type) {
  if (type.kind == ScalarType::Double)
    return toDouble(bits);
  if (type.kind == ScalarType::Float)
    return toFloat(bits);
  llvm::APFloat value(getSemantics(type), llvm::APInt(16, bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

uint64_t glowish::irinterp::writeFloat(double number, ScalarType type) {
  if (type.kind == ScalarType::Double)
    return fromDouble(number);
  if (type.kind == ScalarType::Float)
    return fromFloat(float(number));
  llvm::APFloat value(number);
  bool losesInfo;
  value.convert(getSemantics(type), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

//===- Packing.cpp - Elements as files have them --------------------------===//

#include "glowish/Base/Packing.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/Support/Task.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;

bool glowish::isPacked(ElemKind kind) { return getElemBits(kind) < 8; }

int64_t glowish::getPackedSize(const Type &type) {
  if (!isPacked(type.getKind()))
    return type.getSizeInBytes();
  int64_t perByte = 8 / getElemBits(type.getKind());
  return (type.getNumElements() + perByte - 1) / perByte;
}

Tensor glowish::unpackElements(const Type &type,
                               llvm::ArrayRef<uint8_t> packed) {
  assert(int64_t(packed.size()) == getPackedSize(type));
  if (isPacked(type.getKind()))
    return StoredElements::makeTensor(type, {.bytes = packed, .owner = nullptr})
        .clone();
  Tensor tensor(type);
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  constexpr size_t blockBytes = 16 << 20;
  for (size_t done = 0; done < packed.size() && !isCancelled();
       done += blockBytes)
    llvm::copy(packed.slice(done).take_front(blockBytes), bytes + done);
  // A bool with a value other than 0 and 1 has undefined behaviour.
  if (type.getKind() == ElemKind::Bool)
    for (uint8_t &byte : llvm::MutableArrayRef(bytes, packed.size()))
      byte = byte != 0;
  return tensor;
}

std::string glowish::packElements(const Tensor &tensor) {
  const Type &type = tensor.getType();
  llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
  if (!isPacked(type.getKind()))
    return std::string(bytes.begin(), bytes.end());
  unsigned width = getElemBits(type.getKind()), perByte = 8 / width;
  std::string packed(size_t(getPackedSize(type)), '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    packed[i / perByte] |=
        char((bytes[i] & ((1u << width) - 1)) << (i % perByte * width));
  return packed;
}

//===- Memory.cpp - Checked memory of interpreted LLVM IR -----------------===//

#include "Memory.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;
using namespace glowish::irinterp;

llvm::Expected<uint64_t> Memory::allocate(std::string name, uint64_t size,
                                          uint64_t alignment) {
  uint64_t number = pieces.size();
  if (!released.empty()) {
    number = released.back();
    released.pop_back();
  } else {
    pieces.emplace_back();
  }
  if (offsetBits == 24 && number >= 256)
    return makeError("more than 255 pieces of memory");
  if (size + 3 * alignment >= uint64_t(1) << offsetBits)
    return makeError("'{0}' of {1} bytes is too large", name, size);
  Piece &piece = pieces[number];
  piece.name = std::move(name);
  piece.start = (number << offsetBits) + alignment;
  piece.bytes.assign(size, 0);
  piece.poison.assign(size, 1);
  piece.isWritable = piece.isAlive = true;
  return piece.start;
}

void Memory::release(uint64_t address) {
  pieces[getNumber(address)].isAlive = false;
  released.push_back(getNumber(address));
}

void Memory::initialize(uint64_t address, llvm::ArrayRef<uint8_t> bytes,
                        bool isWritable) {
  Piece &piece = pieces[getNumber(address)];
  uint64_t offset = address - piece.start;
  llvm::copy(bytes, piece.bytes.begin() + ptrdiff_t(offset));
  std::fill_n(piece.poison.begin() + ptrdiff_t(offset), bytes.size(), 0);
  piece.isWritable = isWritable;
}

llvm::Expected<Memory::Piece *> Memory::find(uint64_t address, uint64_t size,
                                             bool writes) {
  uint64_t number = getNumber(address);
  const char *verb = writes ? "a write" : "a read";
  if (number == 0 || number >= pieces.size() || !pieces[number].isAlive)
    return makeError("{0} of {1} bytes at {2:x}, where no memory is", verb,
                     size, address);
  Piece &piece = pieces[number];
  if (address < piece.start)
    return makeError("{0} of {1} bytes, {2} bytes before the start of {3}",
                     verb, size, piece.start - address, piece.name);
  uint64_t end = piece.start + piece.bytes.size();
  if (address + size > end)
    return makeError(
        "{0} of {1} bytes that ends {2} bytes beyond the end of {3}", verb,
        size, address + size - end, piece.name);
  if (writes && !piece.isWritable)
    return makeError("a write to {0}, which is constant", piece.name);
  return &piece;
}

llvm::Expected<Lane> Memory::load(uint64_t address, ScalarType type) {
  unsigned size = type.getBytes();
  GLOWISH_ASSIGN_OR_RETURN(Piece *piece, find(address, size, false));
  uint64_t offset = address - piece->start;
  uint64_t bits = 0, poison = 0;
  std::memcpy(&bits, &piece->bytes[offset], size);
  for (unsigned i = 0; i < size; ++i)
    if (piece->poison[offset + i])
      poison |= uint64_t(0xFF) << (8 * i);
  return Lane::partial(bits & type.getMask(), poison & type.getMask());
}

llvm::Error Memory::store(uint64_t address, ScalarType type, Lane lane) {
  unsigned size = type.getBytes();
  GLOWISH_ASSIGN_OR_RETURN(Piece *piece, find(address, size, true));
  uint64_t offset = address - piece->start;
  std::memcpy(&piece->bytes[offset], &lane.bits, size);
  for (unsigned i = 0; i < size; ++i)
    piece->poison[offset + i] = (lane.getPoisonBits() >> (8 * i) & 0xFF) != 0;
  return llvm::Error::success();
}

llvm::Error Memory::checkAlignment(uint64_t address, uint64_t alignment) const {
  if (address % alignment == 0)
    return llvm::Error::success();
  uint64_t number = getNumber(address);
  return makeError("the address is no multiple of {0}, in {1}", alignment,
                   number < pieces.size() ? pieces[number].name : "no memory");
}

llvm::Error Memory::copy(uint64_t to, uint64_t from, uint64_t size) {
  if (size == 0)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(Piece *source, find(from, size, false));
  GLOWISH_ASSIGN_OR_RETURN(Piece *target, find(to, size, true));
  std::memmove(&target->bytes[to - target->start],
               &source->bytes[from - source->start], size);
  std::memmove(&target->poison[to - target->start],
               &source->poison[from - source->start], size);
  return llvm::Error::success();
}

llvm::Error Memory::fill(uint64_t to, Lane byte, uint64_t size) {
  if (size == 0)
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(Piece *target, find(to, size, true));
  std::memset(&target->bytes[to - target->start], int(byte.bits), size);
  std::memset(&target->poison[to - target->start], byte.isPoison, size);
  return llvm::Error::success();
}

llvm::ArrayRef<uint8_t> Memory::getBytes(uint64_t address,
                                         uint64_t size) const {
  const Piece &piece = pieces[getNumber(address)];
  return llvm::ArrayRef(piece.bytes).slice(address - piece.start, size);
}

llvm::ArrayRef<uint8_t> Memory::getPoison(uint64_t address,
                                          uint64_t size) const {
  const Piece &piece = pieces[getNumber(address)];
  return llvm::ArrayRef(piece.poison).slice(address - piece.start, size);
}

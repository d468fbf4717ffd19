//===- ChecksumFunction.cpp - The checksum of weights in code -------------===//

#include "ChecksumFunction.h"
#include "Kernels/KernelBuilder.h"

using namespace glowish;
using llvm::Value;

namespace {

/// XXH64 with seed 0 (Support/Checksum.h) of a size that is known.
class ChecksumEmitter {
public:
  ChecksumEmitter(KernelBuilder &b, Value *bytes, uint64_t size)
      : b(b), bytes(bytes), size(int64_t(size)) {}
  Value *emit();

private:
  static constexpr uint64_t prime1 = 0x9E3779B185EBCA87;
  static constexpr uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
  static constexpr uint64_t prime3 = 0x165667B19E3779F9;
  static constexpr uint64_t prime4 = 0x85EBCA77C2B2AE63;
  static constexpr uint64_t prime5 = 0x27D4EB2F165667C5;
  /// What the four lanes take together.
  static constexpr int64_t stripeBytes = 32;

  Value *number(uint64_t value) { return b.getInt64(value); }
  Value *rotate(Value *value, unsigned count) {
    return b.CreateIntrinsic(llvm::Intrinsic::fshl, {value->getType()},
                             {value, value, number(count)});
  }
  Value *addRound(Value *lane, Value *word) {
    Value *sum = b.CreateAdd(lane, b.CreateMul(word, number(prime2)));
    return b.CreateMul(rotate(sum, 31), number(prime1));
  }
  Value *shiftXor(Value *hash, unsigned count) {
    return b.CreateXor(hash, b.CreateLShr(hash, count));
  }
  /// The little-endian number of \p count bytes at \p offset as an int64.
  Value *load(Value *offset, unsigned count) {
    Value *address = b.CreateInBoundsGEP(b.getInt8Ty(), bytes, offset);
    Value *word =
        b.CreateAlignedLoad(b.getIntNTy(8 * count), address, llvm::Align(1));
    if (count > 1 && b.getTarget().isBigEndian)
      word = b.CreateUnaryIntrinsic(llvm::Intrinsic::bswap, word);
    return b.CreateZExt(word, b.getInt64Ty());
  }
  Value *addStripes();
  Value *addRest(Value *hash);

  KernelBuilder &b;
  Value *bytes;
  int64_t size;
};

} // namespace

/// The hash of all whole stripes.
Value *ChecksumEmitter::addStripes() {
  if (size < stripeBytes)
    return number(prime5);
  Values lanes = {number(prime1 + prime2), number(prime2), number(0),
                  number(0 - prime1)};
  lanes = b.forLoop(b.index(0), b.index(size / stripeBytes * stripeBytes),
                    stripeBytes, lanes,
                    [&](Value *i, llvm::ArrayRef<Value *> carried) {
                      Values next;
                      for (auto [k, lane] : llvm::enumerate(carried))
                        next.push_back(addRound(
                            lane, load(b.CreateNSWAdd(i, b.index(8 * k)), 8)));
                      return next;
                    });
  Value *hash = number(0);
  constexpr unsigned counts[] = {1, 7, 12, 18};
  for (auto [lane, count] : llvm::zip_equal(lanes, counts))
    hash = b.CreateAdd(hash, rotate(lane, count));
  for (Value *lane : lanes)
    hash = b.CreateAdd(b.CreateMul(b.CreateXor(hash, addRound(number(0), lane)),
                                   number(prime1)),
                       number(prime4));
  return hash;
}

/// \p hash with the bytes behind the stripes.
Value *ChecksumEmitter::addRest(Value *hash) {
  auto mix = [&](Value *word, unsigned count, uint64_t factor,
                 uint64_t addend) {
    hash = b.CreateXor(hash, word);
    hash = b.CreateMul(rotate(hash, count), number(factor));
    hash = b.CreateAdd(hash, number(addend));
  };
  int64_t i = size / stripeBytes * stripeBytes;
  for (; size - i >= 8; i += 8)
    mix(addRound(number(0), load(b.index(i), 8)), 27, prime1, prime4);
  if (size - i >= 4) {
    mix(b.CreateMul(load(b.index(i), 4), number(prime1)), 23, prime2, prime3);
    i += 4;
  }
  for (; i < size; ++i)
    mix(b.CreateMul(load(b.index(i), 1), number(prime5)), 11, prime1, 0);
  return hash;
}

Value *ChecksumEmitter::emit() {
  Value *hash = b.CreateAdd(addStripes(), number(uint64_t(size)));
  hash = addRest(hash);
  hash = b.CreateMul(shiftXor(hash, 33), number(prime2));
  hash = b.CreateMul(shiftXor(hash, 29), number(prime3));
  return shiftXor(hash, 32);
}

llvm::Function *glowish::defineChecksum(llvm::Module &module,
                                        const TargetDescription &target,
                                        uint64_t size) {
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getInt64Ty(context),
                                       {llvm::PointerType::getUnqual(context)},
                                       /*isVarArg=*/false);
  llvm::Function *function = target.createFunction(
      module, type, llvm::GlobalValue::ExternalLinkage, "glowish.checksum");
  KernelBuilder b(*function, target);
  b.CreateRet(ChecksumEmitter(b, function->getArg(0), size).emit());
  return function;
}

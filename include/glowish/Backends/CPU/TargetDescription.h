//===- TargetDescription.h - Target properties for kernels ------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CPU_TARGETDESCRIPTION_H
#define GLOWISH_BACKENDS_CPU_TARGETDESCRIPTION_H

#include "glowish/Base/ElemKind.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

namespace glowish {

/// The instruction that adds the products of several small elements, which lie
/// side by side in a lane of 32 bits, to the lane of a sum, of int32 unless
/// stated.
enum class DotInstr : uint8_t {
  None,
  /// Two int16 each: x86's pmaddwd, or WebAssembly's i32x4.dot_i16x8_s, and an
  /// addition.
  Pairs,
  /// Four of uint8, and of int8: VNNI's vpdpbusd.
  UnsignedQuads,
  /// Four of int8 each: AArch64's sdot.
  SignedQuads,
  /// Two bfloat16 each, to a float: AVX-512's vdpbf16ps, AArch64's bfdot.
  BFloat16Pairs
};

/// The instruction that looks the bytes of a vector up in a table in registers.
enum class LookupInstr : uint8_t {
  None,
  /// Of 128 bytes: VBMI's vpermi2b.
  Bytes128,
  /// Of 64 words of two bytes: AVX-512's vpermi2w.
  Words64,
  /// Of 64 bytes: AArch64's tbl.
  Bytes64
};

/// Whether bundles for \p triple are linked to modules that JavaScript loads:
/// WebAssembly without a system. Toolchains of systems (WASI, Emscripten) link
/// objects.
inline bool isForWeb(const llvm::Triple &triple) {
  return triple.getArch() == llvm::Triple::wasm32 &&
         triple.getOS() == llvm::Triple::UnknownOS;
}

/// The stack of such a module.
constexpr uint64_t webStackBytes = 1 << 20;

/// The facts about a target on which the choice and the code of kernels
/// depend. Nothing else of the target is looked at.
struct TargetDescription {
  std::string cpu;
  std::string features;
  /// Distinguishes the functions for this target where a module has code for
  /// several: "_v3". Else empty.
  std::string suffix;
  /// Bits of a vector register; 0 where there are no float vectors, and
  /// kernels are made of scalars.
  unsigned vectorBits = 0;
  /// Bits of the vectors that weights are packed for. More than vectorBits
  /// where code for a higher level shares them.
  unsigned packedBits = 0;
  unsigned numVectorRegisters = 16;
  bool isX86 = false;
  /// A number begins with its highest byte. Such targets have scalar code:
  /// kernels of vectors put several bytes into one lane.
  bool isBigEndian = false;
  /// WebAssembly's vectors, whose instructions have intrinsics of their own.
  bool isWasm = false;
  /// x86's vectors of 512 bits, with the extensions F, VL, DQ and BW.
  bool hasAVX512 = false;
  /// a * b + c in one instruction, rounded once.
  bool hasFMA = false;
  /// The same of vectors, rounded once or twice as the processor likes
  /// (relaxed SIMD of WebAssembly).
  bool hasRelaxedMultiplyAdd = false;
  /// A multiply-add of vectors is two instructions, which cores run side by
  /// side, and what one leaves for the other takes a register. Not set for x86
  /// without FMA, to whose multiply-adds the estimates fit as well.
  bool splitsMultiplyAdd = false;
  /// floor, ceil and rint are instructions, not library calls.
  bool hasRounding = false;
  /// Conversions between float16 and float are instructions.
  bool hasFloat16 = false;
  /// Matrix registers (Intel AMX) that multiply int8 numbers.
  bool hasMatrixInt8 = false;
  /// The same that multiply bfloat16.
  bool hasMatrixBFloat16 = false;
  /// What multiplies 8-bit integers.
  DotInstr dot = DotInstr::None;
  /// There is DotInstr::BFloat16Pairs.
  bool hasBFloat16Dot = false;
  /// Multiply-adds of floats that take as long as one of those.
  double bfloat16DotCost = 1;
  /// Pairs are multiplied and added by one instruction (VNNI's vpdpwssd).
  bool addsPairs = false;
  /// A register of 32 bits holds two int16: one instruction multiplies them
  /// with two others and adds both to an int32, another widens two
  /// bytes of a register (the DSP extension of Cortex-M: SMLAD, SXTAB16).
  bool hasDualMultiply = false;
  /// One instruction multiplies all bytes of two vectors and adds them up to an
  /// int32 in a general register (MVE's VMLADAVA).
  bool hasDotReduction = false;
  /// A float is converted to the nearest integer, ties to even, by one
  /// instruction, which saturates and makes 0 of NaN (VFP's VCVTR).
  bool hasRoundingConversion = false;
  /// What looks bytes up.
  LookupInstr lookup = LookupInstr::None;
  /// Bytes of the cache that one core has for itself.
  int64_t cacheBytes = 256 << 10;
  /// Cycles that it takes to read a byte that is not in this cache, when many
  /// are read in order.
  static constexpr double farByteCycles = 0.13;
  /// Whether there is a system with memory to spare: code may trade it for
  /// time.
  bool isHosted = false;
  /// Whether there is any system, which has threads.
  bool hasSystem = false;
  /// Arithmetic of float and of double, square roots included, is
  /// instructions. hasFMA and hasRounding speak of the kinds that have that.
  bool hasFloat = false;
  bool hasDouble = false;
  /// A multiply-add takes one factor from a lane of a vector: factors that lie
  /// side by side are loaded together.
  bool hasMultiplyByLane = false;
  /// Such a multiply-add rounds once, where others do.
  bool fusesMultiplyByLane = true;
  /// A multiply-add of vectors takes one factor from a scalar register.
  bool hasMultiplyByScalar = false;
  /// Half a register of floats is converted to integers as it is. For MVE, LLVM
  /// makes integers of 64 bits of it, by calls of a library.
  bool convertsHalfRegisters = true;
  /// A core issues loads beside two multiply-adds a cycle, as those of x86-64
  /// do that estimates of time are fitted to. On others each instruction
  /// counts.
  bool issuesWidely = false;
  /// Instructions that a core issues a cycle, where each counts.
  double instrsPerCycle = 2;
  /// The code is WebAssembly, which an engine translates for a processor: LLVM
  /// neither orders its instructions nor allocates registers. V8 begins with
  /// the loads of a block. Constants are part of the addresses of loads and
  /// stores where these are known not to wrap around, which LLVM forgets when
  /// it simplifies the addresses of loops (KernelBuilder::keepOffsets).
  bool isTranslated = false;
  /// Whether prefetch instructions pay.
  bool hasPrefetch = true;
  /// The stack bytes that a task may use for packed data and sums.
  int64_t maxStackBytes = 32 << 10;
  /// Threads that kernels are split for. 1: kernels are plain functions.
  int64_t numThreads = 1;
  /// Operations that take longer than waking another thread: a kernel of fewer
  /// is not divided into tasks.
  int64_t minTaskOperations = 150'000;
  /// Float results have the same bits as those of any other target with this:
  /// each operation is rounded by itself, and sums have the order of
  /// getSumTarget().
  bool isReproducible = false;
  /// TargetOptions::roundsEachStep.
  bool roundsEachStep = false;

  static TargetDescription forMachine(const llvm::TargetMachine &machine);

  /// Sets isReproducible and what follows from it. The error states why the
  /// target cannot be.
  llvm::Error makeReproducible();
  /// What a layer uses and the second cache still holds when it is used again:
  /// in the next run of the network, or the next task of the layer.
  int64_t getNearBytes() const { return cacheBytes / 16; }
  /// The target whose vectors, registers and caches decide in which order
  /// floats are added, and by which formulas: this one, or one that is the same
  /// for all reproducible targets.
  const TargetDescription &getSumTarget() const;

  /// Whether arithmetic of \p kind, which is float or double, is instructions.
  bool hasArithmetic(ElemKind kind) const {
    return kind == ElemKind::Double ? hasDouble : hasFloat;
  }
  /// Elements of \p bytes bytes in a vector register, at least 1.
  unsigned getLanes(unsigned bytes) const {
    return std::max(1u, vectorBits / 8 / bytes);
  }
  /// Elements of \p kind in a vector register when they are computed with:
  /// small ones as 32 bits.
  unsigned getComputeLanes(ElemKind kind) const {
    return getLanes(std::max(unsigned(getElemSize(kind)), 4u));
  }
  /// The same of the vectors that weights are packed for; half precisions are
  /// packed for what they are computed in.
  unsigned getPackedLanes(unsigned bytes) const {
    return std::max(1u, packedBits / 8 / std::max(bytes, 4u));
  }
  /// The CPU, its features and the vector width, for code generation.
  void addFunctionAttributes(llvm::Function &function) const;
  /// Adds a function with these to \p module, which does not unwind.
  llvm::Function *createFunction(llvm::Module &module, llvm::FunctionType *type,
                                 llvm::GlobalValue::LinkageTypes linkage,
                                 const llvm::Twine &name) const;
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_CPU_TARGETDESCRIPTION_H

//===- Kernels.h - Helpers of interpreter kernels ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_INTERPRETER_KERNELS_H
#define GLOWISH_LIB_BACKENDS_INTERPRETER_KERNELS_H

#include "glowish/Base/ForEachIndex.h"
#include "glowish/Base/Tensor.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IR/MemoryPlan.h"
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace glowish::interpreter {

/// The three memory regions of a program, addressed through its plan. In a body
/// the parameters and results are elsewhere: they are bound to addresses.
class Memory {
public:
  Memory(const MemoryPlan &plan, const uint8_t *constants, uint8_t *mutables,
         uint8_t *activations, bool overwrites)
      : plan(plan), constants(const_cast<uint8_t *>(constants)),
        mutables(mutables), activations(activations), overwrites(overwrites) {}

  /// Whether rows that predicates leave out are overwritten.
  bool overwritesUnneeded() const { return overwrites; }

  /// Records that the run failed, with \p message unless it had failed before.
  void fail(std::string message) const {
    if (failure->empty())
      *failure = std::move(message);
  }
  /// Returns the message of the first failure; empty without one.
  llvm::StringRef getFailure() const { return *failure; }

  /// Keeps what inputs of \p function state: in the arena, an input is
  /// overwritten when no instruction reads it any more.
  void readSymbols(const IRFunction &function);
  int64_t getSymbol(const std::string &symbol) const {
    return symbols.at(symbol);
  }

  /// Binds \p buffer, a parameter or result of a body or a placeholder, to
  /// \p address.
  void bind(const Buffer *buffer, uint8_t *address) {
    bindings[buffer] = address;
  }

  /// Where the plan has \p buffer, which a loop keeps in the arena.
  uint8_t *getArenaAddress(const Buffer *buffer) const {
    return activations + plan.getOffset(buffer);
  }
  /// The address of element 0 of \p buffer, a view's own where it is one.
  uint8_t *getAddress(const Buffer *buffer) const;

private:
  const MemoryPlan &plan;
  llvm::DenseMap<const Buffer *, uint8_t *> bindings;
  std::map<std::string, int64_t> symbols;
  uint8_t *constants; // never written: the verifier refuses it
  uint8_t *mutables;
  uint8_t *activations;
  bool overwrites;
  /// Of the whole run, the bodies included.
  std::shared_ptr<std::string> failure = std::make_shared<std::string>();
};

/// Element kinds that kernels compute in: half precisions in float. Those of
/// low precision are only converted.
template <typename T> struct ComputeTypeOf {
  using type = T;
};
template <> struct ComputeTypeOf<Float16> {
  using type = float;
};
template <> struct ComputeTypeOf<BFloat16> {
  using type = float;
};
template <typename T>
  requires isLowPrecision<T>
struct ComputeTypeOf<T> {
  using type = typename T::Value;
};
template <typename T> using ComputeType = typename ComputeTypeOf<T>::type;

/// \p value combined into \p element: "max", "min", "mul" and "prod", else the
/// sum. A NaN in either stays; integers wrap.
template <typename C>
C combineElements(llvm::StringRef mode, C element, C value) {
  if (mode == "max")
    return value > element || value != value ? value : element;
  if (mode == "min")
    return value < element || value != value ? value : element;
  bool multiplies = mode == "mul" || mode == "prod";
  if constexpr (std::is_integral_v<C>)
    return multiplies ? C(uint64_t(element) * uint64_t(value))
                      : C(uint64_t(element) + uint64_t(value));
  else
    return multiplies ? element * value : element + value;
}

/// Calls \p fn with a zero of each float storage type.
template <typename Fn> void dispatchFloatKind(ElemKind kind, Fn &&fn) {
  dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<ComputeType<T>> &&
                  !isLowPrecision<T>)
      fn(zero);
    else
      llvm_unreachable("type rules refuse this kind");
  });
}

/// Calls \p fn with a zero of the 8-bit integer type of \p kind.
template <typename Fn> void dispatchByteKind(ElemKind kind, Fn &&fn) {
  if (kind == ElemKind::Int8)
    return fn(int8_t());
  assert(kind == ElemKind::UInt8 && "type rules refuse other kinds");
  fn(uint8_t());
}

/// Calls \p fn with a zero of each float and integer storage type.
template <typename Fn> void dispatchNumberKind(ElemKind kind, Fn &&fn) {
  dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool> && !isLowPrecision<T>)
      fn(zero);
    else
      llvm_unreachable("type rules refuse this kind");
  });
}

/// What dot products are summed in: integers in themselves (they wrap), floats
/// in double.
template <typename T>
using SumType = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

/// The zero point of channel \p i. \p zeros: none, one for all channels, or one
/// for each.
template <typename T> T getZeroPoint(llvm::ArrayRef<T> zeros, int64_t i) {
  return zeros.empty() ? T() : zeros[zeros.size() == 1 ? 0 : size_t(i)];
}

/// How many dot products are summed side by side: an addition need not wait for
/// the last one of another sum. Each sum has the order of the definition, and
/// so its rounding.
constexpr int64_t numLanes = 8;

/// A dense operand. \p T may be const.
template <typename T>
llvm::MutableArrayRef<T> getDense(const Memory &memory, const Buffer *buffer) {
  return {reinterpret_cast<T *>(memory.getAddress(buffer)),
          size_t(buffer->getType().getNumElements())};
}

/// A dense operand, empty where it is absent.
template <typename T>
llvm::ArrayRef<T> getOptional(const Memory &memory, const Buffer *buffer) {
  if (!buffer)
    return {};
  return getDense<T>(memory, buffer);
}

/// The elements of any operand, gathered row by row into a dense tensor.
Tensor gatherOperand(const Memory &memory, const Buffer *buffer);
/// The same for kernels that only read them: a dense operand is not copied.
Tensor readOperand(const Memory &memory, const Buffer *buffer);
/// The inverse: \p tensor has the operand's type.
void scatterOperand(const Memory &memory, const Buffer *buffer,
                    const Tensor &tensor);

/// How many indices of dimension \p dim of operand \p operand of \p instr this
/// run needs: all, or what a bound states (LoopBound).
int64_t countNeeded(const Memory &memory, const Instruction &instr,
                    unsigned operand, unsigned dim);

/// Evaluates \p program at every index. \p inputs: dense tensors of one shape.
/// Every step is rounded to its kind.
Tensor evaluateProgram(const ScalarProgram &program,
                       std::vector<Tensor> inputs);

/// Passes an anchor's dense \p result through its epilogue and stores it.
void storeThroughEpilogue(const Memory &memory, const Buffer *destination,
                          Tensor result, const ScalarProgram &epilogue,
                          llvm::ArrayRef<Buffer *> fused);
template <typename InstrT>
void storeThroughEpilogue(const Memory &memory, const InstrT &instr,
                          Tensor result) {
  storeThroughEpilogue(memory, instr.getResult(), std::move(result),
                       instr.getEpilogue(), instr.getFused());
}

/// The distance from element 0 to the one at \p index, in elements.
inline int64_t getOffset(DimsRef index, DimsRef strides) {
  int64_t offset = 0;
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    offset += i * stride;
  return offset;
}

} // namespace glowish::interpreter

#endif // GLOWISH_LIB_BACKENDS_INTERPRETER_KERNELS_H

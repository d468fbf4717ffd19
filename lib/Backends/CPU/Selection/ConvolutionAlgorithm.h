//===- ConvolutionAlgorithm.h - Algorithms for convolutions -----*- C++ -*-===//
//
// An algorithm is one object, which registers itself: it says with which
// parameters it can compute a convolution, how long that takes, how it packs
// the weights, and it emits the kernel. A CPUConvolution has the chosen
// candidate as an attribute. docs/adding-a-kernel.md shows how one is added.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONALGORITHM_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONALGORITHM_H

#include "Kernels/Convolution/Convolution.h"
#include "Selection/ConvolutionCandidate.h"
#include "Selection/FilterPacker.h"

namespace glowish {

/// What the choice of an algorithm depends on besides the target: a
/// convolution, or a matmul as one.
struct ConvolutionProblem {
  ConvolutionShape shape;
  ElemKind kind = ElemKind::Float;
  /// The strides of the input in elements: [N, H, W, C].
  Dims inputStrides;
  /// Whether 8-bit integers are multiplied, which get sums of int32.
  bool isOfBytes = false;
  /// Of bytes: whether the filter has values that int8 has not.
  bool hasWideFilter = false;
  /// The most images that a run may need, where some need fewer; else 0.
  int64_t mostImages = 0;
  /// Candidates for the same weights in other programs: those with their
  /// packings are ranked, too.
  llvm::ArrayRef<ConvolutionCandidate> ofOthers = {};
};

/// An algorithm. Each is a static object in the file that chooses when to use
/// it.
class ConvolutionAlgorithm {
public:
  using Parameters = llvm::ArrayRef<int64_t>;

  /// Registers the algorithm. \p form: the parameters, `HEIGHTxWIDTH BLOCK`.
  explicit ConvolutionAlgorithm(llvm::StringLiteral name,
                                llvm::StringLiteral form = "");
  ConvolutionAlgorithm(const ConvolutionAlgorithm &) = delete;
  virtual ~ConvolutionAlgorithm() = default;

  /// The name followed by the form: `direct PIXELSxVECTORS`.
  std::string getForm() const;

  /// Appends the candidates for \p problem with weights of its kind, none where
  /// the algorithm does not apply. They and their results don't depend on the
  /// number of threads. \p maxWinograd: the largest F(m) allowed; 0 for none.
  virtual void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t maxWinograd,
                std::vector<ConvolutionCandidate> &candidates) const = 0;

  /// What the bits of float results depend on besides the problem: candidates
  /// for a problem that have the same one compute alike. Empty: each output is
  /// one sum over the taps and channels, in their order.
  using SumOrder = std::vector<int64_t>;
  /// That of candidates with these parameters; none where the bits depend on
  /// the target, too.
  virtual std::optional<SumOrder> getSumOrder(Parameters) const {
    return std::nullopt;
  }
  /// Whether it is for problems of bytes, and for no others.
  virtual bool multipliesBytes() const { return false; }
  /// The input that it takes where that of a problem of bytes is of \p kind:
  /// its channels are contiguous, and each group has a multiple of so many.
  /// None: the problem's own.
  struct ByteInput {
    ElemKind kind;
    int64_t multiple;
  };
  virtual std::optional<ByteInput>
  getByteInput(Parameters, ElemKind /*kind*/, const TargetDescription &) const {
    return std::nullopt;
  }
  /// What it does with the zero point of a problem of bytes.
  enum class ZeroPointUse : uint8_t {
    /// Nothing. The bias has what it adds to the sums of the taps that lie in
    /// the image.
    None,
    /// It subtracts it from the input.
    Subtraction,
    /// The input outside of the image is the zero point. The bias has what it
    /// adds to the sums of all taps, for inputs that are made int8.
    Filling
  };
  virtual ZeroPointUse getZeroPointUse() const { return ZeroPointUse::None; }
  /// The multiply-adds that a load of the input serves, where vectors have \p
  /// lanes. None: the input is loaded about once, and copied or transformed.
  virtual std::optional<int64_t>
  getMultiplyAddsPerLoad(Parameters, int64_t /*lanes*/) const {
    return std::nullopt;
  }
  /// Returns the operations of a transformed problem; none where each output
  /// takes a multiplication and an addition for each tap in the image.
  virtual std::optional<double>
  countOperations(const ConvolutionShape &, Parameters,
                  const TargetDescription &) const {
    return std::nullopt;
  }
  /// The cycles for packing a weight at run time.
  virtual double getPackingCycles() const = 0;
  /// Whether it accepts unpacked weights that are rows of output channels, and
  /// takes a tenth more time with them.
  virtual bool takesPlainWeights() const { return false; }
  /// Whether it accepts a column-major left side of a matmul.
  virtual bool takesTransposedInput() const { return false; }
  /// Whether programs must request AMX tile registers from the system.
  virtual bool usesMatrixRegisters() const { return false; }
  /// The parameters that packed weights depend on besides the weights.
  virtual llvm::SmallVector<int64_t, 3> getPackingKey(Parameters) const {
    return {};
  }
  /// Returns the bytes of packed weights as a multiple of those of the weights,
  /// of kind \p filter, without padding.
  virtual double getPackedRatio(const ConvolutionShape &, Parameters,
                                ElemKind /*filter*/) const {
    return 1;
  }
  virtual PackedFilter pack(const FilterSource &source,
                            Parameters parameters) const = 0;
  /// Whether inputs of half precisions may be of float instead, with weights of
  /// the half precision.
  virtual bool takesFloatsForHalf() const { return false; }
  /// Whether \p packed may be the element kind of packed weights, for inputs
  /// of \p kind.
  virtual bool takesPackedKind(ElemKind packed, ElemKind kind) const {
    return packed == kind;
  }
  /// The element kind of the sums, for packed weights of \p packed.
  virtual ElemKind getSumKind(ElemKind input, ElemKind packed) const {
    return takesFloatsForHalf() ? packed : input;
  }
  /// Whether packed weights have scales.
  virtual bool hasScales() const { return false; }

  virtual void emit(KernelBuilder &b, const ConvolutionShape &shape,
                    Parameters parameters,
                    ConvolutionOperands operands) const = 0;

private:
  friend struct ConvolutionCandidate;
  llvm::StringLiteral name, form;
};

/// Returns all algorithms, by their names. Candidates with equal estimates stay
/// in this order.
llvm::ArrayRef<const ConvolutionAlgorithm *> getConvolutionAlgorithms();

/// The candidates of all algorithms, the fastest first; at least one, unless
/// the problem is one of bytes. Of reproducible targets only those that add in
/// the same order as the fastest of the target for sums. Where a run may need
/// fewer images, the fastest is the one that is slower than the fastest for
/// one, some or all of them by the least factor, which is in the cycles.
std::vector<ConvolutionCandidate>
rankCandidates(const ConvolutionProblem &problem,
               const TargetDescription &target, int64_t maxWinograd);

/// A candidate, and what it was chosen from.
struct ConvolutionChoice {
  ConvolutionCandidate candidate;
  /// The other candidates, the fastest first.
  std::vector<ConvolutionCandidate> others = {};
  /// Why it is not the fastest by the estimates: "as was measured"; else empty.
  llvm::StringRef reason = {};
};

/// The fastest candidate for weights that are packed at run time and that
/// \p numUses convolutions share; cycles are those with packing. Null if plain
/// weights are accepted and faster. \p isPlain: the weights are rows of output
/// channels.
std::optional<ConvolutionChoice>
chooseForRuntimeWeights(const ConvolutionProblem &problem,
                        const TargetDescription &target, int64_t numUses,
                        bool isPlain);

/// Chooses one of the candidates for a problem and constant weights; none where
/// there is none, which problems of bytes alone may have.
using ConvolutionChooser = llvm::function_ref<std::optional<ConvolutionChoice>(
    const ConvolutionProblem &, const Buffer &)>;

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONALGORITHM_H

//===- ConvolutionAlgorithm.h - Algorithms for convolutions -----*- C++ -*-===//
//
// An algorithm is one object, and getConvolutionAlgorithms() is the only list:
// it says with which parameters it can compute a convolution, how long that
// takes, how it packs the weights, and it emits the kernel. A CPUConvolution
// has the chosen candidate as an attribute.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONALGORITHM_H
#define GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONALGORITHM_H

#include "Kernels/Convolution/Convolution.h"
#include "Selection/FilterPacker.h"

namespace glowish {

/// What the choice of an algorithm depends on beside the target: a convolution,
/// or a matrix product as one.
struct ConvolutionProblem {
  ConvolutionShape shape;
  ElemKind kind = ElemKind::Float;
  /// Of the input, in elements: [N, H, W, C].
  Dims inputStrides;
};

class ConvolutionAlgorithm;

/// An algorithm with its parameters.
struct ConvolutionCandidate {
  const ConvolutionAlgorithm *algorithm = nullptr;
  /// What they are is said by the algorithm's form.
  llvm::SmallVector<int64_t, 3> parameters;
  /// The estimated time on one core; 0 where there is no estimate.
  double cycles = 0;

  /// As attributes and tuning files have it: `direct 14x2`.
  std::string str() const;
  /// Null if \p text is none that str() writes, or wrote.
  static std::optional<ConvolutionCandidate> parse(llvm::StringRef text);
  /// Whether the same is computed, whatever the estimates.
  bool isSameAs(const ConvolutionCandidate &other) const {
    return algorithm == other.algorithm && parameters == other.parameters;
  }
};

class ConvolutionAlgorithm {
public:
  using Parameters = llvm::ArrayRef<int64_t>;

  /// \p form: the parameters, `HEIGHTxWIDTH BLOCK`. \p oldName: read, too.
  explicit ConvolutionAlgorithm(llvm::StringLiteral name,
                                llvm::StringLiteral form = "",
                                llvm::StringLiteral oldName = "")
      : name(name), form(form), oldName(oldName) {}
  virtual ~ConvolutionAlgorithm() = default;

  /// The name with the form behind it: `direct PIXELSxVECTORS`.
  std::string getForm() const;

  /// Appends the candidates for \p problem with weights of its kind, none where
  /// the algorithm does not apply. They and their results don't depend on the
  /// number of threads. \p maxWinograd: the largest F(m) allowed; 0 for none.
  virtual void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t maxWinograd,
                std::vector<ConvolutionCandidate> &candidates) const = 0;

  /// Cycles for packing a weight while the program runs.
  virtual double getPackingCycles() const = 0;
  /// Whether it computes as well, but for a tenth more time, with weights that
  /// lie as rows of output channels.
  virtual bool takesPlainWeights() const { return false; }
  /// Whether it takes a left side of a product whose columns are contiguous.
  virtual bool takesTransposedInput() const { return false; }
  /// Whether programs must ask the system for matrix registers.
  virtual bool usesMatrixRegisters() const { return false; }
  /// What packed weights depend on, beside the weights.
  virtual llvm::SmallVector<int64_t, 3> getPackingKey(Parameters) const {
    return {};
  }
  virtual PackedFilter pack(const FilterSource &source,
                            Parameters parameters) const = 0;
  /// The element kind of packed weights.
  virtual ElemKind getPackedKind(ElemKind kind) const { return kind; }
  /// Whether packed weights have scales.
  virtual bool hasScales() const { return false; }

  virtual void emit(KernelBuilder &b, const ConvolutionShape &shape,
                    Parameters parameters,
                    ConvolutionOperands operands) const = 0;

private:
  friend struct ConvolutionCandidate;
  llvm::StringLiteral name, form, oldName;
};

/// Sums of products in registers: `direct PIXELSxVECTORS`, its tile.
const ConvolutionAlgorithm &getDirectAlgorithm();
/// One filter a channel: `depthwise`.
const ConvolutionAlgorithm &getDepthwiseAlgorithm();
/// Winograd's F(HEIGHT x WIDTH) with filters packed in blocks of BLOCK output
/// channels: `winograd HEIGHTxWIDTH BLOCK`.
const ConvolutionAlgorithm &getWinogradAlgorithm();
/// Floats as int8 slices on matrix registers: `int8-slices`.
const ConvolutionAlgorithm &getSlicedAlgorithm();

/// All of them. Candidates with equal estimates stay in this order.
llvm::ArrayRef<const ConvolutionAlgorithm *> getConvolutionAlgorithms();

/// The candidates of all algorithms, the fastest first; at least one.
std::vector<ConvolutionCandidate>
rankCandidates(const ConvolutionProblem &problem,
               const TargetDescription &target, int64_t maxWinograd);

/// The fastest candidate for weights that are packed when the program runs,
/// which \p numUses convolutions share. Null where plain weights, if they are
/// accepted, are faster. \p isPlain: the weights lie as rows of output
/// channels.
std::optional<ConvolutionCandidate>
chooseForRuntimeWeights(const ConvolutionProblem &problem,
                        const TargetDescription &target, int64_t numUses,
                        bool isPlain);

/// Takes one of the candidates for a problem and constant weights.
using ConvolutionChooser = llvm::function_ref<ConvolutionCandidate(
    const ConvolutionProblem &, const Buffer &)>;

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_SELECTION_CONVOLUTIONALGORITHM_H

//===- Quantize.h - From a float model to a quantized one -------*- C++ -*-===//
//
// Rewrites a graph of floats so that its convolutions and matmuls compute with
// integers of 8 bits, in the composed form that quantized models are imported
// in (docs/quantization.md). The ranges of values come from a profile.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPTIMIZER_QUANTIZE_H
#define GLOWISH_OPTIMIZER_QUANTIZE_H

#include "glowish/Graph/Nodes.h"
#include "glowish/Optimizer/RangeProfile.h"
#include <set>

namespace glowish {

/// How a range becomes a scale and a zero point.
enum class QuantizationSchema {
  /// All uint8 numbers are used.
  Asymmetric,
  /// int8, and the zero point is 0.
  Symmetric,
  /// The same, but uint8 where no value is negative.
  SymmetricWithUInt8,
  /// The zero point is 0, and scales are powers of two.
  SymmetricWithPower2Scale
};

/// How a range is narrowed: what is outside is cut, and the rest more exact.
enum class QuantizationCalibration {
  None,
  /// The least Kullback-Leibler divergence of the quantized values.
  KL,
  /// Without the outermost 0.01% of the values.
  Percentile,
  /// The least mean square error.
  MeanSquare
};

/// The options of quantize().
struct QuantizationConfig {
  QuantizationSchema schema = QuantizationSchema::Asymmetric;
  QuantizationCalibration calibration = QuantizationCalibration::None;
  /// Weights are calibrated, too.
  bool calibratesConstants = false;
  /// A scale for each channel of convolutions, for each column of matmuls;
  /// else one for a tensor.
  bool isChannelwise = true, isRowwise = true;
  /// What depthwise convolutions alone read is quantized with channels of equal
  /// ranges, and the weights are multiplied by what the channels are divided
  /// by.
  bool equalizesChannels = false;
  /// Biases take back what rounding the weights adds to the mean of the sums,
  /// where the profile has the means of the channels.
  bool correctsBiases = false;
  /// What stays float.
  std::set<NodeKind> keptKinds;
  /// Multiplications and means stay float, too, where none of their operands
  /// comes from a quantized node. Else they are quantized in any case, as to
  /// measure what each of them alone changes.
  bool needsQuantizedOperand = true;
  /// A node that could be quantized and is not is an error, unless it only
  /// moves or selects elements.
  bool assertsAll = false;
};

/// How weights alone are quantized: what they are multiplied with stays float.
struct WeightQuantization {
  /// int8 and int4 are symmetric around 0; uint8 and uint4 have zero points.
  ElemKind kind = ElemKind::Int8;
  /// The weights of a column, or of a row of a table, that share a scale; 0 for
  /// all of them.
  int64_t block = 0;
  /// Scales and zero points are those with the least squared error that a
  /// search finds; else they are those of the range.
  bool searches = true;

  /// The rows of a block of columns of \p rows.
  int64_t getBlock(int64_t rows) const {
    return block ? std::min(block, rows) : rows;
  }
};

/// An integer q of \p kind, int8 or uint8, stands for (q - zeroPoint) * scale.
struct QuantizationParams {
  ElemKind kind = ElemKind::Int8;
  double scale = 1;
  int zeroPoint = 0;

  int getLeast() const { return kind == ElemKind::Int8 ? -128 : 0; }
  int getGreatest() const { return kind == ElemKind::Int8 ? 127 : 255; }

  bool operator==(const QuantizationParams &other) const = default;
};

/// Two numbers, the range of what is quantized.
struct ValueRange {
  double min = 0, max = 0;
};

/// The scale and zero point for \p range, in which 0 is one of the numbers.
QuantizationParams chooseQuantization(ValueRange range,
                                      QuantizationSchema schema);

/// The range of \p histogram, which is not empty, narrowed as \p calibration
/// says for values that are quantized by \p schema.
ValueRange calibrate(const Histogram &histogram, QuantizationSchema schema,
                     QuantizationCalibration calibration);

/// Whether each output channel of \p node has one input channel.
bool isDepthwise(const ConvolutionNode &node);

/// What \p node, a convolution or matmul with constant weights, multiplies with
/// them; null for other nodes.
NodeValue getWeightedInput(const Node &node);

/// The kinds of nodes that quantize() rewrites.
llvm::ArrayRef<NodeKind> getQuantizableKinds();

/// A node that quantize() rewrites.
struct QuantizedNode {
  std::string name;
  NodeKind kind;
  /// Of floats by weights, or by floats; 0 for nodes that are no matmuls.
  uint64_t numMultiplications = 0;
};

/// The nodes of \p function that quantize() would rewrite, in their order.
std::vector<QuantizedNode> listQuantizedNodes(Function &function,
                                              const RangeProfile &profile,
                                              const QuantizationConfig &config);

/// Quantizes \p function, which has gone through getQuantizationPipeline().
/// Values that \p profile does not have stay float. An error says that the
/// profile is of another model, names one of its float nodes that is not there,
/// or a node that config.assertsAll is about.
llvm::Error quantize(Function &function, const RangeProfile &profile,
                     const QuantizationConfig &config);

/// Quantizes the matmuls of \p function with constant weights, without a
/// profile: what they read by its range in each run. Of \p config, the schema
/// and the scales of weights and the kept kinds are used.
llvm::Error quantizeDynamically(Function &function,
                                const QuantizationConfig &config);

/// A node whose weights alone have been quantized.
struct NodeOfQuantizedWeights {
  std::string name;
  NodeKind kind;
  /// Of the integers.
  Type type;
  /// The weights that share a scale.
  int64_t block = 0;
  /// The root of the mean squared error of the weights, as a share of that of
  /// the weights.
  double error = 0;
};

/// Quantizes the constant weights of the matmuls of \p function, which has gone
/// through getQuantizationPipeline(), but of \p keptKinds. Needs no profile.
/// Returns the matmuls that are changed.
std::vector<NodeOfQuantizedWeights>
quantizeWeightsAlone(Function &function, const WeightQuantization &quantization,
                     const std::set<NodeKind> &keptKinds);

/// Quantizes the constant tables whose rows the Gathers of \p function choose,
/// in blocks of a row. The chosen rows alone are converted to floats, in each
/// run. In memory two integers of 4 bits have a byte. The same form of the
/// function, and the same result.
std::vector<NodeOfQuantizedWeights>
quantizeEmbeddings(Function &function, const WeightQuantization &quantization,
                   const std::set<NodeKind> &keptKinds);

} // namespace glowish

#endif // GLOWISH_OPTIMIZER_QUANTIZE_H

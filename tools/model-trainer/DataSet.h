//===- DataSet.h - Samples to learn from ------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_DATASET_H
#define GLOWISH_TOOLS_MODEL_TRAINER_DATASET_H

#include "glowish/Base/Tensor.h"
#include "glowish/Importer/ParsedModel.h"

namespace glowish {

/// What an input or the label is for each sample: its first dimension.
struct SampleArray {
  /// Of the input, or the label.
  std::string name;
  /// For messages.
  std::string origin;
  Tensor values;
  /// Elements become (x - mean) * scale. There is one mean, or one for each
  /// index of dimension `channelAxis` of a sample.
  std::vector<double> means = {0};
  unsigned channelAxis = 0;
  double scale = 1;

  DimsRef getSampleShape() const {
    return values.getType().getShape().drop_front();
  }
  /// Of one sample.
  int64_t getSampleSize() const { return countElements(getSampleShape()); }
};

struct DataSet {
  /// In the order of the model's inputs.
  std::vector<SampleArray> inputs;
  SampleArray label;
  /// Names of the classes, by their indices; empty where the data have none.
  std::vector<std::string> classes;

  int64_t getNumSamples() const {
    return label.values.getType().getShape().front();
  }
};

/// How images become elements of an input.
struct ImageOptions {
  /// A pixel's channel p, 0 ... 255, becomes (p - mean) * scale. One mean, or
  /// one for each channel.
  std::vector<double> means = {0};
  double scale = 1.0 / 255;
};

/// What a folder of data is read for.
struct DataRequest {
  /// The model's inputs, with the batch as the first dimension.
  std::vector<ParsedModel::StatedInput> inputs;
  std::string label = "label";
  ImageOptions images;
};

/// Whether the elements of \p array can become those of \p type, the type of a
/// batch of \p batchSize samples: they have as many elements and, with \p
/// sameShape, the same shape. The error names both.
llvm::Error checkSamples(const SampleArray &array, const Type &type,
                         int64_t batchSize, bool sameShape);

/// Copies samples \p rows to the first ones of \p batch.
void copySamples(const SampleArray &array, llvm::ArrayRef<int64_t> rows,
                 Tensor &batch);

/// The order in which epoch number \p epoch goes through \p count samples:
/// all of them once, drawn with \p seed.
std::vector<int64_t> shuffleSamples(int64_t count, uint64_t seed,
                                    uint64_t epoch);

/// Copies the samples \p rows of \p data to a set of their own.
DataSet selectSamples(const DataSet &data, llvm::ArrayRef<int64_t> rows);

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_DATASET_H

//===- OnnxMutator.cpp - Mutations of ONNX models for libFuzzer -----------===//

#include "parsers/OnnxMutations.h"
#include "robustness/Mutations.h"
#include <cstring>
#include <google/protobuf/stubs/logging.h>

using namespace glowish;
using namespace glowish::parsers;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Writes \p model to \p data if it is not too large; returns its size, or 0.
static size_t put(const onnx::ModelProto &model, uint8_t *data,
                  size_t maxSize) {
  // Names that are mutated need not be UTF-8, which protobuf reports.
  google::protobuf::LogSilencer silencer;
  size_t size = model.ByteSizeLong();
  if (size > maxSize)
    return 0;
  model.SerializePartialToArray(data, int(size));
  return size;
}

static bool parse(onnx::ModelProto &model, const uint8_t *data, size_t size) {
  google::protobuf::LogSilencer silencer;
  return model.ParsePartialFromArray(data, int(size));
}

/// One in four changes the bytes, with libFuzzer's dictionary and what it has
/// learned; others change the model, by its meaning or any field of it.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Random random(seed);
  onnx::ModelProto model;
  if (random.below(4) == 0 || !parse(model, data, size))
    return LLVMFuzzerMutate(data, size, maxSize);
  for (uint64_t left = 1 + random.below(3); left > 0; --left)
    if (random.below(3) || !model.ByteSizeLong())
      mutateModel(model, random);
    else
      robustness::mutateMessage(model, random);
  size_t mutated = put(model, data, maxSize);
  return mutated ? mutated : LLVMFuzzerMutate(data, size, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
                                            const uint8_t *data2, size_t size2,
                                            uint8_t *out, size_t maxSize,
                                            unsigned seed) {
  Random random(seed);
  onnx::ModelProto model, other;
  if (!parse(model, data1, size1) || !parse(other, data2, size2))
    return 0;
  crossModels(model, other, random);
  return put(model, out, maxSize);
}

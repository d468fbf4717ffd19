//===- Metrics.cpp - Metrics of training ----------------------------------===//

#include "model-trainer/Metrics.h"

using namespace glowish;

unsigned glowish::getClassAxis(DimsRef prediction, DimsRef label) {
  return label == prediction.drop_back() ? prediction.size() - 1 : 1;
}

void glowish::countCorrect(const Tensor &prediction, const Tensor &label,
                           int64_t count, Metrics &metrics) {
  DimsRef shape = prediction.getType().getShape();
  unsigned axis = getClassAxis(shape, label.getType().getShape());
  int64_t numClasses = shape[axis];
  int64_t inner = countElements(shape.drop_front(axis + 1));
  for (int64_t i = 0; i < count; ++i) {
    int64_t start = i / inner * numClasses * inner + i % inner, answer = 0;
    for (int64_t c = 1; c < numClasses; ++c)
      if (prediction.getAsDouble(start + c * inner) >
          prediction.getAsDouble(start + answer * inner))
        answer = c;
    metrics.numCorrect += answer == label.getAsInt(i);
  }
  metrics.numLabels += count;
}

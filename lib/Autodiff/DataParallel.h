//===- DataParallel.h - Training on several processes -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_AUTODIFF_DATAPARALLEL_H
#define GLOWISH_LIB_AUTODIFF_DATAPARALLEL_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/RandomValues.h"

namespace glowish {

/// The mean of \p value over all processes; \p value itself where there is one
/// process. Half precisions are averaged in float.
NodeValue average(NodeBuilder &b, NodeValue value,
                  const TrainingProcesses &processes);

/// Replaces each of \p gradients by its mean over all processes. Those that the
/// backward pass makes first, of the last layers, are averaged first, in
/// buckets of processes.bucketBytes; a larger one has a bucket of its own.
void averageGradients(NodeBuilder &b, std::vector<NodeValue> &gradients,
                      const TrainingProcesses &processes);

/// The part of this process in the tensor that one process would have in the
/// place of \p value: that of its samples, where the first dimension of the
/// model's inputs has gone. None where there is one process, or for a scalar.
std::optional<RandomValues::Part> findPart(NodeValue value,
                                           const TrainingProcesses &processes);

} // namespace glowish

#endif // GLOWISH_LIB_AUTODIFF_DATAPARALLEL_H

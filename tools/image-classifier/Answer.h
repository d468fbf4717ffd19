//===- Answer.h - Predicted classes of a sample -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_IMAGE_CLASSIFIER_ANSWER_H
#define GLOWISH_TOOLS_IMAGE_CLASSIFIER_ANSWER_H

#include "glowish/Base/Tensor.h"
#include <string>

namespace glowish {

/// The classes that a model gives the largest numbers to.
struct Answer {
  struct Class {
    /// Of the output.
    int64_t index;
    double score;
  };
  /// The largest first; of equal ones that with the lower index.
  std::vector<Class> best;
  /// Whether the numbers of all classes are such: not negative, of sum 1.
  bool areProbabilities = false;
};

/// How answers are made and shown.
struct AnswerOptions {
  size_t topK = 1;
  /// Take the softmax of the outputs first.
  bool softmax = false;
  /// The label of class i is i - labelOffset.
  int64_t labelOffset = 0;
  /// Names of the classes from labelOffset on; empty if there are none.
  std::vector<std::string> labels;
};

/// The answer in elements \p first ... first + \p count - 1 of \p output. NaN
/// is less than every number.
Answer makeAnswer(const Tensor &output, int64_t first, int64_t count,
                  const AnswerOptions &options);

/// The bytes of \p answer, for another process, and the answer again.
std::string writeAnswer(const Answer &answer);
Answer readAnswer(llvm::StringRef bytes);

/// Whether \p label is among the best classes.
bool hasLabel(const Answer &answer, int64_t label,
              const AnswerOptions &options);

/// Prints ` File: PATH`, and for each of the best classes a tab and
/// `Label-K1: 285 (probability: 0.7182)`, the name of the class before the
/// bracket where there is one; without the end of the line.
void printAnswer(llvm::raw_ostream &os, llvm::StringRef path,
                 const Answer &answer, const AnswerOptions &options);

} // namespace glowish

#endif // GLOWISH_TOOLS_IMAGE_CLASSIFIER_ANSWER_H

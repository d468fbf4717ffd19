//===- Options.h - The command line of image-classifier ---------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_IMAGE_CLASSIFIER_OPTIONS_H
#define GLOWISH_TOOLS_IMAGE_CLASSIFIER_OPTIONS_H

#include "image-classifier/Answer.h"
#include "image-classifier/Sample.h"
#include "llvm/Support/CommandLine.h"

namespace glowish {

extern llvm::cl::OptionCategory imageCategory;
extern llvm::cl::OptionCategory answerCategory;

/// -image-layout.
enum class InputLayout { Found, NonImage, NCHW, NHWC };

struct ClassifierOptions {
  InputLayout layout = InputLayout::Found;
  SampleOptions samples;
  AnswerOptions answers;
  /// In the order in which they are classified.
  std::vector<std::string> files;
  /// Names of files come from stdin, one a line.
  bool isStream = false;
  /// The label of each file; empty where none are expected.
  std::vector<int64_t> expected;
  /// Empty: that of the model.
  std::optional<int64_t> batchSize;
  /// Empty: the only one.
  std::string output;
};

/// An error names the option, what it was given and what it takes.
llvm::Expected<ClassifierOptions> getClassifierOptions();

} // namespace glowish

#endif // GLOWISH_TOOLS_IMAGE_CLASSIFIER_OPTIONS_H

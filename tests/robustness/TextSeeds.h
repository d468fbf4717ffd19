//===- TextSeeds.h - Small text forms to mutate -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_TEXTSEEDS_H
#define GLOWISH_TESTS_ROBUSTNESS_TEXTSEEDS_H

#include "llvm/Support/MemoryBuffer.h"
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace glowish::robustness {

/// A text form with its large constants.
struct TextSeed {
  std::string name, text, weights;

  std::shared_ptr<llvm::MemoryBuffer> getSideFile() const {
    return llvm::MemoryBuffer::getMemBufferCopy(weights);
  }
};

enum class TextForm { Graph, LoweredGraph, IR };

/// The models of makeSeeds() that can be imported, in each of \p forms.
std::vector<TextSeed> makeTextSeeds(std::initializer_list<TextForm> forms);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_TEXTSEEDS_H

//===- Outcome.cpp - What may become of malformed input -------------------===//

#include "Outcome.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;
using namespace glowish::robustness;

size_t glowish::robustness::getAllocationLimit(size_t size) {
  // A large tensor has a huge page more than its elements, to be aligned to
  // one.
  constexpr size_t hugePage = 2 << 20;
  return 64 * size + (size_t(64) << 20) + hugePage;
}

size_t glowish::robustness::getAllocationLimit(size_t size,
                                               const Module &module) {
  int64_t largest = 0;
  auto see = [&](const Node &node) {
    for (unsigned i = 0; i < node.getNumResults(); ++i)
      largest = std::max(largest, node.getType(i).getSizeInBytes());
  };
  for (const auto &function : module.getFunctions())
    for (const Node &node : function->getNodes())
      see(node);
  for (const Node &node : module.getConstants())
    see(node);
  // Packed forms of weights are a few times as large.
  return std::max(getAllocationLimit(size), size_t(largest) * 8);
}

/// Whether \p message is one that a user can act on: one that says something,
/// in lines of text, and is no "internal" error, unless that word is of
/// \p input.
static bool isGoodMessage(llvm::StringRef message, llvm::StringRef input) {
  constexpr llvm::StringLiteral word = "internal";
  return !message.empty() && message.size() < 20000 &&
         (!message.contains_insensitive(word) ||
          input.contains_insensitive(word)) &&
         llvm::all_of(
             message, [](char c) { return c == '\n' || uint8_t(c) >= 32; });
}

int glowish::robustness::judge(llvm::Error error, llvm::StringRef input) {
  if (!error)
    return Accepted;
  std::string message = llvm::toString(std::move(error));
  if (isGoodMessage(message, input))
    return Refused;
  llvm::errs() << "not a good message: " << message << "\n";
  return BadMessage;
}

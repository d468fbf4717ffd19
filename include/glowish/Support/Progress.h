//===- Progress.h - A line that says what is going on ---------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_PROGRESS_H
#define GLOWISH_SUPPORT_PROGRESS_H

#include "llvm/ADT/Twine.h"

namespace glowish {

/// One line on stderr, rewritten in place and cleared at the end; nothing at
/// all where stderr is no terminal.
class Progress {
public:
  Progress();
  ~Progress();
  void show(const llvm::Twine &text);

private:
  bool enabled;
  bool shown = false;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_PROGRESS_H

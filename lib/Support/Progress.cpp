//===- Progress.cpp - A line that says what is going on -------------------===//

#include "glowish/Support/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;

Progress::Progress()
    : enabled(llvm::sys::Process::StandardErrIsDisplayed()) {}

Progress::~Progress() {
  if (shown)
    llvm::errs() << "\r\x1b[K";
}

void Progress::show(const llvm::Twine &text) {
  if (!enabled)
    return;
  llvm::errs() << "\r\x1b[K" << text << " ...";
  llvm::errs().flush();
  shown = true;
}

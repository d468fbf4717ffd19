//===- Progress.cpp - Progress line on the terminal -----------------------===//

#include "glowish/Support/Progress.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;
using llvm::sys::Process;

static constexpr auto drawInterval = std::chrono::milliseconds(100);
static constexpr llvm::StringLiteral clearLine = "\r\x1b[K";

Progress *Progress::shown = nullptr;

static bool canRewriteLines() {
  return Process::StandardErrIsDisplayed() &&
         Process::GetEnv("TERM").value_or("dumb") != "dumb";
}

Progress::Progress(llvm::StringRef label, uint64_t total)
    : enabled(canRewriteLines()), label(label.str()), total(total) {}

void Progress::draw(llvm::StringRef text) {
  // A line that wraps could not be cleared completely.
  unsigned columns = Process::StandardErrColumns();
  if (columns > 1)
    text = text.take_front(columns - 1);
  llvm::errs() << (clearLine + text).str();
  llvm::errs().clear_error();
  shown = this;
  nextDraw = Clock::now() + drawInterval;
}

void Progress::show(const llvm::Twine &text) {
  if (!enabled)
    return;
  llvm::SmallString<80> line;
  draw((text + " ...").toStringRef(line));
}

void Progress::step(uint64_t count) {
  done += count;
  if (!enabled || Clock::now() < nextDraw)
    return;
  if (total)
    draw(llvm::formatv("{0} {1}/{2} ({3} %)", label, done, total,
                       uint64_t(100.0 * double(done) / double(total)))
             .str());
  else
    draw(llvm::formatv("{0} {1}", label, done).str());
}

void Progress::clear() {
  if (shown != this)
    return;
  llvm::errs() << clearLine;
  llvm::errs().clear_error();
  shown = nullptr;
}

void Progress::clearShown() {
  if (shown)
    shown->clear();
}

//===- Task.cpp - Work that can be watched and cancelled ------------------===//

#include "glowish/Support/Task.h"
#include "glowish/Support/Error.h"
#include <algorithm>

using namespace glowish;

static thread_local Task *current = nullptr;

TaskScope::TaskScope(Task *task) : outer(current) { current = task; }

TaskScope::~TaskScope() { current = outer; }

bool glowish::hasTask() { return current; }

bool glowish::isCancelled() { return current && current->isCancelled(); }

llvm::Error glowish::checkCancelled() {
  return isCancelled() ? makeError("cancelled") : llvm::Error::success();
}

void glowish::reportProgress(llvm::StringRef step, double done) {
  if (!current || !current->progress)
    return;
  current->reported = std::max(current->reported, std::min(done, 1.0));
  current->progress(step, current->reported);
}

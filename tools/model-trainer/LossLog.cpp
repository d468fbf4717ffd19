//===- LossLog.cpp - The loss of every step -------------------------------===//

#include "model-trainer/LossLog.h"
#include "llvm/Support/Format.h"

using namespace glowish;

llvm::Error LossLog::open(llvm::StringRef path) {
  if (path.empty())
    return llvm::Error::success();
  llvm::Expected<llvm::raw_pwrite_stream &> added = files.add(path);
  if (!added)
    return added.takeError();
  stream = &*added;
  *stream << "step,epoch,loss\n";
  return llvm::Error::success();
}

void LossLog::add(uint64_t step, uint64_t epoch, double loss) {
  if (stream)
    *stream << step << ',' << epoch << ',' << llvm::format("%.9g", loss)
            << '\n';
}

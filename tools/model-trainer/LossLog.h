//===- LossLog.h - The loss of every step -----------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_MODEL_TRAINER_LOSSLOG_H
#define GLOWISH_TOOLS_MODEL_TRAINER_LOSSLOG_H

#include "glowish/Support/File.h"

namespace glowish {

/// A table with a line "STEP,EPOCH,LOSS" for every step, steps and epochs
/// counted from 1, losses with nine digits.
class LossLog {
public:
  /// Nothing is written where \p path is empty.
  llvm::Error open(llvm::StringRef path);
  void add(uint64_t step, uint64_t epoch, double loss);
  /// Gives the file its name.
  llvm::Error commit() { return files.commit(); }

private:
  OutputFiles files;
  llvm::raw_pwrite_stream *stream = nullptr;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_MODEL_TRAINER_LOSSLOG_H

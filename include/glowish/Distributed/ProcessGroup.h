//===- ProcessGroup.h - Processes that work together ------------*- C++ -*-===//

#ifndef GLOWISH_DISTRIBUTED_PROCESSGROUP_H
#define GLOWISH_DISTRIBUTED_PROCESSGROUP_H

#include "glowish/Base/ElemKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace glowish {

struct Transport;

/// What reductions have taken so far, in one process.
struct ReductionStatistics {
  uint64_t count = 0, bytes = 0;
  /// While the program waited for one.
  double waitSeconds = 0;
  /// While at least one was under way, also while the program computed.
  double busySeconds = 0;
};

/// The error that all processes of a group return: one of them reports it.
class AgreedError : public llvm::ErrorInfo<AgreedError> {
public:
  static char ID;
  explicit AgreedError(std::string message) : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

/// The processes that one launcher (mpirun) has started with this one. All of
/// them call the same functions in the same order; one that ends without
/// leaving ends them all.
class ProcessGroup {
public:
  /// The group of this process; null where no launcher has started it, and
  /// where the launcher has started no other. The library libglowish-mpi.so,
  /// which is loaded for this, is beside libglowish; GLOWISH_MPI names another
  /// file.
  static llvm::Expected<std::unique_ptr<ProcessGroup>> join();
  /// The group that join() has returned, while there is one; else null.
  static ProcessGroup *getCurrent();
  /// Waits for the others to leave as well.
  ~ProcessGroup();

  unsigned getRank() const { return rank; }
  unsigned getSize() const { return size; }
  bool isFirst() const { return rank == 0; }

  /// Makes \p bytes what they are in the first process.
  void broadcast(llvm::MutableArrayRef<uint8_t> bytes);
  /// The same of a size that only the first process knows.
  void broadcast(std::string &bytes);
  /// Returns when all processes have called it.
  void wait() { sum(0); }
  /// What all processes have passed, in the order of their ranks; only in the
  /// first one, else nothing.
  std::vector<std::string> gather(llvm::StringRef bytes);
  /// The sum of \p value over all processes, in all of them.
  int64_t sum(int64_t value);

  /// Success if all processes pass success; else an AgreedError with the
  /// message of the first process that does not, and its rank unless all have
  /// the same.
  llvm::Error agree(llvm::Error error);
  /// An AgreedError that names a process of another build than process 0's: it
  /// may reduce other things in another order.
  llvm::Error checkBuilds();
  /// An AgreedError that names the first process whose \p bytes are not those
  /// of process 0, of which \p what says what they describe.
  llvm::Error checkEqual(llvm::StringRef bytes, llvm::StringRef what);

  /// Ends all processes, after a line with this one's rank and \p message.
  [[noreturn]] void abort(llvm::StringRef message);

  /// Begins to replace the \p count elements at \p data, of the kind float or
  /// double, by their means over the group: sums in an order that depends on
  /// sizes alone. What a process has begun, it finishes.
  void startAverage(void *data, int64_t count, ElemKind kind);
  void finishAverage(void *data);

  ReductionStatistics getStatistics() const;

private:
  explicit ProcessGroup(const Transport &transport) : transport(transport) {}

  const Transport &transport;
  unsigned rank = 0, size = 1;
  /// What is being averaged.
  llvm::DenseMap<void *, void *> requests;
  ReductionStatistics statistics;
};

} // namespace glowish

#endif // GLOWISH_DISTRIBUTED_PROCESSGROUP_H

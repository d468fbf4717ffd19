//===- Transport.h - What libglowish-mpi does -------------------*- C++ -*-===//
//
// Plain functions, so that the library with MPI needs nothing of libglowish.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_DISTRIBUTED_TRANSPORT_H
#define GLOWISH_LIB_DISTRIBUTED_TRANSPORT_H

#include <cstdint>

namespace glowish {

/// All functions but the first two are called by one thread, in the same order
/// in all processes.
struct Transport {
  /// Begins; returns why it cannot, or null.
  const char *(*join)(unsigned *rank, unsigned *size);
  /// Ends all processes; may be called by any one.
  void (*abort)(int exitCode);
  /// Waits for all processes and ends.
  void (*leave)();
  /// From process 0.
  void (*broadcast)(void *data, uint64_t numBytes);
  /// \p all gets \p numBytes of each process, in all processes.
  void (*allGather)(const void *data, uint64_t numBytes, void *all);
  /// \p all gets sizes[r] bytes of each process r, in process 0; elsewhere it
  /// is null.
  void (*gather)(const void *data, const uint64_t *sizes, void *all);
  /// Begins to average \p count floats or doubles in place.
  void *(*startAverage)(void *data, uint64_t count, bool isDouble);
  /// Returns when \p request, what startAverage has returned, is done.
  void (*finishAverage)(void *request);
  /// How long at least one average has been under way, in all.
  double (*getBusySeconds)();
};

using TransportVersionFunction = const char *();
using TransportFunction = const Transport *();
inline constexpr char transportVersionSymbol[] = "glowish_transport_version",
                      transportSymbol[] = "glowish_transport";
/// Changes with the struct.
inline constexpr char transportVersion[] = "1";

} // namespace glowish

#endif // GLOWISH_LIB_DISTRIBUTED_TRANSPORT_H

//===- TransportLibrary.h - The library with MPI ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_DISTRIBUTED_TRANSPORTLIBRARY_H
#define GLOWISH_LIB_DISTRIBUTED_TRANSPORTLIBRARY_H

#include "Transport.h"
#include "llvm/Support/Error.h"

namespace glowish {

/// Loads libglowish-mpi.so: the file that GLOWISH_MPI names, or the one in the
/// folder glowish beside libglowish. The error names the file.
llvm::Expected<const Transport *> loadTransport();

} // namespace glowish

#endif // GLOWISH_LIB_DISTRIBUTED_TRANSPORTLIBRARY_H

//===- Checksum.h - Checksum of a bundle's weights --------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_CHECKSUM_H
#define GLOWISH_PYTHON_CORE_CHECKSUM_H

#include <cstddef>
#include <cstdint>

namespace glowish::python {

/// XXH64 with seed 0 of \p size bytes.
uint64_t computeChecksum(const void *bytes, size_t size);

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_CHECKSUM_H

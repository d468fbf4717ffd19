//===- BuildIdentity.h - Which build of the code runs -----------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_BUILDIDENTITY_H
#define GLOWISH_SUPPORT_BUILDIDENTITY_H

#include "glowish/Support/KeyHasher.h"

namespace glowish {

/// Adds to \p key the identities of the machine code in this process on which a
/// compilation depends: libglowish and all that is linked with it, programs and
/// plug-ins, each with the libraries that it needs in turn (LLVM, protobuf,
/// libm). An identity is the build ID that the linker has left in the file
/// (.note.gnu.build-id), or a hash of what is mapped read-only where there is
/// none. Nothing of it depends on paths or addresses.
void addBuildIdentity(KeyHasher &key);

} // namespace glowish

#endif // GLOWISH_SUPPORT_BUILDIDENTITY_H

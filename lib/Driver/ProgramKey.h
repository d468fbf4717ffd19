//===- ProgramKey.h - All that programs are made from -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_PROGRAMKEY_H
#define GLOWISH_LIB_DRIVER_PROGRAMKEY_H

#include "glowish/Driver/RunnableProgram.h"
#include "glowish/Support/KeyHasher.h"

namespace glowish {

/// The key of the programs of \p request: equal keys, equal programs, to the
/// bit. \p serializer is the back end's. Null where they are not to be kept:
/// compiling does more than to make them (it prints, checks, measures, stops),
/// or the model can't be read, which compiling will say.
std::optional<KeyHasher::Digest>
computeProgramKey(const ModelRequest &request,
                  const CodeSerializer &serializer);

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_PROGRAMKEY_H

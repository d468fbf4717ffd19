//===- FileSeeds.h - Seeds that are files of the tools ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PARSERS_FILESEEDS_H
#define GLOWISH_TESTS_PARSERS_FILESEEDS_H

#include "parsers/ParserSeeds.h"

namespace glowish::parsers {

ParserSeeds makeProfileSeeds();
ParserSeeds makeCheckpointSeeds();
/// PNG, JPEG and Netpbm images of a few pixels.
ParserSeeds makeImageSeeds();

} // namespace glowish::parsers

#endif // GLOWISH_TESTS_PARSERS_FILESEEDS_H

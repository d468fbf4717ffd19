//===- SourceFolder.cpp - Path of the source folder -----------------------===//
//
// The only file that is compiled with the path of the checkout, so that the
// objects of all others can be shared between checkouts.
//
//===----------------------------------------------------------------------===//

#include "common/SourceFolder.h"

std::string glowish::getSourcePath(const std::string &path) {
  return std::string(GLOWISH_SOURCE_DIR "/") + path;
}

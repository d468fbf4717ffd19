//===- SourceFolder.h - Path of the source folder ---------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_SOURCEFOLDER_H
#define GLOWISH_TESTS_COMMON_SOURCEFOLDER_H

#include <string>

namespace glowish {

/// Returns the absolute path of \p path, which is relative to the checkout that
/// the tests were built in.
std::string getSourcePath(const std::string &path);

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_SOURCEFOLDER_H

//===- TestFolder.h - A folder for one test ---------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_TESTFOLDER_H
#define GLOWISH_TESTS_UNIT_TESTFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace glowish {

/// Gives a test an empty folder and takes it away afterwards.
class TestFolder : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("glowish-test", folder));
  }
  void TearDown() override {
    // LLVM's own leaves pipes and devices.
    std::error_code code;
    std::filesystem::remove_all(folder.str().str(), code);
    EXPECT_FALSE(code) << code.message();
  }

  /// The path of \p name in the folder.
  std::string in(llvm::StringRef name) const {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  /// The names in the folder (or in \p path), sorted.
  std::vector<std::string> list(llvm::StringRef path = "") const {
    std::vector<std::string> names;
    std::error_code code;
    std::string top = path.empty() ? folder.str().str() : path.str();
    for (llvm::sys::fs::directory_iterator it(top, code), end;
         !code && it != end; it.increment(code))
      names.push_back(llvm::sys::path::filename(it->path()).str());
    std::sort(names.begin(), names.end());
    return names;
  }
  /// The bytes of a file in the folder, "(none)" where there is none.
  std::string read(llvm::StringRef name) const {
    auto buffer = llvm::MemoryBuffer::getFile(in(name));
    return buffer ? (*buffer)->getBuffer().str() : "(none)";
  }
  /// Puts a file there without the library under test.
  void put(llvm::StringRef name, llvm::StringRef bytes) const {
    std::error_code code;
    llvm::raw_fd_ostream os(in(name), code);
    ASSERT_FALSE(code) << code.message();
    os << bytes;
  }

  llvm::SmallString<128> folder;
};

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_TESTFOLDER_H

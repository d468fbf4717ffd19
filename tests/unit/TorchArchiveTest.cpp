//===- TorchArchiveTest.cpp - Archives that PyTorch writes ----------------===//

#include "Common/TorchArchive.h"
#include "Messages.h"
#include "TestFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"
#include <zip.h>

using namespace glowish;
using testing::HasSubstr;

namespace {

class TorchArchiveTest : public TestFolder {
protected:
  /// Writes an archive with the entry top/weight, and opens it.
  llvm::Expected<TorchArchive> open(llvm::StringRef bytes, bool isCompressed) {
    int code = 0;
    zip_t *archive = zip_open(in("a.zip").c_str(), ZIP_CREATE, &code);
    EXPECT_EQ(code, 0);
    zip_source_t *source =
        zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    zip_int64_t index =
        zip_file_add(archive, "top/weight", source, ZIP_FL_ENC_UTF_8);
    EXPECT_EQ(index, 0);
    EXPECT_EQ(zip_set_file_compression(
                  archive, 0, isCompressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0),
              0);
    EXPECT_EQ(zip_close(archive), 0);
    return TorchArchive::open(in("a.zip"));
  }
};

/// Several of the pieces in which entries are read.
const std::string large = std::string(3 << 20, 'a') + "end";

} // namespace

TEST_F(TorchArchiveTest, StoredBytesAreMapped) {
  for (const std::string &content : {large, std::string("x")}) {
    std::filesystem::remove(in("a.zip"));
    llvm::Expected<TorchArchive> archive = open(content, false);
    ASSERT_TRUE(bool(archive)) << llvm::toString(archive.takeError());
    SharedBytes entry = llvm::cantFail(archive->readBytes("weight"));
    EXPECT_EQ(llvm::toStringRef(entry.bytes), content);
    auto file = std::static_pointer_cast<const llvm::MemoryBuffer>(entry.owner);
    EXPECT_GE(llvm::toStringRef(entry.bytes).data(), file->getBufferStart());
    EXPECT_LE(llvm::toStringRef(entry.bytes).end(), file->getBufferEnd());
  }
}

TEST_F(TorchArchiveTest, BytesOutliveTheArchive) {
  SharedBytes entry;
  {
    llvm::Expected<TorchArchive> archive = open(large, false);
    ASSERT_TRUE(bool(archive)) << llvm::toString(archive.takeError());
    entry = llvm::cantFail(archive->readBytes("weight"));
  }
  EXPECT_EQ(llvm::toStringRef(entry.bytes), large);
}

TEST_F(TorchArchiveTest, CompressedBytesAreUnpacked) {
  llvm::Expected<TorchArchive> archive = open(large, true);
  ASSERT_TRUE(bool(archive)) << llvm::toString(archive.takeError());
  EXPECT_LT(std::filesystem::file_size(in("a.zip")), large.size());
  SharedBytes entry = llvm::cantFail(archive->readBytes("weight"));
  EXPECT_EQ(llvm::toStringRef(entry.bytes), large);
  EXPECT_EQ(uintptr_t(entry.bytes.data()) % Tensor::alignment, 0u);
}

TEST_F(TorchArchiveTest, OtherSizesThanStatedAreRefused) {
  for (int change : {1, -1}) {
    std::filesystem::remove(in("a.zip"));
    llvm::consumeError(open(large, true).takeError());
    // The size is in the header of the entry and in the list at the end.
    uint32_t size = large.size(), other = size + uint32_t(change);
    std::string bytes = read("a.zip");
    llvm::StringRef old(reinterpret_cast<char *>(&size), sizeof(size));
    for (size_t at = 0; (at = bytes.find(old, at)) != std::string::npos;)
      std::memcpy(&bytes[at], &other, sizeof(other));
    put("a.zip", bytes);
    llvm::Expected<TorchArchive> archive = TorchArchive::open(in("a.zip"));
    ASSERT_TRUE(bool(archive)) << llvm::toString(archive.takeError());
    EXPECT_THAT(getMessage(archive->readBytes("weight")),
                HasSubstr("'top/weight' is corrupt"));
  }
}

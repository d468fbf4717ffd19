//===- FileTest.cpp - Files read and written, and what goes wrong ---------===//

#include "glowish/Support/File.h"
#include "ChildProcess.h"
#include "Messages.h"
#include "TestFolder.h"
#include "glowish/Support/MemoryFile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace glowish;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = llvm::sys::fs;

namespace {

constexpr int deadlySignals[] = {SIGINT, SIGTERM, SIGHUP, SIGABRT};

class FileTest : public TestFolder {
protected:
  static void SetUpTestSuite() {
    // nohup and a shell's '&' ignore some; LLVM looks when the first file is
    // written.
    for (int number : deadlySignals)
      signal(number, SIG_DFL);
  }
  /// A device of our own that is always full, "" where it cannot be made. Not
  /// the one in /dev: code that replaced it by a file would do lasting harm
  /// when the tests are run by root.
  std::string makeFullDevice() {
    std::string path = in("full");
    if (mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 7)))
      return "";
    int device = open(path.c_str(), O_WRONLY);
    if (device < 0)
      return "";
    close(device);
    return path;
  }
  std::string getWriteError(llvm::StringRef path, llvm::StringRef reason) {
    return ("cannot write '" + path + "': " + reason).str();
  }
};

/// Adds \p path with \p bytes; the message of an error.
std::string add(OutputFiles &files, llvm::StringRef path,
                llvm::StringRef bytes) {
  llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(path);
  if (!stream)
    return llvm::toString(stream.takeError());
  *stream << bytes;
  return "";
}

//===- Reading ------------------------------------------------------------===//

TEST_F(FileTest, ReadsBytesAsTheyAre) {
  std::string bytes("\r\n\0\x1a x", 6);
  put("file", bytes);
  auto buffer = readFile(in("file"));
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ((*buffer)->getBuffer(), bytes);
}

TEST_F(FileTest, ReadsAnEmptyFile) {
  put("empty", "");
  auto buffer = readFile(in("empty"));
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ((*buffer)->getBufferSize(), 0u);
}

TEST_F(FileTest, ReadsLargeFiles) {
  std::string bytes(5 << 20, 'x');
  bytes.back() = 'y';
  put("large", bytes);
  auto buffer = readFile(in("large"));
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ((*buffer)->getBuffer(), bytes);
  EXPECT_EQ((*buffer)->getBufferKind(), llvm::MemoryBuffer::MemoryBuffer_MMap);
}

TEST_F(FileTest, ReadsAPipe) {
  std::string path = in("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  ChildResult child = runChild([&] {
    pid_t writer = fork();
    if (writer == 0) {
      int pipe = open(path.c_str(), O_WRONLY);
      _exit(write(pipe, "piped", 5) != 5);
    }
    auto buffer = readFile(path);
    waitpid(writer, nullptr, 0);
    return buffer && (*buffer)->getBuffer() == "piped" ? 0 : 1;
  });
  EXPECT_EQ(child.exitCode, 0) << child.text;
}

TEST_F(FileTest, SaysWhyItCannotRead) {
  put("file", "x");
  auto messageOf = [](const std::string &path) {
    return getMessage(readFile(path));
  };
  EXPECT_EQ(messageOf(in("absent")),
            "cannot read '" + in("absent") + "': No such file or directory");
  EXPECT_EQ(messageOf(folder.str().str()),
            "cannot read '" + folder.str().str() + "': it is a directory");
  EXPECT_EQ(messageOf(in("file/x")),
            "cannot read '" + in("file/x") + "': Not a directory");
  EXPECT_EQ(messageOf("/dev/zero"), "cannot read '/dev/zero': it is a device");
  EXPECT_EQ(messageOf("-"), "cannot read '-': No such file or directory");
  EXPECT_EQ(messageOf(""), "cannot read '': No such file or directory");
}

//===- Folders ------------------------------------------------------------===//

TEST_F(FileTest, MakesFolders) {
  EXPECT_EQ(getMessage(createDirectories(in("a/b/c"))), "");
  EXPECT_TRUE(fs::is_directory(in("a/b/c")));
  EXPECT_EQ(getMessage(createDirectories(in("a/b"))), "");
}

TEST_F(FileTest, PermissionsFollowTheUmask) {
  auto getMode = [&](llvm::StringRef name) {
    struct stat status = {};
    EXPECT_EQ(stat(in(name).c_str(), &status), 0) << name.str();
    return status.st_mode & 0777;
  };
  for (mode_t mask : {0000, 0022, 0027, 0077}) {
    std::string top = "mask" + std::to_string(mask);
    mode_t before = umask(mask);
    EXPECT_EQ(getMessage(createDirectories(in(top + "/sub"))), "");
    EXPECT_EQ(getMessage(writeFile(in(top + "/sub/file"), "x")), "");
    umask(before);
    EXPECT_EQ(getMode(top), 0777 & ~mask);
    EXPECT_EQ(getMode(top + "/sub"), 0777 & ~mask);
    EXPECT_EQ(getMode(top + "/sub/file"), 0666 & ~mask);
  }
}

TEST_F(FileTest, SaysWhyItCannotMakeAFolder) {
  put("file", "x");
  EXPECT_EQ(getMessage(createDirectories(in("file"))),
            "cannot make the folder '" + in("file") +
                "': a file is in the way");
  EXPECT_EQ(getMessage(createDirectories(in("file/sub"))),
            "cannot make the folder '" + in("file/sub") + "': Not a directory");
  EXPECT_EQ(getMessage(createDirectories("")),
            "cannot make a folder with an empty name");
}

//===- Writing ------------------------------------------------------------===//

TEST_F(FileTest, WritesAllFilesAtOnce) {
  put("old", "before");
  OutputFiles files;
  EXPECT_EQ(add(files, in("old"), "after"), "");
  EXPECT_EQ(add(files, in("new"), std::string(1 << 20, 'x')), "");
  EXPECT_EQ(read("old"), "before");
  EXPECT_EQ(read("new"), "(none)");
  EXPECT_EQ(getMessage(files.commit()), "");
  EXPECT_EQ(read("old"), "after");
  EXPECT_EQ(read("new"), std::string(1 << 20, 'x'));
  EXPECT_THAT(list(), ElementsAre("new", "old"));
  // Nothing is left to do.
  EXPECT_EQ(getMessage(files.commit()), "");
}

TEST_F(FileTest, LeavesNothingWithoutCommit) {
  put("old", "before");
  {
    OutputFiles files;
    EXPECT_EQ(add(files, in("old"), "after"), "");
    EXPECT_EQ(add(files, in("new"), "new"), "");
    EXPECT_EQ(list().size(), 3u);
  }
  EXPECT_THAT(list(), ElementsAre("old"));
  EXPECT_EQ(read("old"), "before");
}

TEST_F(FileTest, SeeksInItsStreams) {
  OutputFiles files;
  auto stream = files.add(in("file"));
  ASSERT_TRUE(bool(stream));
  *stream << "0123456789";
  stream->pwrite("ab", 2, 3);
  EXPECT_EQ(getMessage(files.commit()), "");
  EXPECT_EQ(read("file"), "012ab56789");
}

TEST_F(FileTest, WritesUnderAwkwardNames) {
  ASSERT_FALSE(fs::create_directory(in("100%%%")));
  std::string longest(255, 'n');
  for (const std::string &name : {std::string("100%%%/%f.o"), longest,
                                  std::string("-"), std::string("a b\n'c'")}) {
    EXPECT_EQ(getMessage(writeFile(in(name), "x")), "");
    EXPECT_EQ(read(name), "x") << name;
  }
  EXPECT_THAT(list(), ElementsAre("-", "100%%%", "a b\n'c'", longest));
  EXPECT_THAT(list(in("100%%%")), ElementsAre("%f.o"));
}

TEST_F(FileTest, FollowsAndKeepsSymbolicLinks) {
  ASSERT_FALSE(fs::create_directory(in("far")));
  put("far/file", "before");
  ASSERT_FALSE(fs::create_link(in("far/file"), in("link")));
  EXPECT_EQ(getMessage(writeFile(in("link"), "after")), "");
  EXPECT_TRUE(fs::is_symlink_file(in("link")));
  EXPECT_EQ(read("far/file"), "after");
  EXPECT_THAT(list(in("far")), ElementsAre("file"));
}

TEST_F(FileTest, GivesTheUsualPermissions) {
  mode_t mask = umask(027);
  EXPECT_EQ(getMessage(writeFile(in("file"), "x")), "");
  umask(mask);
  struct stat status;
  ASSERT_EQ(stat(in("file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(FileTest, WritesToAPipeAndKeepsIt) {
  std::string path = in("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // Opens both ends, so that neither waits for the other.
  int pipe = open(path.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(pipe, 0);
  EXPECT_EQ(getMessage(writeFile(path, "piped")), "");
  char bytes[16];
  EXPECT_EQ(::read(pipe, bytes, sizeof(bytes)), 5);
  close(pipe);
  fs::file_status status;
  ASSERT_FALSE(fs::status(path, status));
  EXPECT_EQ(status.type(), fs::file_type::fifo_file);
  EXPECT_THAT(list(), ElementsAre("pipe"));
}

TEST_F(FileTest, ReportsAFullDevice) {
  std::string full = makeFullDevice();
  if (full.empty())
    GTEST_SKIP() << "making a device takes more rights";
  EXPECT_EQ(getMessage(writeFile(full, "x")),
            getWriteError(full, "No space left on device"));
  EXPECT_THAT(list(), ElementsAre("full"));
}

//===- Failures to write --------------------------------------------------===//

TEST_F(FileTest, SaysWhyItCannotWrite) {
  put("file", "x");
  ASSERT_FALSE(fs::create_directory(in("sub")));
  OutputFiles files;
  EXPECT_EQ(add(files, in("sub"), ""),
            getWriteError(in("sub"), "it is a directory"));
  EXPECT_EQ(add(files, in("file/x"), ""),
            getWriteError(in("file/x"), "Not a directory"));
  EXPECT_EQ(add(files, in("absent/x"), ""),
            getWriteError(in("absent/x"), "No such file or directory"));
  EXPECT_EQ(add(files, "", ""), "cannot write a file with an empty name");
  EXPECT_EQ(getMessage(files.commit()), "");
  EXPECT_THAT(list(), ElementsAre("file", "sub"));
}

TEST_F(FileTest, SaysThatAFolderIsReadOnly) {
  ASSERT_FALSE(fs::setPermissions(folder, fs::perms(0555)));
  ChildResult child = runChild([&] {
    // The rules don't hold for root.
    if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
      return 2;
    return reportError(writeFile(in("file"), "x"));
  });
  ASSERT_FALSE(fs::setPermissions(folder, fs::perms(0755)));
  EXPECT_EQ(child.exitCode, 1);
  EXPECT_EQ(child.text,
            "error: " + getWriteError(in("file"), "Permission denied") + "\n");
  EXPECT_THAT(list(), ElementsAre());
}

/// Adds a small file and one of four megabytes, and commits.
int writeTooMuch(llvm::StringRef small, llvm::StringRef large,
                 llvm::function_ref<void()> afterAdding) {
  OutputFiles files;
  auto first = files.add(small), second = files.add(large);
  if (!first || !second)
    return 2;
  afterAdding();
  *first << "after";
  first->flush();
  *second << std::string(4 << 20, 'x');
  llvm::Error error = files.commit();
  return error ? reportError(std::move(error)) : 0;
}

TEST_F(FileTest, ReportsAFileThatGrowsTooLarge) {
  put("small", "before");
  ChildResult child = runChild([&] {
    return writeTooMuch(in("small"), in("large"), [] {
      // Not sooner: LLVM handles this signal from the first file on.
      signal(SIGXFSZ, SIG_IGN);
      rlimit limit = {1 << 20, 1 << 20};
      setrlimit(RLIMIT_FSIZE, &limit);
    });
  });
  EXPECT_EQ(child.exitCode, 1);
  EXPECT_EQ(child.text,
            "error: " + getWriteError(in("large"), "File too large") + "\n");
  EXPECT_THAT(list(), ElementsAre("small"));
  EXPECT_EQ(read("small"), "before");
}

TEST_F(FileTest, ReportsAFullDisk) {
  constexpr int cannotMount = 77;
  ChildResult child = runChild([&] {
    // A disk of our own, which goes away with the child.
    if (unshare(CLONE_NEWNS) ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
        mount("none", folder.c_str(), "tmpfs", 0, "size=1m"))
      return cannotMount;
    put("small", "before");
    int code = writeTooMuch(in("small"), in("large"), [] {});
    if (list() != std::vector<std::string>{"small"} ||
        read("small") != "before")
      return 3;
    return code;
  });
  if (child.exitCode == cannotMount)
    GTEST_SKIP() << "mounting a small disk takes more rights";
  EXPECT_EQ(child.exitCode, 1);
  EXPECT_EQ(child.text,
            "error: " + getWriteError(in("large"), "No space left on device") +
                "\n");
}

TEST_F(FileTest, PutsBackWhatItReplaced) {
  put("old", "before");
  OutputFiles files;
  EXPECT_EQ(add(files, in("old"), "after"), "");
  EXPECT_EQ(add(files, in("new"), "after"), "");
  EXPECT_EQ(add(files, in("late"), "after"), "");
  EXPECT_EQ(add(files, in("never"), "after"), "");
  // A folder that comes in between makes the third rename fail.
  ASSERT_FALSE(fs::create_directories(in("late/sub")));
  EXPECT_EQ(getMessage(files.commit()),
            getWriteError(in("late"), "Is a directory"));
  EXPECT_EQ(read("old"), "before");
  EXPECT_THAT(list(), ElementsAre("late", "old"));
  EXPECT_THAT(list(in("late")), ElementsAre("sub"));
}

TEST_F(FileTest, OneFailureKeepsAllFilesAway) {
  std::string full = makeFullDevice();
  if (full.empty())
    GTEST_SKIP() << "making a device takes more rights";
  OutputFiles files;
  EXPECT_EQ(add(files, in("first"), "x"), "");
  EXPECT_EQ(add(files, full, "x"), "");
  EXPECT_EQ(add(files, in("last"), "x"), "");
  EXPECT_EQ(add(files, full, "x"), "");
  EXPECT_EQ(getMessage(files.commit()),
            getWriteError(full, "No space left on device"));
  EXPECT_THAT(list(), ElementsAre("full"));
}

TEST_F(FileTest, ASignalLeavesNothing) {
  put("old", "before");
  for (int number : deadlySignals) {
    ChildResult child = runChild([&] {
      handleSignals();
      OutputFiles files;
      add(files, in("old"), std::string(1 << 20, 'x'));
      add(files, in("new"), "after");
      // Two temporaries exist now, or this proves nothing.
      if (list().size() != 3)
        return 4;
      // LLVM ends the process itself only for an interruption; a crash goes
      // on to its own end.
      if (number == SIGABRT)
        abort();
      raise(number);
      return 5;
    });
    EXPECT_EQ(child.signal, number) << child.exitCode;
    EXPECT_THAT(list(), ElementsAre("old")) << number;
  }
}

//===- Files in memory ----------------------------------------------------===//

TEST(MemoryFile, IsReadAsAFile) {
  std::unique_ptr<llvm::MemoryBuffer> kept;
  std::string path;
  {
    MemoryFile one("bytes", "a.onnx"), other("others", "a.onnx");
    path = one.getPath();
    EXPECT_NE(path, other.getPath());
    EXPECT_TRUE(llvm::StringRef(path).ends_with("/a.onnx"));
    EXPECT_TRUE(isMemoryFile(path));
    kept = llvm::cantFail(readFile(path));
    EXPECT_EQ(uintptr_t(kept->getBufferStart()) % 64, 0u);
  }
  // What was read is there after the file.
  EXPECT_EQ(kept->getBuffer(), "bytes");
  EXPECT_FALSE(isMemoryFile(path));
  EXPECT_THAT(llvm::toString(readFile(path).takeError()),
              HasSubstr("cannot read '" + path + "'"));
}

} // namespace

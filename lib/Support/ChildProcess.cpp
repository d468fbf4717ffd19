//===- ChildProcess.cpp - Code that may crash -----------------------------===//

#include "glowish/Support/ChildProcess.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringRef.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace glowish;

/// Writes or, with `read`, reads \p size bytes unless the other side ends.
template <typename Transfer, typename Byte>
static size_t transferAll(Transfer transfer, int file, Byte *bytes,
                          size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t count = transfer(file, bytes + done, size - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    done += size_t(count);
  }
  return done;
}

/// What the copy of the process does.
[[noreturn]] static void answer(llvm::function_ref<std::string()> function,
                                unsigned maxSeconds, int pipe, FILE *log) {
  // The handlers of this process print a stack trace and remove files.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGTERM,
                     SIGINT, SIGALRM, SIGPIPE})
    std::signal(signal, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  dup2(fileno(log), STDOUT_FILENO);
  dup2(fileno(log), STDERR_FILENO);
  alarm(maxSeconds);
  std::string result = function();
  uint64_t size = result.size();
  transferAll(write, pipe, reinterpret_cast<const char *>(&size), sizeof(size));
  transferAll(write, pipe, result.data(), result.size());
  _exit(0);
}

/// The bytes that the copy wrote, if it wrote all of them.
static std::optional<std::string> readAnswer(int pipe) {
  uint64_t size;
  if (transferAll(read, pipe, reinterpret_cast<char *>(&size), sizeof(size)) !=
      sizeof(size))
    return std::nullopt;
  std::string result;
  char block[4096];
  while (size_t count = transferAll(read, pipe, block, sizeof(block)))
    result.append(block, count);
  if (result.size() != size)
    return std::nullopt;
  return result;
}

/// The last line of \p log that has something in it, as an end of a message.
static std::string readLastLine(FILE *log) {
  std::rewind(log);
  std::string last;
  char line[1024];
  while (std::fgets(line, sizeof(line), log)) {
    llvm::StringRef text = llvm::StringRef(line).trim();
    if (!text.empty())
      last = text.str();
  }
  return last.empty() ? last : "; its last line: " + last;
}

llvm::Expected<std::string>
glowish::runInChildProcess(unsigned maxSeconds,
                           llvm::function_ref<std::string()> function) {
  FILE *log = std::tmpfile();
  if (!log)
    return makeError("no temporary file: {0}", std::strerror(errno));
  auto closeLog = llvm::make_scope_exit([&] { std::fclose(log); });
  int ends[2];
  if (pipe(ends) != 0)
    return makeError("no pipe: {0}", std::strerror(errno));
  // What is buffered would be written twice.
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    answer(function, maxSeconds, ends[1], log);
  }
  close(ends[1]);
  auto closePipe = llvm::make_scope_exit([&] { close(ends[0]); });
  if (child < 0)
    return makeError("no process: {0}", std::strerror(errno));
  std::optional<std::string> result = readAnswer(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return makeError("it takes more than {0} seconds", maxSeconds);
  if (WIFSIGNALED(status))
    return makeError("it crashes ({0}){1}", strsignal(WTERMSIG(status)),
                     readLastLine(log));
  if (!result)
    return makeError("it ends the process{0}", readLastLine(log));
  return std::move(*result);
}

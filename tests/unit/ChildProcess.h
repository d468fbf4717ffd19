//===- ChildProcess.h - Runs code in a child process ------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_CHILDPROCESS_H
#define GLOWISH_TESTS_UNIT_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <fcntl.h>
#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace glowish {

enum class ChildOutput { Pipe, Terminal };

struct ChildResult {
  /// -1 where a signal ended the child.
  int exitCode = -1;
  int signal = 0;
  /// What it wrote to stderr.
  std::string text;
};

/// Runs \p body in a copy of this process; its value is the exit code.
inline ChildResult runChild(llvm::function_ref<int()> body,
                            ChildOutput output = ChildOutput::Pipe) {
  int reader = -1, writer = -1;
  if (output == ChildOutput::Terminal) {
    // Raw: a line discipline would write \r\n for \n.
    termios mode = {};
    cfmakeraw(&mode);
    if (openpty(&reader, &writer, nullptr, &mode, nullptr))
      return {};
  } else {
    int ends[2];
    if (pipe(ends))
      return {};
    reader = ends[0];
    writer = ends[1];
  }
  pid_t child = fork();
  if (child == 0) {
    close(reader);
    dup2(writer, STDERR_FILENO);
    close(writer);
    _exit(body());
  }
  close(writer);
  ChildResult result;
  char buffer[4096];
  // A terminal whose other end is closed gives an error, not an end of file.
  for (ssize_t size; (size = read(reader, buffer, sizeof(buffer))) > 0;)
    result.text.append(buffer, size);
  close(reader);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child) {
    if (WIFEXITED(status))
      result.exitCode = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
      result.signal = WTERMSIG(status);
  }
  return result;
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_CHILDPROCESS_H

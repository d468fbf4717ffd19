//===- Workers.cpp - Many tests in child processes ------------------------===//

#include "Workers.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace glowish;

namespace {
struct Worker {
  pid_t process = -1;
  /// Its stderr.
  int reader = -1;
  unsigned job = 0;
  std::string text;
};
} // namespace

/// Texts of crashes can be long; what matters is at the start (an assertion).
static constexpr size_t maxText = 4000;

[[noreturn]] static void
runChild(unsigned index, int writer, unsigned seconds,
         const std::function<llvm::Error(unsigned)> &job) {
  dup2(writer, STDERR_FILENO);
  close(writer);
  // A crash is reported by who waits for it.
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    std::signal(number, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  alarm(seconds);
  llvm::Error error = job(index);
  if (!error)
    _exit(0);
  std::string text = llvm::toString(std::move(error));
  for (llvm::StringRef rest = text; !rest.empty();) {
    ssize_t size = write(STDERR_FILENO, rest.data(), rest.size());
    if (size <= 0)
      break;
    rest = rest.drop_front(size);
  }
  _exit(1);
}

static llvm::Expected<Worker>
startWorker(unsigned index, unsigned seconds,
            const std::function<llvm::Error(unsigned)> &job) {
  int ends[2];
  if (pipe(ends))
    return makeError("no pipe: {0}", strerror(errno));
  pid_t process = fork();
  if (process < 0)
    return makeError("no process: {0}", strerror(errno));
  if (process == 0) {
    close(ends[0]);
    runChild(index, ends[1], seconds, job);
  }
  close(ends[1]);
  return Worker{process, ends[0], index, ""};
}

/// Waits for a worker that has closed its stderr.
static JobResult finish(Worker &worker) {
  close(worker.reader);
  int status = 0;
  waitpid(worker.process, &status, 0);
  JobResult result;
  result.passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    result.message = "takes too long; ";
  else if (WIFSIGNALED(status))
    result.message =
        llvm::formatv("crashes ({0}); ", strsignal(WTERMSIG(status)));
  if (!result.passed)
    result.message += worker.text;
  return result;
}

/// Reads what there is. False at the end.
static bool readSome(Worker &worker) {
  char buffer[4096];
  ssize_t size = read(worker.reader, buffer, sizeof(buffer));
  if (size < 0)
    return errno == EINTR;
  if (size > 0 && worker.text.size() < maxText)
    worker.text.append(buffer, size);
  return size > 0;
}

llvm::Expected<std::vector<JobResult>>
glowish::runJobs(unsigned numJobs, unsigned numWorkers, unsigned seconds,
                 std::function<llvm::Error(unsigned)> job) {
  std::vector<JobResult> results(numJobs);
  std::vector<Worker> workers;
  unsigned next = 0;
  while (next < numJobs || !workers.empty()) {
    while (next < numJobs && workers.size() < numWorkers) {
      GLOWISH_TRY(Worker worker, startWorker(next++, seconds, job));
      workers.push_back(std::move(worker));
    }
    std::vector<pollfd> polled;
    for (const Worker &worker : workers)
      polled.push_back({worker.reader, POLLIN, 0});
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
      return makeError("poll: {0}", strerror(errno));
    for (unsigned i = workers.size(); i-- > 0;) {
      if (!polled[i].revents || readSome(workers[i]))
        continue;
      results[workers[i].job] = finish(workers[i]);
      workers.erase(workers.begin() + i);
    }
  }
  return results;
}

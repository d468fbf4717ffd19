//===- Workers.cpp - Many jobs in child processes -------------------------===//

#include "common/Workers.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace glowish;

using Job = std::function<llvm::Expected<std::string>(uint64_t)>;
using Done = std::function<void(uint64_t, JobResult)>;

namespace {

/// A child process and its jobs.
struct Worker {
  pid_t process = -1;
  /// Its stderr, which has its reports, too.
  int reader = -1;
  /// The job that it is at, and the end of its jobs.
  uint64_t job = 0, end = 0;
  std::string unread;
};

class Crew {
public:
  Crew(uint64_t numJobs, const JobOptions &options, const Job &job,
       const Done &done)
      : numJobs(numJobs), options(options), job(job), done(done) {}

  llvm::Error run();

private:
  llvm::Error start(uint64_t first, uint64_t end);
  [[noreturn]] void work(const Worker &worker, int writer) const;
  void takeReports(Worker &worker);
  llvm::Error finish(unsigned index);

  uint64_t numJobs;
  const JobOptions &options;
  const Job &job;
  const Done &done;
  std::vector<Worker> workers;
};

} // namespace

/// What a child says of a job: this mark, 'p' (passed) or 'f', the text's size
/// in hexadecimal, a line's end, the text. What else it writes, in front of it,
/// is noise, or tells why it crashed. No text of ours has the mark.
static constexpr llvm::StringLiteral mark = "\x01glowish-job:";
/// Texts of crashes can be long; what matters is at the start (an assertion).
static constexpr size_t maxNoise = 4000;

static void writeAll(int file, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t size = write(file, text.data(), text.size());
    if (size < 0 && errno != EINTR)
      _exit(1);
    text = text.drop_front(std::max<ssize_t>(size, 0));
  }
}

void Crew::work(const Worker &worker, int writer) const {
  dup2(writer, STDERR_FILENO);
  close(writer);
  // The parent process waits for this one and reports a crash.
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    std::signal(number, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (uint64_t i = worker.job; i < worker.end; ++i) {
    alarm(options.seconds);
    llvm::Expected<std::string> text = job(i);
    char kind = text ? 'p' : 'f';
    std::string message =
        text ? std::move(*text) : llvm::toString(text.takeError());
    writeAll(STDERR_FILENO, llvm::formatv("{0}{1}{2:x-}\n{3}", mark, kind,
                                          message.size(), message)
                                .str());
  }
  _exit(0);
}

llvm::Error Crew::start(uint64_t first, uint64_t end) {
  int ends[2];
  if (pipe(ends))
    return makeError("no pipe: {0}", strerror(errno));
  Worker worker{-1, ends[0], first, end, ""};
  worker.process = fork();
  if (worker.process < 0)
    return makeError("no process: {0}", strerror(errno));
  if (worker.process == 0) {
    close(ends[0]);
    work(worker, ends[1]);
  }
  close(ends[1]);
  workers.push_back(std::move(worker));
  return llvm::Error::success();
}

/// Takes the whole reports off what has been read.
void Crew::takeReports(Worker &worker) {
  for (;;) {
    llvm::StringRef text = worker.unread;
    size_t at = text.find(mark);
    if (at == llvm::StringRef::npos) {
      // The last bytes may be the start of a mark.
      if (text.size() > maxNoise + mark.size())
        worker.unread.erase(maxNoise, text.size() - maxNoise - mark.size());
      return;
    }
    auto [head, rest] = text.substr(at + mark.size()).split('\n');
    uint64_t size = 0;
    if (!text.substr(at).contains('\n') ||
        head.drop_front().getAsInteger(16, size) || rest.size() < size)
      return;
    JobResult result{head.front() == 'p', rest.take_front(size).str()};
    worker.unread = rest.drop_front(size).str();
    done(worker.job++, std::move(result));
  }
}

/// The worker has closed its stderr: it is done, or a job has ended it.
llvm::Error Crew::finish(unsigned index) {
  Worker worker = std::move(workers[index]);
  workers.erase(workers.begin() + index);
  close(worker.reader);
  int status = 0;
  waitpid(worker.process, &status, 0);
  if (worker.job == worker.end)
    return llvm::Error::success();
  JobResult result;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    result.text = llvm::formatv("takes longer than {0} s; ", options.seconds);
  else if (WIFSIGNALED(status))
    result.text = llvm::formatv("crashes ({0}); ", strsignal(WTERMSIG(status)));
  else
    result.text = llvm::formatv("exits ({0}); ", WEXITSTATUS(status));
  result.text += llvm::StringRef(worker.unread).take_front(maxNoise);
  done(worker.job, std::move(result));
  if (worker.job + 1 == worker.end)
    return llvm::Error::success();
  return start(worker.job + 1, worker.end);
}

llvm::Error Crew::run() {
  uint64_t next = 0;
  while (next < numJobs || !workers.empty()) {
    while (next < numJobs && workers.size() < options.numWorkers) {
      uint64_t end = next + std::min(options.jobsPerProcess, numJobs - next);
      GLOWISH_RETURN_IF_ERROR(start(next, end));
      next = end;
    }
    std::vector<pollfd> polled;
    for (const Worker &worker : workers)
      polled.push_back({worker.reader, POLLIN, 0});
    if (poll(polled.data(), polled.size(), -1) < 0) {
      if (errno != EINTR)
        return makeError("poll: {0}", strerror(errno));
      continue;
    }
    for (unsigned i = polled.size(); i-- > 0;) {
      if (!polled[i].revents)
        continue;
      char buffer[1 << 16];
      ssize_t size = read(workers[i].reader, buffer, sizeof(buffer));
      if (size > 0) {
        workers[i].unread.append(buffer, size);
        takeReports(workers[i]);
      } else if (size == 0 || errno != EINTR) {
        GLOWISH_RETURN_IF_ERROR(finish(i));
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error glowish::runJobs(uint64_t numJobs, const JobOptions &options,
                             Job job, Done done) {
  return Crew(numJobs, options, job, done).run();
}

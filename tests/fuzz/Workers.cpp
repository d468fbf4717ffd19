//===- Workers.cpp - Many graphs in child processes -----------------------===//

#include "Workers.h"
#include "Check.h"
#include "Generator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <poll.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace glowish;
using namespace glowish::fuzz;

namespace {

/// A child process and the seeds that it has to do.
struct Worker {
  pid_t pid = -1;
  int reader = -1;
  std::string unread;
  /// The seed that it is at, and the end of its seeds.
  uint64_t seed = 0, end = 0;
};

/// Seeds are handed out in pieces: what a child's memory holds goes with it.
class Crew {
public:
  explicit Crew(const Campaign &campaign)
      : campaign(campaign), next(campaign.firstSeed),
        end(campaign.firstSeed + campaign.count), workers(campaign.numJobs) {}

  CampaignResult run();

private:
  bool start(Worker &worker);
  void spawn(Worker &worker);
  void work(const Worker &worker, int writer);
  void readLine(Worker &worker, llvm::StringRef line);
  void finish(Worker &worker);
  void note(uint64_t seed);

  const Campaign &campaign;
  uint64_t next, end;
  std::vector<Worker> workers;
  std::set<uint64_t> wrong;
  CampaignResult result;
};

} // namespace

/// The child's side: a line for each graph before it ("at SEED") and after it
/// ("done KIND..." or "wrong").
void Crew::work(const Worker &worker, int writer) {
  constexpr unsigned secondsForOne = 60;
  llvm::raw_fd_ostream os(writer, /*shouldClose=*/true, /*unbuffered=*/true);
  for (uint64_t seed = worker.seed; seed < worker.end; ++seed) {
    os << "at " + std::to_string(seed) + "\n";
    alarm(secondsForOne);
    Plan plan = makePlan(seed, campaign.maxNodes);
    std::set<std::string> kinds;
    for (const Entry &entry : plan.entries)
      if (!entry.isStorage())
        kinds.insert(getNodeInfo(entry.kind).name.str());
    os << "kinds " + llvm::join(kinds, " ") + "\n";
    if (check(plan.print(), pickSettings(seed)).verdict != Verdict::Same)
      os << "wrong\n";
  }
  os << "end\n";
}

void Crew::spawn(Worker &worker) {
  int ends[2];
  if (pipe(ends))
    llvm::report_fatal_error("no pipe");
  worker.pid = fork();
  if (worker.pid == 0) {
    close(ends[0]);
    // Assertions speak when the graph is shrunk.
    close(STDERR_FILENO);
    work(worker, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  worker.reader = ends[0];
}

bool Crew::start(Worker &worker) {
  constexpr uint64_t piece = 100;
  if (next == end)
    return false;
  worker.seed = next;
  worker.end = next = std::min(end, next + piece);
  spawn(worker);
  return true;
}

/// What is found is told at once: a campaign may be ended before its end.
void Crew::note(uint64_t seed) {
  wrong.insert(seed);
  llvm::errs() << "seed " << seed << " is wrong\n";
}

void Crew::readLine(Worker &worker, llvm::StringRef line) {
  if (line.consume_front("at "))
    line.getAsInteger(10, worker.seed);
  else if (line == "wrong")
    note(worker.seed);
  else if (line == "end")
    worker.seed = worker.end;
  else if (line.consume_front("kinds "))
    for (llvm::StringRef kind : llvm::split(line, ' '))
      ++result.graphsOfKind[kind.str()];
}

/// \p worker's pipe is closed: it is done, or a graph has ended it.
void Crew::finish(Worker &worker) {
  close(worker.reader);
  worker.reader = -1;
  worker.unread.clear();
  waitpid(worker.pid, nullptr, 0);
  if (worker.seed == worker.end) {
    start(worker);
    return;
  }
  note(worker.seed);
  if (++worker.seed < worker.end)
    spawn(worker);
  else
    start(worker);
}

CampaignResult Crew::run() {
  for (Worker &worker : workers)
    start(worker);
  for (;;) {
    std::vector<pollfd> polled;
    for (Worker &worker : workers)
      polled.push_back({worker.reader, POLLIN, 0});
    if (llvm::all_of(workers, [](auto &worker) { return worker.reader < 0; }))
      break;
    poll(polled.data(), polled.size(), -1);
    for (auto [worker, ready] : llvm::zip_equal(workers, polled)) {
      if (worker.reader < 0 || !ready.revents)
        continue;
      char buffer[4096];
      ssize_t size = read(worker.reader, buffer, sizeof(buffer));
      if (size <= 0) {
        finish(worker);
        continue;
      }
      worker.unread.append(buffer, size);
      for (size_t end; (end = worker.unread.find('\n')) != std::string::npos;) {
        readLine(worker, llvm::StringRef(worker.unread).take_front(end));
        worker.unread.erase(0, end + 1);
      }
    }
  }
  result.wrongSeeds.assign(wrong.begin(), wrong.end());
  return std::move(result);
}

CampaignResult fuzz::runCampaign(const Campaign &campaign) {
  return Crew(campaign).run();
}

//===- ProcessGroup.cpp - Processes that work together --------------------===//

#include "glowish/Distributed/ProcessGroup.h"
#include "TransportLibrary.h"
#include "glowish/Distributed/AllReduce.h"
#include "glowish/Support/BuildIdentity.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Log.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include <chrono>
#include <cstdlib>

using namespace glowish;
using Clock = std::chrono::steady_clock;

char AgreedError::ID = 0;

static ProcessGroup *current = nullptr;

//===- Joining ------------------------------------------------------------===//

/// By what launchers state: Open MPI, those with PMIx (srun), MPICH and Intel
/// MPI.
static bool isLaunched() {
  return llvm::any_of(
      llvm::ArrayRef({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}),
      [](const char *name) {
        return llvm::sys::Process::GetEnv(name).has_value();
      });
}

ProcessGroup *ProcessGroup::getCurrent() { return current; }

llvm::Expected<std::unique_ptr<ProcessGroup>> ProcessGroup::join() {
  if (!isLaunched())
    return nullptr;
  GLOWISH_ASSIGN_OR_RETURN(const Transport *transport, loadTransport());
  std::unique_ptr<ProcessGroup> group(new ProcessGroup(*transport));
  if (const char *reason = transport->join(&group->rank, &group->size))
    return makeError("{0}", reason);
  current = group.get();
  if (group->size == 1)
    return nullptr;
  setLogProcess("rank " + std::to_string(group->rank));
  GLOWISH_VLOG(1, "one of {0} processes", group->size);
  return std::move(group);
}

ProcessGroup::~ProcessGroup() {
  assert(requests.empty() && "a reduction has not been finished");
  current = nullptr;
  setLogProcess("");
  transport.leave();
}

llvm::Error ProcessGroup::checkBuilds() {
  KeyHasher key;
  addBuildIdentity(key);
  KeyHasher::Digest digest = *key.finish();
  // A size that no release may change: the others may be of another one.
  constexpr size_t descriptionSize = 64;
  std::string own = "glowish " GLOWISH_VERSION ", build " +
                    llvm::toHex(llvm::ArrayRef(digest).take_front(8),
                                /*LowerCase=*/true);
  own.resize(descriptionSize, ' ');
  std::string all(descriptionSize * size, ' ');
  transport.allGather(own.data(), descriptionSize, all.data());
  llvm::StringRef first = llvm::StringRef(all).take_front(descriptionSize);
  for (unsigned other = 1; other < size; ++other) {
    llvm::StringRef text =
        llvm::StringRef(all).substr(other * descriptionSize, descriptionSize);
    if (text != first)
      return llvm::make_error<AgreedError>(
          llvm::formatv("rank {0} runs {1}, rank 0 runs {2}; accepted: the "
                        "same build in all processes",
                        other, text.trim(), first.trim()));
  }
  return llvm::Error::success();
}

//===- Data ---------------------------------------------------------------===//

void ProcessGroup::broadcast(llvm::MutableArrayRef<uint8_t> bytes) {
  transport.broadcast(bytes.data(), bytes.size());
}

void ProcessGroup::broadcast(std::string &bytes) {
  uint64_t count = bytes.size();
  transport.broadcast(&count, sizeof(count));
  bytes.resize(count);
  transport.broadcast(bytes.data(), count);
}

std::vector<std::string> ProcessGroup::gather(llvm::StringRef bytes) {
  uint64_t own = bytes.size();
  std::vector<uint64_t> sizes(size);
  transport.allGather(&own, sizeof(own), sizes.data());
  uint64_t total = 0;
  for (uint64_t each : sizes)
    total += each;
  std::string all(isFirst() ? total : 0, 0);
  transport.gather(bytes.data(), sizes.data(),
                   isFirst() ? all.data() : nullptr);
  std::vector<std::string> parts;
  llvm::StringRef rest = all;
  for (uint64_t each : sizes) {
    if (!isFirst())
      break;
    parts.push_back(rest.take_front(each).str());
    rest = rest.drop_front(each);
  }
  return parts;
}

int64_t ProcessGroup::sum(int64_t value) {
  std::vector<int64_t> values(size);
  transport.allGather(&value, sizeof(value), values.data());
  int64_t total = 0;
  for (int64_t each : values)
    total += each;
  return total;
}

//===- Errors -------------------------------------------------------------===//

llvm::Error ProcessGroup::agree(llvm::Error error) {
  // An error without text is one, too.
  std::string own = error ? "!" + llvm::toString(std::move(error)) : "";
  std::vector<std::string> messages = gather(own);
  std::string agreed;
  for (auto [other, message] : llvm::enumerate(messages)) {
    if (message.empty())
      continue;
    agreed = message;
    if (!llvm::all_equal(messages))
      agreed.insert(1, llvm::formatv("rank {0}: ", other).str());
    break;
  }
  broadcast(agreed);
  if (agreed.empty())
    return llvm::Error::success();
  return llvm::make_error<AgreedError>(agreed.substr(1));
}

llvm::Error ProcessGroup::checkEqual(llvm::StringRef bytes,
                                     llvm::StringRef what) {
  std::vector<std::string> all = gather(bytes);
  std::string message;
  for (auto [other, each] : llvm::enumerate(all))
    if (message.empty() && each != all.front())
      message =
          llvm::formatv("rank {0} has other {1} than rank 0", other, what);
  broadcast(message);
  if (message.empty())
    return llvm::Error::success();
  return llvm::make_error<AgreedError>(message);
}

void ProcessGroup::abort(llvm::StringRef message) {
  reportError(makeError("rank {0}: {1}", rank, message));
  transport.abort(EXIT_FAILURE);
  std::_Exit(EXIT_FAILURE);
}

//===- Averages -----------------------------------------------------------===//

void ProcessGroup::startAverage(void *data, int64_t count, ElemKind kind) {
  assert((kind == ElemKind::Float || kind == ElemKind::Double) &&
         "a kind of AllReduce");
  ++statistics.count;
  statistics.bytes += uint64_t(count * getElemSize(kind));
  bool isNew =
      requests
          .insert({data, transport.startAverage(data, uint64_t(count),
                                                kind == ElemKind::Double)})
          .second;
  (void)isNew;
  assert(isNew && "a reduction of these elements is under way");
}

void ProcessGroup::finishAverage(void *data) {
  auto request = requests.find(data);
  assert(request != requests.end() && "no reduction has begun");
  Clock::time_point start = Clock::now();
  transport.finishAverage(request->second);
  requests.erase(request);
  statistics.waitSeconds +=
      std::chrono::duration<double>(Clock::now() - start).count();
}

ReductionStatistics ProcessGroup::getStatistics() const {
  ReductionStatistics result = statistics;
  result.busySeconds = transport.getBusySeconds();
  return result;
}

void glowish_start_all_reduce(void *data, int64_t count, int32_t kind) {
  if (current)
    current->startAverage(data, count, ElemKind(kind));
}

void glowish_finish_all_reduce(void *data) {
  if (current)
    current->finishAverage(data);
}

//===- Mpi.cpp - The transport by MPI -------------------------------------===//
//
// Reductions are nonblocking. Two threads move them on, one at a time: the
// program's while it waits, and one of this library while the program computes.
// So MPI_THREAD_SERIALIZED is enough.
//
//===----------------------------------------------------------------------===//

#include "Transport.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <vector>

using namespace glowish;
using Clock = std::chrono::steady_clock;

namespace {

/// An average that is under way.
struct Request {
  void *data;
  uint64_t count;
  bool isDouble;
  MPI_Request handle;
  /// What is sent where MPI does not work in place.
  std::vector<char> sent;
  std::atomic<bool> isDone{false};
};

/// MPI's numbers of elements are ints.
constexpr uint64_t maxCount = 1 << 30;

/// From so many processes and bytes on, Open MPI reduces in a ring, unless it
/// works in place.
constexpr int minRingSize = 4;
constexpr uint64_t minRingBytes = 65536;

class Group {
public:
  const char *join(unsigned *rank, unsigned *size);
  void leave();
  void gather(const void *data, const uint64_t *sizes, void *all);
  Request *start(void *data, uint64_t count, bool isDouble);
  void finish(Request *request);
  double getBusySeconds() {
    std::lock_guard lock(mutex);
    return busySeconds;
  }

private:
  void moveOn();
  void test(Request &request);
  void setDone(Request &request);

  int rank = 0, size = 1;
  /// Guards all that follows, and every call of MPI.
  std::mutex mutex;
  std::condition_variable hasWork;
  std::vector<Request *> requests;
  bool isLeaving = false;
  std::thread thread;
  Clock::time_point busySince;
  double busySeconds = 0;
};

template <typename T> void divide(void *data, uint64_t count, int size) {
  auto *elements = static_cast<T *>(data);
  for (uint64_t i = 0; i < count; ++i)
    elements[i] /= T(size);
}

} // namespace

static Group group;

const char *Group::join(unsigned *rankOut, unsigned *sizeOut) {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) !=
      MPI_SUCCESS)
    return "MPI cannot be initialized";
  if (provided < MPI_THREAD_SERIALIZED)
    return "this MPI cannot be called by more than one thread "
           "(MPI_THREAD_SERIALIZED)";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *rankOut = unsigned(rank);
  *sizeOut = unsigned(size);
  if (size > 1)
    thread = std::thread(&Group::moveOn, this);
  return nullptr;
}

void Group::leave() {
  if (thread.joinable()) {
    {
      std::lock_guard lock(mutex);
      isLeaving = true;
    }
    hasWork.notify_one();
    thread.join();
  }
  MPI_Finalize();
}

/// Messages go one after the other: there may be more bytes in all than an int
/// counts.
void Group::gather(const void *data, const uint64_t *sizes, void *all) {
  std::lock_guard lock(mutex);
  constexpr int tag = 1;
  auto forParts = [](uint64_t size, auto visit) {
    for (uint64_t start = 0; start < size; start += maxCount)
      visit(start, int(std::min(maxCount, size - start)));
  };
  const auto *source = static_cast<const char *>(data);
  if (rank != 0) {
    forParts(sizes[rank], [&](uint64_t start, int count) {
      MPI_Send(source + start, count, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    });
    return;
  }
  auto *target = static_cast<char *>(all);
  for (int from = 0; from < size; ++from) {
    if (from == 0 && sizes[0] != 0)
      std::memcpy(target, source, sizes[0]);
    if (from != 0)
      forParts(sizes[from], [&](uint64_t start, int count) {
        MPI_Recv(target + start, count, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      });
    target += sizes[from];
  }
}

//===- Averages -----------------------------------------------------------===//

Request *Group::start(void *data, uint64_t count, bool isDouble) {
  auto *request = new Request{data, count, isDouble, MPI_REQUEST_NULL, {}, {}};
  uint64_t numBytes = count * (isDouble ? sizeof(double) : sizeof(float));
  const void *source = MPI_IN_PLACE;
  if (size >= minRingSize && numBytes >= minRingBytes) {
    request->sent.assign(static_cast<char *>(data),
                         static_cast<char *>(data) + numBytes);
    source = request->sent.data();
  }
  {
    std::lock_guard lock(mutex);
    if (requests.empty())
      busySince = Clock::now();
    // MPI ends all processes where this fails.
    MPI_Iallreduce(source, data, int(count), isDouble ? MPI_DOUBLE : MPI_FLOAT,
                   MPI_SUM, MPI_COMM_WORLD, &request->handle);
    requests.push_back(request);
  }
  hasWork.notify_one();
  return request;
}

/// With the mutex.
void Group::setDone(Request &request) {
  std::erase(requests, &request);
  if (requests.empty())
    busySeconds +=
        std::chrono::duration<double>(Clock::now() - busySince).count();
  if (request.isDouble)
    divide<double>(request.data, request.count, size);
  else
    divide<float>(request.data, request.count, size);
  request.isDone = true;
}

/// With the mutex.
void Group::test(Request &request) {
  if (request.isDone)
    return;
  int flag = 0;
  MPI_Test(&request.handle, &flag, MPI_STATUS_IGNORE);
  if (flag)
    setDone(request);
}

void Group::finish(Request *request) {
  while (!request->isDone) {
    {
      std::lock_guard lock(mutex);
      test(*request);
    }
    if (!request->isDone)
      std::this_thread::yield();
  }
  {
    // The other thread may just have set isDone, and is then still in test().
    std::lock_guard lock(mutex);
  }
  delete request;
}

/// The pauses leave the processor to the program, which is to compute in the
/// meantime.
void Group::moveOn() {
  constexpr std::chrono::microseconds pause(20);
  std::unique_lock lock(mutex);
  while (true) {
    hasWork.wait(lock, [&] { return isLeaving || !requests.empty(); });
    if (isLeaving)
      return;
    // Any test moves all of them on.
    std::vector<Request *> pending = requests;
    for (Request *request : pending)
      test(*request);
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
  }
}

//===- Functions ----------------------------------------------------------===//

static void broadcast(void *data, uint64_t numBytes) {
  auto *bytes = static_cast<char *>(data);
  for (uint64_t start = 0; start < numBytes; start += maxCount)
    MPI_Bcast(bytes + start, int(std::min(maxCount, numBytes - start)),
              MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allGather(const void *data, uint64_t numBytes, void *all) {
  MPI_Allgather(data, int(numBytes), MPI_BYTE, all, int(numBytes), MPI_BYTE,
                MPI_COMM_WORLD);
}

static const Transport transport = {
    [](unsigned *rank, unsigned *size) { return group.join(rank, size); },
    [](int exitCode) { MPI_Abort(MPI_COMM_WORLD, exitCode); },
    [] { group.leave(); },
    broadcast,
    allGather,
    [](const void *data, const uint64_t *sizes, void *all) {
      group.gather(data, sizes, all);
    },
    [](void *data, uint64_t count, bool isDouble) -> void * {
      return group.start(data, count, isDouble);
    },
    [](void *request) { group.finish(static_cast<Request *>(request)); },
    [] { return group.getBusySeconds(); }};

extern "C" __attribute__((visibility("default"))) const char *
glowish_transport_version() {
  return transportVersion;
}

extern "C" __attribute__((visibility("default"))) const Transport *
glowish_transport() {
  return &transport;
}

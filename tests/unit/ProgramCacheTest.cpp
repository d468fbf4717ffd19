//===- ProgramCacheTest.cpp - Compiled programs on disk -------------------===//

#include "ProgramCacheFixture.h"
#include "ProgramImages.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/SpecializedSessions.h"
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>

using namespace glowish;

namespace {

std::vector<std::string> getPhases(const PhaseTimer &timer) {
  std::vector<std::string> names;
  for (const PhaseTimer::Row &row : timer.getRows())
    names.push_back(row.name);
  return names;
}

//===- Hits ---------------------------------------------------------------===//

TEST_F(ProgramCacheTest, HitsCompileNothing) {
  RunnableModel first = llvm::cantFail(makeRunnable(getRequest(), cache.get()));
  EXPECT_FALSE(first.isFromCache);
  // As in another process.
  cache = openCache();
  PhaseTimer timer;
  ModelRequest request = getRequest();
  request.options.timer = &timer;
  RunnableModel second = llvm::cantFail(makeRunnable(request, cache.get()));
  EXPECT_TRUE(second.isFromCache);
  EXPECT_THAT(getPhases(timer), testing::ElementsAre("cache"));
  EXPECT_EQ(cache->getCounts().hits, 1u);
  EXPECT_EQ(cache->getCounts().misses, 0u);
  RunnableModel without = llvm::cantFail(makeRunnable(getRequest()));
  std::vector<float> expected = {1, 4, 9, 4, 10, 18};
  for (const RunnableModel *model : {&first, &second, &without})
    EXPECT_EQ(run(model->programs.front().program, 2), expected);
  EXPECT_THAT(warnings, testing::IsEmpty());
}

/// What is said of a model is said again.
TEST_F(ProgramCacheTest, HitsRepeatWarnings) {
  std::vector<std::string> told[2];
  for (std::vector<std::string> &lines : told) {
    ModelRequest request = getRequest();
    request.importOptions.warn = [&](llvm::StringRef line) {
      lines.push_back(line.str());
    };
    llvm::cantFail(makeRunnable(request, cache.get()));
  }
  EXPECT_EQ(cache->getCounts().hits, 1u);
  EXPECT_THAT(told[0], testing::ElementsAre(testing::HasSubstr("nonsense")));
  EXPECT_EQ(told[0], told[1]);
}

TEST_F(ProgramCacheTest, HitsHaveSequences) {
  put("sequence.onnxtxt", R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "g"
  node { op_type: "SplitToSequence" input: "x" output: "s" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 2 } } } } }
  output { name: "s" type { sequence_type { elem_type { tensor_type {
    elem_type: 1 } } } } }
})");
  for (size_t hits : {0, 1}) {
    std::vector<SequenceOutput> sequences;
    ModelRequest request{*backend, in("sequence.onnxtxt"), {}, {}};
    request.importOptions.sequenceOutputs = &sequences;
    llvm::cantFail(makeRunnable(request, cache.get()));
    EXPECT_EQ(cache->getCounts().hits, hits);
    ASSERT_EQ(sequences.size(), 1u);
    EXPECT_EQ(sequences[0].name, "s");
    EXPECT_EQ(sequences[0].length, 2u);
  }
}

/// The sessions of three processes, each with one of three shapes in memory:
/// the states go along, and only the first compiles.
TEST_F(ProgramCacheTest, SessionsKeepStates) {
  for (size_t compiled : {3, 0, 0}) {
    cache = openCache();
    SpecializedSessions sessions(*backend, in("model.onnxtxt"), importOptions,
                                 {}, /*capacity=*/1, cache.get());
    float total = 0;
    for (int64_t count : {1, 2, 1, 3, 2}) {
      Tensor x = makeInput(count);
      Session *session = llvm::cantFail(sessions.run({{"x", &x}}));
      Tensor y =
          session->getOutput(llvm::cantFail(session->findPlaceholder("y")));
      EXPECT_EQ(y.data<float>().front(), 1 + total);
      for (float value : x.data<float>())
        total += value;
    }
    EXPECT_EQ(sessions.countCompiled(), compiled);
    EXPECT_EQ(sessions.countKept(), 1u);
  }
}

/// A program for a range, whose inputs state their extents.
TEST_F(ProgramCacheTest, KeepsRanges) {
  for (bool isHit : {false, true}) {
    ModelRequest request{*backend, in("model.onnxtxt"), importOptions, {}};
    request.importOptions.symbolRanges["N"] = {1, 4};
    RunnableModel model = llvm::cantFail(makeRunnable(request, cache.get()));
    EXPECT_EQ(model.isFromCache, isHit);
    std::unique_ptr<Session> session =
        llvm::cantFail(Session::create(model.programs.front().program));
    EXPECT_THAT(run(*session, 1), testing::ElementsAre(1, 4, 9));
    // 6 is the state.
    EXPECT_THAT(run(*session, 2), testing::ElementsAre(7, 10, 15, 10, 16, 24));
    const Buffer *extent = llvm::cantFail(session->findPlaceholder("N"));
    llvm::cantFail(session->setInput(
        extent, Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {5})));
    EXPECT_THAT(llvm::toString(session->run()),
                testing::HasSubstr("accepted: 1 to 4"));
  }
}

/// Several programs with one constant region.
TEST_F(ProgramCacheTest, KeepsVariants) {
  for (bool isHit : {false, true}) {
    ModelRequest request{*backend, in("model.onnxtxt"), importOptions, {}};
    request.symbols.push_back({"N", {1, 3}});
    RunnableModel model = llvm::cantFail(makeRunnable(request, cache.get()));
    EXPECT_EQ(model.isFromCache, isHit);
    ASSERT_EQ(model.programs.size(), 2u);
    const auto &[one, three] = std::tie(model.programs[0], model.programs[1]);
    EXPECT_EQ(one.title, "N=1");
    EXPECT_EQ(three.title, "N=3");
    EXPECT_EQ(one.program.constants, three.program.constants);
    EXPECT_THAT(run(one.program, 1), testing::ElementsAre(1, 4, 9));
    EXPECT_THAT(run(three.program, 3),
                testing::ElementsAre(1, 4, 9, 4, 10, 18, 7, 16, 27));
  }
}

/// Inputs in the arena, which a run destroys, and an output with extents of its
/// own.
TEST_F(ProgramCacheTest, KeepsPlaces) {
  put("nonzero.onnxtxt", R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "g"
  node { op_type: "NonZero" input: "x" output: "y" name: "nonzero" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 7 } } }
})");
  for (bool isHit : {false, true}) {
    ModelRequest request{*backend, in("nonzero.onnxtxt"), {}, {}};
    request.options.placesIOInArena = true;
    RunnableModel model = llvm::cantFail(makeRunnable(request, cache.get()));
    EXPECT_EQ(model.isFromCache, isHit);
    std::unique_ptr<Session> session =
        llvm::cantFail(Session::create(model.programs.front().program));
    ASSERT_EQ(session->getOutputs().size(), 1u);
    llvm::cantFail(session->setInput(
        llvm::cantFail(session->findPlaceholder("x")),
        Tensor::fromValues<float>(Type(ElemKind::Float, {4}), {0, 1, 0, 2})));
    for (int i = 0; i < 2; ++i) {
      llvm::cantFail(session->run());
      Tensor y = session->getOutput(session->getOutputs().front());
      EXPECT_THAT(y.data<int64_t>().vec(), testing::ElementsAre(1, 3));
    }
  }
}

TEST_F(ProgramCacheTest, InterpreterKeepsNothing) {
  std::unique_ptr<Backend> interpreter = createInterpreter();
  for (int i = 0; i < 2; ++i) {
    ModelRequest request{*interpreter, in("model.onnxtxt"), importOptions, {}};
    request.importOptions.symbols["N"] = 1;
    RunnableModel model = llvm::cantFail(makeRunnable(request, cache.get()));
    EXPECT_FALSE(model.isFromCache);
    EXPECT_THAT(run(model.programs.front().program, 1),
                testing::ElementsAre(1, 4, 9));
  }
  EXPECT_THAT(list(in("cache")), testing::IsEmpty());
}

//===- Corruption ---------------------------------------------------------===//

TEST_F(ProgramCacheTest, CorruptFilesAreReplaced) {
  llvm::cantFail(makeRunnable(getRequest(), cache.get()));
  std::string name = getOnlyFile(), bytes = read(name);
  KeyHasher::Digest key = getKey(getRequest());
  ASSERT_TRUE(cache->find(key));
  size_t corrupt = 0;
  auto expectCorrupt = [&](llvm::StringRef contents, const std::string &what) {
    put(name, contents);
    EXPECT_FALSE(cache->find(key)) << what;
    EXPECT_EQ(cache->getCounts().corrupt, ++corrupt) << what;
  };
  // Every byte of the header, and many of the rest.
  for (size_t i = 0; i < bytes.size(); i += i < 160 ? 1 : 13) {
    std::string other = bytes;
    other[i] ^= char(1 << (i % 8));
    expectCorrupt(other, "byte " + std::to_string(i));
    if (HasFailure())
      break;
  }
  for (size_t size = 0; size < bytes.size(); size += size < 160 ? 1 : 97)
    expectCorrupt(llvm::StringRef(bytes).take_front(size),
                  std::to_string(size) + " bytes");
  expectCorrupt(bytes + std::string(1, '\0'), "one byte more");
  expectCorrupt(bytes + bytes, "twice");
  // The programs for another shape are whole, and foreign.
  llvm::cantFail(makeRunnable(getRequest(3), cache.get()));
  std::vector<std::string> names = listPrograms();
  ASSERT_EQ(names.size(), 2u);
  std::string foreign = "cache/" + names["cache/" + names[0] == name ? 1 : 0];
  expectCorrupt(read(foreign), "foreign");
  // The next run compiles, and what it keeps is whole again.
  RunnableModel again = llvm::cantFail(makeRunnable(getRequest(), cache.get()));
  EXPECT_FALSE(again.isFromCache);
  EXPECT_THAT(run(again.programs.front().program, 2),
              testing::ElementsAre(1, 4, 9, 4, 10, 18));
  EXPECT_EQ(read(name), bytes);
  EXPECT_TRUE(cache->find(key));
}

/// A file that is not ours, but has a right checksum, does no harm as it is
/// read.
TEST_F(ProgramCacheTest, ForgedFilesAreRead) {
  llvm::cantFail(makeRunnable(getRequest(), cache.get()));
  std::string bytes = read(getOnlyFile());
  KeyHasher::Digest key = getKey(getRequest());
  constexpr size_t checksumAt = 16, headerSize = 128;
  size_t numRefused = 0, numTried = 0;
  for (size_t i = headerSize; i < bytes.size(); i += 7)
    for (char change : {char(0xff), char(0x80), char(1)}) {
      std::string other = bytes;
      other[i] ^= change;
      llvm::BLAKE3 hasher;
      hasher.update(llvm::StringRef(other).drop_front(checksumAt + 32));
      llvm::copy(hasher.final<32>(), other.begin() + checksumAt);
      auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
          other.size(), "", llvm::Align(64));
      llvm::copy(other, buffer->getBufferStart());
      ++numTried;
      numRefused += readImages(std::move(buffer), key) == nullptr;
    }
  EXPECT_GT(numRefused, 0u);
  EXPECT_LT(numRefused, numTried);
}

/// What can't be written is told, and the program runs.
TEST_F(ProgramCacheTest, FailuresToWriteAreWarnings) {
  ASSERT_FALSE(llvm::sys::fs::create_directory(
      in("cache/" + getFileName(getRequest()))));
  RunnableModel model = llvm::cantFail(makeRunnable(getRequest(), cache.get()));
  EXPECT_THAT(run(model.programs.front().program, 2),
              testing::ElementsAre(1, 4, 9, 4, 10, 18));
  EXPECT_THAT(warnings, testing::ElementsAre(testing::ContainsRegex(
                            "^the programs are not kept: cannot write '.*': it "
                            "is a directory$")));
  put("file", "");
  auto opened = ProgramCache::open({in("file/cache")});
  EXPECT_THAT(llvm::toString(opened.takeError()),
              testing::HasSubstr("cannot make the folder"));
}

//===- Several users ------------------------------------------------------===//

TEST_F(ProgramCacheTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  std::atomic<size_t> right = 0;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      auto own = llvm::cantFail(CPUBackend::createLocal(getQuickTarget()));
      for (int i = 0; i < 6; ++i) {
        int64_t count = 1 + (i + number) % 2;
        ModelRequest request{*own, in("model.onnxtxt"), importOptions, {}};
        request.importOptions.symbols["N"] = count;
        RunnableModel model =
            llvm::cantFail(makeRunnable(request, cache.get()));
        right += run(model.programs.front().program, count)[2] == 9;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 24u);
  EXPECT_EQ(listPrograms().size(), 2u);
  EXPECT_EQ(list(in("cache")).size(), 2u);
  EXPECT_EQ(cache->getCounts().corrupt, 0u);
  EXPECT_GE(cache->getCounts().hits, 24u - 8u);
}

/// Processes that compile, read, remove and corrupt files at the same time.
TEST_F(ProgramCacheTest, ProcessesShareIt) {
  llvm::cantFail(makeRunnable(getRequest(1), cache.get()));
  uint64_t size = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(in(getOnlyFile()), size));
  std::vector<pid_t> children;
  for (int number = 0; number < 4; ++number) {
    pid_t child = fork();
    if (child == 0) {
      auto own = openCache(/*maxBytes=*/2 * size);
      for (int i = 0; i < 8; ++i) {
        int64_t count = 1 + (i + number) % 3;
        RunnableModel model =
            llvm::cantFail(makeRunnable(getRequest(count), own.get()));
        if (run(model.programs.front().program, count)[2] != 9)
          _exit(1);
        for (const std::string &name : listPrograms())
          if (number == 0)
            (void)truncate(in("cache/" + name).c_str(), 1000);
      }
      _exit(0);
    }
    ASSERT_GT(child, 0);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

/// Those that were used least recently go, and no other files.
TEST_F(ProgramCacheTest, LimitsItsSize) {
  auto pause = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  auto all = openCache(1 << 30, "all");
  std::vector<uint64_t> sizes = {0};
  for (int64_t count : {1, 2, 3, 4}) {
    llvm::cantFail(makeRunnable(getRequest(count), all.get()));
    uint64_t size = 0;
    ASSERT_FALSE(llvm::sys::fs::file_size(
        in("all/" + getFileName(getRequest(count))), size));
    sizes.push_back(size);
  }
  uint64_t limit = sizes[1] + sizes[3] + std::max(sizes[2], sizes[4]);
  put("cache/notes.txt", std::string(2 * limit, 'x'));
  cache = openCache(limit);
  for (int64_t count : {1, 2, 3}) {
    llvm::cantFail(makeRunnable(getRequest(count), cache.get()));
    pause();
  }
  EXPECT_EQ(listPrograms().size(), 3u);
  EXPECT_TRUE(
      llvm::cantFail(makeRunnable(getRequest(1), cache.get())).isFromCache);
  pause();
  llvm::cantFail(makeRunnable(getRequest(4), cache.get()));
  EXPECT_EQ(listPrograms().size(), 3u);
  for (auto [count, isKept] :
       {std::pair(1, true), {2, false}, {3, true}, {4, true}})
    EXPECT_EQ(cache->find(getKey(getRequest(count))) != nullptr, isKept)
        << count;
  EXPECT_EQ(list(in("cache")).size(), 4u);
  // What a process has left goes after a day.
  for (const char *name : {"cache/.glowish-0.tmp", "cache/.glowish-1.tmp"})
    put(name, "");
  std::filesystem::last_write_time(
      in("cache/.glowish-0.tmp"),
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  llvm::cantFail(makeRunnable(getRequest(2), cache.get()));
  EXPECT_EQ(read("cache/.glowish-0.tmp"), "(none)");
  EXPECT_EQ(read("cache/.glowish-1.tmp"), "");
  // One that is too large by itself removes nothing.
  std::vector<std::string> before = listPrograms();
  cache = openCache(100);
  llvm::cantFail(makeRunnable(getRequest(5), cache.get()));
  EXPECT_EQ(listPrograms(), before);
  EXPECT_THAT(warnings, testing::ElementsAre(testing::ContainsRegex(
                            "^the programs are not kept: they have [0-9]+ "
                            "bytes, and the folder may have [0-9]+$")));
}

} // namespace

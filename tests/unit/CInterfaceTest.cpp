//===- CInterfaceTest.cpp - The interface in C ----------------------------===//

#include "CInterfaceFixture.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <thread>

using namespace glowish;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

/// Convolutions of many shapes, whose code takes more than a moment.
std::string makeDeepModel(unsigned depth) {
  std::string text = "ir_version: 7 opset_import { version: 13 }\n"
                     "graph { name: \"deep\"\n"
                     "input { name: \"x0\" type { tensor_type { elem_type: 1 "
                     "shape { dim { dim_value: 1 } dim { dim_value: 3 } "
                     "dim { dim_value: 33 } dim { dim_value: 33 } } } } }\n";
  llvm::raw_string_ostream os(text);
  for (unsigned i = 0, channels = 3; i < depth; ++i) {
    unsigned next = channels + 5;
    os << "initializer { name: \"w" << i << "\" data_type: 1 dims: " << next
       << " dims: " << channels << " dims: 3 dims: 3 raw_data: \"";
    for (unsigned byte = 0; byte < next * channels * 36; ++byte)
      os << (byte % 4 == 3 ? "\\074" : "\\000");
    os << "\" }\nnode { op_type: \"Conv\" input: \"x" << i << "\" input: \"w"
       << i << "\" output: \"x" << i + 1
       << "\" attribute { name: \"pads\" type: INTS ints: 1 ints: 1 ints: 1 "
          "ints: 1 } }\n";
    channels = next;
  }
  os << "output { name: \"x" << depth
     << "\" type { tensor_type { elem_type: 1 } } } }\n";
  return text;
}

TEST_F(CInterfaceTest, RunsWithStates) {
  glowish_program *program = compile("N,3");
  ASSERT_EQ(glowish_program_input_count(program), 1u);
  const glowish_value *x = glowish_program_input(program, 0);
  EXPECT_STREQ(x->name, "x");
  EXPECT_EQ(x->kind, GLOWISH_FLOAT);
  ASSERT_EQ(x->rank, 1);
  EXPECT_EQ(x->extents[0], 3);
  EXPECT_EQ(x->bytes, 12u);
  EXPECT_EQ(glowish_program_input(program, 1), nullptr);
  ASSERT_EQ(glowish_program_output_count(program), 1u);
  EXPECT_STREQ(glowish_program_output(program, 0)->name, "y");
  ASSERT_EQ(glowish_program_state_count(program), 1u);
  EXPECT_EQ(glowish_program_state(program, 0)->rank, 0);

  glowish_session *session = nullptr;
  ASSERT_EQ(take(glowish_session_create(program, &session)), "");
  // A session stays when its program is freed.
  glowish_program_free(program);
  const float given[] = {1, 2, 3};
  EXPECT_EQ(take(glowish_session_set_input(session, 0, given, nullptr)), "");
  EXPECT_EQ(take(glowish_session_run(session)), "");
  const void *data = nullptr;
  int64_t extent = 0;
  EXPECT_EQ(take(glowish_session_output(session, 0, &data, &extent)), "");
  EXPECT_EQ(extent, 3);
  EXPECT_THAT(llvm::ArrayRef(static_cast<const float *>(data), 3),
              testing::ElementsAre(2, 4, 6));
  void *state = nullptr;
  EXPECT_EQ(take(glowish_session_state(session, 0, &state)), "");
  EXPECT_EQ(*static_cast<float *>(state), 6);
  *static_cast<float *>(state) = 10;

  float bound[] = {0, 4, 5, 6}, result[4] = {};
  EXPECT_EQ(take(glowish_session_bind_input(session, 0, bound + 1)), "");
  EXPECT_EQ(take(glowish_session_bind_output(session, 0, result + 1)), "");
  EXPECT_EQ(take(glowish_session_run(session)), "");
  EXPECT_THAT(result, testing::ElementsAre(0, 28, 30, 32));
  glowish_session_free(session);
}

TEST_F(CInterfaceTest, RunsWithExtentsOfEachRun) {
  glowish_program *program = compile("N,1..17");
  glowish_session *session = nullptr;
  ASSERT_EQ(take(glowish_session_create(program, &session)), "");
  const std::vector<float> ones(17, 1);
  for (int64_t extent : {3, 17, 1}) {
    EXPECT_EQ(take(glowish_session_set_input(session, 0, ones.data(), &extent)),
              "");
    EXPECT_EQ(take(glowish_session_run(session)), "");
    const void *data = nullptr;
    int64_t left = 0;
    EXPECT_EQ(take(glowish_session_output(session, 0, &data, &left)), "");
    EXPECT_EQ(left, extent);
  }
  int64_t negative = -1;
  for (int64_t wrong : {0, 18})
    EXPECT_EQ(take(glowish_session_set_input(session, 0, ones.data(), &wrong)),
              "input 'x' is float<" + std::to_string(wrong) +
                  ">: dimension 0 is N, which is 1 to 17");
  EXPECT_THAT(
      take(glowish_session_set_input(session, 0, ones.data(), &negative)),
      HasSubstr("input 'x'"));
  EXPECT_THAT(take(glowish_session_bind_input(session, 0, ones.data())),
              HasSubstr("'x' is in the memory of the session"));
  glowish_session_free(session);
  glowish_program_free(program);
}

TEST_F(CInterfaceTest, RefusesExtentsThatContradict) {
  write(path, R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "g"
  node { op_type: "Add" input: "a" input: "b" output: "sum" }
  node { op_type: "Concat" input: "sum" input: "c" output: "y"
         attribute { name: "axis" type: INT i: 0 } }
  input { name: "a" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "N" } } } } }
  input { name: "b" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "N" } } } } }
  input { name: "c" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "2*N + 1" } } } } }
  output { name: "y" }
})");
  glowish_options_free(options);
  options = glowish_options_create();
  glowish_program *program = compile("N,1..5");
  glowish_session *session = nullptr;
  ASSERT_EQ(take(glowish_session_create(program, &session)), "");
  const std::vector<float> ones(11, 1);
  auto run = [&](int64_t a, int64_t b, int64_t c) {
    int64_t extents[] = {a, b, c};
    for (size_t i = 0; i < 3; ++i)
      EXPECT_EQ(
          take(glowish_session_set_input(session, i, ones.data(), &extents[i])),
          "");
    return take(glowish_session_run(session));
  };
  EXPECT_EQ(run(3, 3, 7), "");
  EXPECT_EQ(run(2, 4, 9), "input 'a' is float<2>: dimension 0 is N, and N is 4 "
                          "in input 'b'");
  EXPECT_EQ(run(4, 4, 7), "input 'c' is float<7>: dimension 0 is 2*N + 1, and "
                          "N is 4 in input 'a'");
  const void *data = nullptr;
  int64_t left = 0;
  EXPECT_EQ(run(4, 4, 9), "");
  EXPECT_EQ(take(glowish_session_output(session, 0, &data, &left)), "");
  EXPECT_EQ(left, 13);
  glowish_session_free(session);
  glowish_program_free(program);
}

/// There is no folder for temporary files.
TEST_F(CInterfaceTest, WritesTheToolsBundle) {
  const char *before = std::getenv("TMPDIR");
  std::string temporary = before ? before : "";
  setenv("TMPDIR", in("none").c_str(), /*overwrite=*/1);
  auto restore = llvm::make_scope_exit([&] {
    if (before)
      setenv("TMPDIR", temporary.c_str(), /*overwrite=*/1);
    else
      unsetenv("TMPDIR");
  });
  glowish_model *fromMemory = nullptr;
  ASSERT_EQ(take(glowish_model_open_memory(stateModel.data(), stateModel.size(),
                                           "model.onnxtxt", &fromMemory)),
            "");
  EXPECT_EQ(take(glowish_options_bind_dimension(options, "N", 7)), "");
  EXPECT_EQ(take(glowish_options_set(options, "weights", "embed")), "");
  EXPECT_EQ(take(glowish_compile_bundle(fromMemory, options, in("out").c_str(),
                                        nullptr)),
            "");
  glowish_model_free(fromMemory);
  EXPECT_TRUE(llvm::sys::fs::exists(in("out/model.o")));
  EXPECT_TRUE(llvm::sys::fs::exists(in("out/model.h")));
}

/// A file that is no model is called by its name, and the bytes by theirs.
TEST_F(CInterfaceTest, TellsWhatIsNoModel) {
  glowish_model *opened = nullptr;
  ASSERT_EQ(take(glowish_model_open_memory("GGUF", 4, "net.onnx", &opened)),
            "");
  glowish_program *program = nullptr;
  EXPECT_THAT(take(glowish_compile(opened, options, nullptr, &program)),
              MatchesRegex("'memory:[0-9]+/net.onnx' is a GGUF file, .*"));
  EXPECT_THAT(
      take(glowish_compile_bundle(opened, options, in("out").c_str(), nullptr)),
      HasSubstr("/net.onnx' is a GGUF file, "));
  EXPECT_EQ(program, nullptr);
  glowish_model_free(opened);
}

TEST_F(CInterfaceTest, WarnsOfTargetsWithoutTests) {
  glowish_model *opened = open(path);
  EXPECT_EQ(take(glowish_options_bind_dimension(options, "N", 7)), "");
  glowish_job *job = glowish_job_create();
  std::vector<std::string> lines;
  glowish_job_on_warning(
      job,
      [](void *context, const char *line) {
        static_cast<std::vector<std::string> *>(context)->push_back(line);
      },
      &lines);
  for (const char *target : {"ve-linux-gnu", "aarch64-linux-gnu"}) {
    EXPECT_EQ(take(glowish_options_set(options, "target", target)), "");
    EXPECT_EQ(
        take(glowish_compile_bundle(opened, options, in("out").c_str(), job)),
        "");
  }
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("no test runs code for target 've-"));
  EXPECT_EQ(take(glowish_options_set(options, "target", "xtensa")), "");
  EXPECT_THAT(
      take(glowish_compile_bundle(opened, options, in("o").c_str(), job)),
      HasSubstr("target=xtensa: refused (Xtensa"));
  EXPECT_FALSE(llvm::sys::fs::exists(in("o")));
  glowish_job_free(job);
  glowish_model_free(opened);
}

TEST_F(CInterfaceTest, NamesWhatItRefuses) {
  EXPECT_EQ(take(glowish_options_set(options, "thread", "2")),
            "there is no option 'thread'; the nearest is 'threads'");
  EXPECT_EQ(take(glowish_options_set(options, "threads", "0")),
            "threads=0: accepted: an integer from 1 to 256");
  EXPECT_EQ(take(glowish_options_set(options, "winograd", "3")),
            "winograd=3: accepted: off, 2, 4");
  EXPECT_EQ(take(glowish_options_set(options, "strict", nullptr)), "");
  // A name of Glow's.
  EXPECT_EQ(take(glowish_options_set(options, "bundle-code-model", "huge")),
            "code-model=huge: accepted: small, medium, large");
  glowish_model *opened = nullptr;
  EXPECT_THAT(take(glowish_model_open("absent.onnx", &opened)),
              HasSubstr("'absent.onnx'"));
  EXPECT_THAT(take(glowish_model_open_memory("x", 1, "../net.onnx", &opened)),
              HasSubstr("'../net.onnx' is no name of a file"));
  EXPECT_EQ(opened, nullptr);
  glowish_program *program = nullptr;
  opened = open(path);
  // The dimension N has no value.
  EXPECT_THAT(take(glowish_compile(opened, options, nullptr, &program)),
              HasSubstr("define-symbol"));
  // By its former name.
  EXPECT_EQ(take(glowish_options_set(options, "onnx-define-symbol", "N,1,2")),
            "");
  EXPECT_EQ(take(glowish_compile(opened, options, nullptr, &program)),
            "define-symbol: 'N' has several values; accepted: one, or a range");
  EXPECT_THAT(take(glowish_compile_bundle(opened, options, "", nullptr)),
              HasSubstr("no folder"));
  EXPECT_EQ(take(glowish_options_set(options, "target", "none-such")), "");
  EXPECT_THAT(
      take(glowish_compile_bundle(opened, options, in("o").c_str(), nullptr)),
      HasSubstr("none-such"));
  EXPECT_EQ(program, nullptr);
  EXPECT_FALSE(llvm::sys::fs::exists(in("o/model.o")));
  glowish_model_free(opened);
}

/// What model-compiler refuses, and messages that name the settings.
TEST_F(CInterfaceTest, RefusesWhatTheToolsRefuse) {
  glowish_model *opened = open(path);
  using Settings = std::vector<std::pair<const char *, const char *>>;
  auto refuse = [&](const Settings &settings, bool isBundle) {
    glowish_options *own = glowish_options_create();
    for (auto [name, value] : settings)
      EXPECT_EQ(take(glowish_options_set(own, name, value)), "") << name;
    EXPECT_EQ(take(glowish_options_bind_dimension(own, "N", 2)), "");
    glowish_program *program = nullptr;
    std::string message = take(
        isBundle ? glowish_compile_bundle(opened, own, in("o").c_str(), nullptr)
                 : glowish_compile(opened, own, nullptr, &program));
    EXPECT_EQ(program, nullptr);
    glowish_options_free(own);
    return message;
  };
  auto refuseBundle = [&](const Settings &settings) {
    return refuse(settings, true);
  };
  for (auto [precision, value] :
       {std::pair("quantize-weights", "int8"),
        std::pair("quantize-dynamic", ""), std::pair("convert-to-fp16", "")})
    EXPECT_EQ(refuseBundle({{"train", ""}, {precision, value}}),
              std::string(precision) +
                  " and train: a bundle that learns computes in float; state "
                  "one of them");
  EXPECT_EQ(refuseBundle({{"train", ""}, {"main-entry-name", "run"}}),
            "main-entry-name has no effect with train, whose entries are "
            "NAME_infer and NAME_train_step; accepted: network-name=NAME");
  for (auto [name, value] :
       {std::pair("loss", "l1"), std::pair("label-type", "int64,[1]"),
        std::pair("momentum", "0.5")})
    EXPECT_EQ(refuseBundle({{name, value}}),
              std::string(name) +
                  " has no effect without train, which makes a bundle that "
                  "learns; accepted: with train");
  EXPECT_THAT(refuseBundle({{"backend", "Interpreter"}}),
              HasSubstr("cannot write a bundle"));
  for (auto [name, value] : {std::pair("io-in-activations", ""),
                             std::pair("memory-regions", "a:64K,b:256K")})
    EXPECT_THAT(refuseBundle({{"train", ""}, {name, value}}),
                testing::StartsWith(std::string(name) + ": "));
  for (auto [name, value] :
       {std::pair("bundle-api", "dynamic"), std::pair("network-name", "net"),
        std::pair("train", "")})
    EXPECT_EQ(refuse({{name, value}}, false),
              std::string(name) +
                  " has no effect on a program; accepted: of a bundle");
  EXPECT_EQ(refuse({{"loss", "l1"}}, false),
            "loss has no effect on a program; accepted: of a bundle or of "
            "training");
  EXPECT_FALSE(llvm::sys::fs::exists(in("o/model.o")));
  glowish_model_free(opened);
}

TEST_F(CInterfaceTest, RefusesNullAndIndices) {
  auto argument = [](glowish_error *error) {
    return take(error, GLOWISH_ERROR_ARGUMENT);
  };
  glowish_program *program = compile("N,2");
  glowish_session *session = nullptr;
  glowish_model *opened = open(path);
  ASSERT_EQ(take(glowish_session_create(program, &session)), "");
  float number = 0;
  const void *data = nullptr;
  void *state = nullptr;
  std::string messages[] = {
      argument(glowish_options_set(nullptr, "threads", "1")),
      argument(glowish_options_set(options, nullptr, "1")),
      argument(glowish_options_bind_dimension(options, nullptr, 1)),
      argument(glowish_model_open(nullptr, &opened)),
      argument(glowish_model_open("x", nullptr)),
      argument(glowish_model_open_memory(nullptr, 1, "x", &opened)),
      argument(glowish_model_open_memory("x", 1, nullptr, &opened)),
      argument(glowish_model_open_memory("x", 1, "x", nullptr)),
      argument(glowish_compile_bundle(nullptr, options, "out", nullptr)),
      argument(glowish_compile_bundle(opened, options, nullptr, nullptr)),
      argument(glowish_compile(nullptr, options, nullptr, &program)),
      argument(glowish_compile(opened, options, nullptr, nullptr)),
      argument(glowish_session_create(nullptr, &session)),
      argument(glowish_session_create(program, nullptr)),
      argument(glowish_session_set_input(nullptr, 0, &number, nullptr)),
      argument(glowish_session_set_input(session, 0, nullptr, nullptr)),
      argument(glowish_session_bind_input(nullptr, 0, &number)),
      argument(glowish_session_bind_output(nullptr, 0, &number)),
      argument(glowish_session_run(nullptr)),
      argument(glowish_session_output(nullptr, 0, &data, nullptr)),
      argument(glowish_session_output(session, 0, nullptr, nullptr)),
      argument(glowish_session_state(nullptr, 0, &state)),
      argument(glowish_session_state(session, 0, nullptr))};
  for (const std::string &message : messages)
    EXPECT_THAT(message, HasSubstr("is null; accepted: a pointer"));
  EXPECT_EQ(argument(glowish_session_set_input(session, 1, &number, nullptr)),
            "there is no input 1; the program has 1");
  EXPECT_EQ(argument(glowish_session_bind_input(session, 1, &number)),
            "there is no input 1; the program has 1");
  EXPECT_EQ(argument(glowish_session_bind_output(session, 9, &number)),
            "there is no output 9; the program has 1");
  EXPECT_EQ(argument(glowish_session_output(session, 9, &data, nullptr)),
            "there is no output 9; the program has 1");
  EXPECT_EQ(argument(glowish_session_state(session, 1, &state)),
            "there is no state 1; the program has 1");
  glowish_session_free(session);
  glowish_program_free(program);
  glowish_model_free(opened);
  // Null is accepted where something is freed, watched or counted.
  glowish_error_free(nullptr);
  glowish_options_free(nullptr);
  glowish_model_free(nullptr);
  glowish_program_free(nullptr);
  glowish_session_free(nullptr);
  glowish_job_free(nullptr);
  glowish_job_cancel(nullptr);
  EXPECT_EQ(glowish_program_input_count(nullptr), 0u);
  EXPECT_EQ(glowish_error_code(nullptr), 0);
  EXPECT_STREQ(glowish_error_message(nullptr), "");
}

TEST_F(CInterfaceTest, ListsOptions) {
  size_t count = glowish_options_count(options);
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    names.push_back(glowish_options_name(options, i));
    EXPECT_STRNE(glowish_options_description(options, i), "");
  }
  EXPECT_THAT(names, testing::IsSupersetOf(
                         {"mcpu", "quantize-weights", "bundle-api", "loss"}));
  llvm::sort(names);
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(glowish_options_name(options, count), nullptr);
  EXPECT_EQ(glowish_interface_version(), GLOWISH_INTERFACE_VERSION);
  EXPECT_STREQ(glowish_release(), GLOWISH_VERSION);
}

/// What a compilation told.
struct Told {
  std::vector<std::string> steps;
  std::vector<double> shares;
  glowish_job *cancelled = nullptr;
  std::string cancelAt;
};

void tell(void *context, const char *step, double done) {
  auto &told = *static_cast<Told *>(context);
  told.steps.push_back(step);
  told.shares.push_back(done);
  if (told.cancelAt == step)
    glowish_job_cancel(told.cancelled);
}

TEST_F(CInterfaceTest, TellsHowFarItIs) {
  write(path, makeDeepModel(3));
  glowish_model *opened = open(path);
  glowish_job *job = glowish_job_create();
  Told told;
  glowish_job_on_progress(job, tell, &told);
  glowish_program *program = nullptr;
  EXPECT_EQ(take(glowish_compile(opened, nullptr, job, &program)), "");
  EXPECT_TRUE(llvm::is_sorted(told.shares));
  EXPECT_THAT(told.steps,
              testing::IsSupersetOf({"import", "optimize", "lower", "plan",
                                     "optimize code", "generate code"}));
  EXPECT_GE(told.shares.front(), 0);
  EXPECT_LE(told.shares.back(), 1);
  glowish_program_free(program);
  glowish_job_free(job);
  glowish_model_free(opened);
}

/// Whatever it does, a compilation that is cancelled ends, and leaves nothing
/// behind.
TEST_F(CInterfaceTest, IsCancelledAtEachStep) {
  write(path, makeDeepModel(6));
  glowish_model *opened = open(path);
  for (const char *step :
       {"import", "optimize", "lower", "schedule", "irgen", "optimize-ir",
        "plan", "optimize code", "generate code"}) {
    glowish_job *job = glowish_job_create();
    Told told;
    told.cancelled = job;
    told.cancelAt = step;
    glowish_job_on_progress(job, tell, &told);
    glowish_program *program = nullptr;
    EXPECT_EQ(take(glowish_compile(opened, nullptr, job, &program),
                   GLOWISH_ERROR_CANCELLED),
              "cancelled")
        << step;
    EXPECT_EQ(
        take(glowish_compile_bundle(opened, nullptr, in("out").c_str(), job),
             GLOWISH_ERROR_CANCELLED),
        "cancelled")
        << step;
    EXPECT_EQ(program, nullptr);
    glowish_job_free(job);
  }
  std::error_code code;
  llvm::sys::fs::directory_iterator file(in("out"), code);
  EXPECT_TRUE(code || file == llvm::sys::fs::directory_iterator());
  glowish_model_free(opened);
}

/// Several threads compile, run and are refused at once, each with options of
/// its own, with the results of one alone.
TEST_F(CInterfaceTest, CompilesOnSeveralThreads) {
  std::vector<std::vector<float>> results(4);
  auto work = [&](size_t thread) {
    glowish_options *own = glowish_options_create();
    glowish_options_set(own, "state", "total,next");
    // Of two threads each the same.
    int64_t extent = int64_t(thread) % 2 + 2;
    glowish_options_bind_dimension(own, "N", extent);
    glowish_options_set(own, "backend", thread < 2 ? "CPU" : "Interpreter");
    glowish_model *opened = nullptr;
    glowish_program *program = nullptr;
    glowish_session *session = nullptr;
    EXPECT_EQ(take(glowish_model_open(path.c_str(), &opened)), "");
    EXPECT_NE(take(glowish_options_set(own, "threads", "many")), "");
    for (int i = 0; i < 3; ++i) {
      glowish_program_free(program);
      program = nullptr;
      EXPECT_EQ(take(glowish_compile(opened, own, nullptr, &program)), "");
    }
    EXPECT_EQ(take(glowish_session_create(program, &session)), "");
    const float given[] = {1, 2, 3};
    EXPECT_EQ(take(glowish_session_set_input(session, 0, given, nullptr)), "");
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(take(glowish_session_run(session)), "");
    const void *data = nullptr;
    EXPECT_EQ(take(glowish_session_output(session, 0, &data, nullptr)), "");
    auto *floats = static_cast<const float *>(data);
    results[thread].assign(floats, floats + extent);
    glowish_session_free(session);
    glowish_program_free(program);
    glowish_model_free(opened);
    glowish_options_free(own);
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(results[0], testing::ElementsAre(56, 58));
  EXPECT_THAT(results[1], testing::ElementsAre(110, 112, 114));
  EXPECT_EQ(results[2], results[0]);
  EXPECT_EQ(results[3], results[1]);
}

} // namespace

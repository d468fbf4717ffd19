// The same as main.c by glowish.hpp.
#include <cstdio>
#include <glowish.hpp>

namespace api = glowish::api;

static void print(const char *what, const glowish_value &value) {
  std::printf("%s %s:", what, value.name);
  for (int32_t i = 0; i < value.rank; ++i)
    std::printf(" %lld", static_cast<long long>(value.extents[i]));
  std::printf("\n");
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: main MODEL\n");
    return 2;
  }
  try {
    api::Options options;
    options.set("threads", "1").bindDimension("N", 2);
    api::Job job([](const char *step, double done) {
      std::fprintf(stderr, "%3.0f %% %s\n", 100 * done, step);
    });
    api::Program program = api::Model::open(argv[1]).compile(&options, &job);
    print("input", *program.getInputs().front());
    print("output", *program.getOutputs().front());
    api::Session session = program.createSession();
    const float x[6] = {0, 1, 2, 3, 2, 1};
    session.bindInput(0, x);
    session.run();
    const float *y = session.getOutput<float>(0);
    std::printf("%.4f %.4f\n%.4f %.4f\n", y[0], y[1], y[2], y[3]);
  } catch (const api::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

// log MODEL: compiles MODEL, whose batch is N, without a log, with one, and
// without one again. Prints how many lines of each severity and verbosity there
// were, "0.1 40", and returns 1 if there was one where there is no log.
#include <cstdio>
#include <glowish.hpp>
#include <map>

int main(int, char **argv) {
  glowish::api::Model model = glowish::api::Model::open(argv[1]);
  std::map<std::pair<int, int>, int> counts;
  glowish::api::Options options;
  options.bindDimension("N", 1);
  auto compile = [&] { model.compile(&options); };
  compile();
  glowish::api::setLog(
      [&](int32_t severity, int32_t verbosity, const char *line) {
        counts[{severity, verbosity}] += *line != 0;
      },
      2);
  compile();
  glowish::api::setLog(nullptr);
  auto before = counts;
  compile();
  for (const auto &[level, count] : counts)
    std::printf("%d.%d %d\n", level.first, level.second, count);
  return counts != before;
}

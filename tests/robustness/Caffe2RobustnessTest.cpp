//===- Caffe2RobustnessTest.cpp - Malformed Caffe2 nets -------------------===//

#include "../unit/TestFolder.h"
#include "Caffe2/caffe2.pb.h"
#include "Caffe2Seeds.h"
#include "Extremes.h"
#include "Mutations.h"
#include "Robustness.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Importer/Caffe2.h"
#include "gmock/gmock.h"
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

using namespace glowish;
using namespace glowish::robustness;

namespace {

class MalformedCaffe2 : public TestFolder {
protected:
  /// Takes the nets in \p predict and \p init through everything.
  void check(const NetSeed &seed, const std::string &name,
             const std::string &predict, const std::string &init) {
    saveCase(name + ".predict", predict);
    saveCase(name + ".init", init);
    cases.add(name, [this, inputs = seed.inputs, predict, init] {
      put("predict_net.pb", predict);
      put("init_net.pb", init);
      return compileAll(predict.size() + init.size(), [&] {
        ImportOptions options;
        options.evaluate = evaluateNode;
        options.inputTypes = inputs;
        return importCaffe2File(in(""), options);
      });
    });
  }

  Cases cases;
};

} // namespace

/// \p text with mutations of the text, of its message, or of the message's
/// bytes.
static std::string mutate(const std::string &text, Random &random) {
  uint64_t form = random.below(4), count = 1 + random.below(3);
  std::string mutated = text;
  if (form == 0) {
    mutateText(mutated, random);
    return mutated;
  }
  caffe2::schema::NetDef net;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &net));
  // What is dropped may be all.
  for (uint64_t left = form < 3 ? count : 0; left > 0 && net.ByteSizeLong();
       --left)
    mutateMessage(net, random);
  // Mutated names need not be UTF-8, which protobuf reports.
  google::protobuf::LogSilencer silencer;
  mutated = net.SerializePartialAsString();
  for (uint64_t left = form == 3 ? count : 0; left > 0; --left)
    mutateBytes(mutated, random);
  return mutated;
}

TEST_F(MalformedCaffe2, SeedsAreGood) {
  std::vector<NetSeed> seeds = makeNetSeeds();
  for (const NetSeed &seed : seeds)
    check(seed, seed.name, seed.predict, seed.init);
  EXPECT_THAT(cases.run().refused, testing::IsEmpty());
}

TEST_F(MalformedCaffe2, GiveErrorsOnly) {
  std::vector<NetSeed> seeds = makeNetSeeds();
  Range range = getRange(/*defaultCount=*/200);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Random random(i);
    const NetSeed &seed = seeds[i % seeds.size()];
    bool isInit = random.below(3) == 0;
    check(seed, std::to_string(i) + "-" + seed.name,
          isInit ? seed.predict : mutate(seed.predict, random),
          isInit ? mutate(seed.init, random) : seed.init);
  }
  Counts counts = cases.run();
  llvm::outs() << counts.refused.size() << " refused, " << counts.accepted
               << " accepted\n";
  if (range.count >= 100) {
    EXPECT_GT(counts.refused.size(), range.count / 10);
    EXPECT_GT(counts.accepted, range.count / 10);
  }
}

TEST_F(MalformedCaffe2, ExtremeIntegers) {
  std::vector<NetSeed> seeds = makeNetSeeds();
  Range range = getRange(/*defaultCount=*/200);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Random random(i);
    NetSeed seed = seeds[i % seeds.size()];
    std::string *texts[] = {&seed.predict, &seed.init};
    for (uint64_t left = 1 + random.below(2); left > 0; --left) {
      std::string &text = *texts[random.below(4) == 0];
      caffe2::schema::NetDef net;
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &net));
      setExtreme(net, random);
      EXPECT_TRUE(google::protobuf::TextFormat::PrintToString(net, &text));
    }
    check(seed, std::to_string(i) + "-" + seed.name, seed.predict, seed.init);
  }
  EXPECT_FALSE(cases.run().refused.empty());
}

//===- SupportTest.cpp - Errors, files, checksums, small tools ------------===//

#include "ChildProcess.h"
#include "Messages.h"
#include "TestFolder.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/Escape.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Pass.h"
#include "glowish/Support/Progress.h"
#include "glowish/Support/Random.h"
#include "glowish/Support/SettingNames.h"
#include "glowish/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <thread>

using namespace glowish;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

//===- Errors -------------------------------------------------------------===//

TEST(Error, FormatsItsArguments) {
  EXPECT_EQ(getMessage(makeError("node '{0}': {1} of {2}", "conv{9}", 3, 4.5)),
            "node 'conv{9}': 3 of 4.50");
}

TEST(Error, ContextPrefixesEachMessage) {
  EXPECT_EQ(getMessage(addContext(llvm::Error::success(), "a: ")), "");
  EXPECT_EQ(getMessage(addContext(makeError("b"), "a: ")), "a: b");
  llvm::Error both = llvm::joinErrors(makeError("b"), makeError("c"));
  EXPECT_EQ(getMessage(addContext(std::move(both), "a: ")), "a: b\na: c");
}

llvm::Expected<int> halve(int value) {
  if (value % 2)
    return makeError("{0} is odd", value);
  return value / 2;
}

llvm::Error refuse(int value) {
  GLOWISH_ASSIGN_OR_RETURN(int half, halve(value));
  GLOWISH_ASSIGN_OR_RETURN(half, halve(half));
  GLOWISH_RETURN_IF_ERROR(half == 7 ? makeError("seven")
                                    : llvm::Error::success());
  return makeError("reached {0}", half);
}

/// The macro is one statement: it may follow an `if` without braces.
llvm::Expected<int> halveIf(bool isHalved, int value) {
  int result = -1;
  if (isHalved)
    GLOWISH_ASSIGN_OR_RETURN(result, halve(value));
  else
    result = value;
  for (int i = 0; i < 2; ++i)
    if (result % 4 == 0)
      GLOWISH_ASSIGN_OR_RETURN(result, halve(result));
  return result;
}

TEST(Error, MacrosAreOneStatement) {
  EXPECT_EQ(llvm::cantFail(halveIf(true, 6)), 3);
  EXPECT_EQ(llvm::cantFail(halveIf(false, 3)), 3);
  EXPECT_EQ(llvm::cantFail(halveIf(true, 24)), 6);
  EXPECT_EQ(getMessage(halveIf(true, 3)), "3 is odd");
}

llvm::Expected<std::unique_ptr<int>> makeNumber(bool isThere) {
  if (!isThere)
    return makeError("none");
  return std::make_unique<int>(5);
}

TEST(Error, MacroMovesItsValue) {
  auto read = [](bool isThere) -> llvm::Expected<int> {
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<int> number, makeNumber(isThere));
    GLOWISH_ASSIGN_OR_RETURN(const std::string &text,
                             llvm::Expected<std::string>("stays on"));
    return *number + int(text.size());
  };
  EXPECT_EQ(llvm::cantFail(read(true)), 13);
  EXPECT_EQ(getMessage(read(false)), "none");
}

TEST(Error, MacrosPropagate) {
  EXPECT_EQ(getMessage(refuse(3)), "3 is odd");
  EXPECT_EQ(getMessage(refuse(6)), "3 is odd");
  EXPECT_EQ(getMessage(refuse(28)), "seven");
  EXPECT_EQ(getMessage(refuse(32)), "reached 8");
}

TEST(Error, ReportPrintsOneErrorLineEach) {
  ChildResult child = runChild([] {
    return reportError(llvm::joinErrors(makeError("first:\nitem 1\nitem 2\n"),
                                        makeError("second")));
  });
  EXPECT_EQ(child.exitCode, 1);
  EXPECT_EQ(child.text, "error: first:\n  item 1\n  item 2\nerror: second\n");
}

TEST(Error, ControlCharactersAreEscaped) {
  llvm::Error error = addContext(
      makeError("node '{0}'\nnext", "\x1b[2J\r\x7f\t\xc3\xa4"), "\b: ");
  EXPECT_EQ(llvm::toString(std::move(error)),
            "\\x08: node '\\x1B[2J\\x0D\\x7F\\x09\xc3\xa4'\nnext");
  // Those of LLVM when they are printed.
  ChildResult child = runChild([] {
    return reportError(llvm::createStringError(llvm::inconvertibleErrorCode(),
                                               "of a library: \x1b[2J"));
  });
  EXPECT_EQ(child.text, "error: of a library: \\x1B[2J\n");
}

TEST(Error, TextsOfFilesAreQuotedAsUtf8) {
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("a\nb\x7f"), "'a\\x0Ab\\x7F'");
  // A letter, the euro sign, an emoji.
  EXPECT_EQ(quote("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "'\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'");
  // Latin-1, a sequence that is cut, one that is longer than need be, a
  // surrogate.
  EXPECT_EQ(quote("\xe4x"), "'\\xE4x'");
  EXPECT_EQ(quote("\xe2\x82"), "'\\xE2\\x82'");
  EXPECT_EQ(quote("\xc0\x80"), "'\\xC0\\x80'");
  EXPECT_EQ(quote("\xed\xa0\x80"), "'\\xED\\xA0\\x80'");
  // U+009B begins what a terminal obeys; U+00A0 is a space.
  EXPECT_EQ(quote("\xc2\x9b\xc2\xa0"), "'\\xC2\\x9B\xc2\xa0'");
  EXPECT_EQ(quote(std::string(201, 'n')), "'" + std::string(200, 'n') + "...'");
  // The cut is in front of a character that has bytes on both sides of it.
  for (size_t before : {197, 198, 199})
    EXPECT_EQ(quote(std::string(before, 'n') + "\xf0\x9f\x98\x80"),
              "'" + std::string(before, 'n') + "...'");
  EXPECT_EQ(quote(std::string(196, 'n') + "\xf0\x9f\x98\x80"),
            "'" + std::string(196, 'n') + "\xf0\x9f\x98\x80'");
  EXPECT_EQ(quote(std::string(198, 'n') + "\xc3\xa4\xc3\xa4"),
            "'" + std::string(198, 'n') + "\xc3\xa4...'");
  // Bytes that are no characters.
  EXPECT_EQ(llvm::StringRef(quote(std::string(300, '\x80'))).count("\\x80"),
            197u);
}

TEST(SettingNames, AreSpelledInMessages) {
  auto spell = [](llvm::StringRef message) {
    return spellSettings(message, spellAsFlag);
  };
  EXPECT_EQ(spell(""), "");
  EXPECT_EQ(spell("no setting"), "no setting");
  EXPECT_EQ(spell("«train» and «threads=1»"), "-train and -threads=1");
  EXPECT_EQ(spell("«state=a=b,c»: wrong"), "-state=a=b,c: wrong");
  EXPECT_EQ(spell("«verify-plan=»"), "-verify-plan=");
  EXPECT_EQ(spellSettings("«max-extent=y,N»", spellAsOption), "max-extent=y,N");
  // Values are of users and of models.
  EXPECT_EQ(spell(nameSetting("state", "«a»,b") + "."), "-state=«a»,b.");
  EXPECT_EQ(spell("input '»«' has «N"), "input '»«' has «N");
  EXPECT_EQ(spell("«»"), "-");
  std::string message = getMessage(spellSettings(
      llvm::joinErrors(makeError("«threads={0}»: many", 7), makeError("other")),
      spellAsFlag));
  EXPECT_EQ(message, "-threads=7: many\nother");
  EXPECT_EQ(getMessage(spellSettings(llvm::Error::success(), spellAsFlag)), "");
}

TEST(Error, ReportSurvivesAFullStderr) {
  ChildResult child = runChild([] {
    int full = open("/dev/full", O_WRONLY);
    dup2(full, STDERR_FILENO);
    int code = reportError(makeError("cannot be written"));
    return llvm::errs().has_error() ? 70 : code;
  });
  EXPECT_EQ(child.exitCode, 1);
}

//===- Checksum -----------------------------------------------------------===//

std::vector<uint8_t> makeBytes(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = uint8_t(i * 37 + 11);
  return bytes;
}

/// The checksum of \p bytes, added \p chunk by \p chunk after the \p first.
uint64_t checksumInChunks(llvm::ArrayRef<uint8_t> bytes, size_t first,
                          size_t chunk) {
  Checksum64 checksum;
  checksum.add(bytes.take_front(first));
  for (size_t at = first; at < bytes.size(); at += chunk)
    checksum.add(bytes.slice(at, std::min(chunk, bytes.size() - at)));
  return checksum.finish();
}

TEST(Checksum, IsXXH64) {
  // Published values; bundles and checkpoints state them, so they never change.
  const std::pair<llvm::StringRef, uint64_t> vectors[] = {
      {"", 0xEF46DB3751D8E999},
      {"a", 0xD24EC4F1A98C6E5B},
      {"abc", 0x44BC2CF5AD770999},
      {"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1}};
  for (auto [text, expected] : vectors) {
    llvm::ArrayRef<uint8_t> bytes = llvm::arrayRefFromStringRef(text);
    EXPECT_EQ(checksum64(bytes), expected) << text.str();
    EXPECT_EQ(checksumInChunks(bytes, 0, 1), expected) << text.str();
  }
  std::vector<uint8_t> bytes = makeBytes(1000);
  EXPECT_EQ(checksum64(bytes), 0x128DA10CFBDC59D9u);
  EXPECT_EQ(checksumInChunks(bytes, 0, bytes.size()), 0x128DA10CFBDC59D9u);
}

TEST(Checksum, EveryLengthAndAlignment) {
  std::vector<uint8_t> bytes = makeBytes(300);
  for (size_t offset = 0; offset < 8; ++offset)
    for (size_t size = 0; size + offset <= bytes.size(); ++size) {
      auto part = llvm::ArrayRef(bytes).slice(offset, size);
      ASSERT_EQ(checksumInChunks(part, 0, size + 1), checksum64(part)) << size;
    }
}

TEST(Checksum, InChunks) {
  std::vector<uint8_t> bytes = makeBytes(200);
  for (size_t first = 0; first <= bytes.size(); first += 3)
    for (size_t chunk = 1; chunk < 70; chunk += 4)
      ASSERT_EQ(checksumInChunks(bytes, first, chunk), checksum64(bytes))
          << first << " " << chunk;
}

TEST(Checksum, DetectsCorruption) {
  std::vector<uint8_t> bytes = makeBytes(99);
  uint64_t good = checksum64(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_NE(checksum64(bytes), good) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
  for (size_t word = 0; word + 16 <= 96; word += 8) {
    std::vector<uint8_t> swapped = bytes;
    std::swap_ranges(swapped.begin() + word, swapped.begin() + word + 8,
                     swapped.begin() + word + 8);
    EXPECT_NE(checksum64(swapped), good) << word;
  }
  bytes.push_back(0);
  EXPECT_NE(checksum64(bytes), good);
}

//===- Random -------------------------------------------------------------===//

TEST(Random, KnownNumbers) {
  // Published values of SplitMix64.
  Random zero(0), other(1234567);
  EXPECT_EQ(zero.next(), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(zero.next(), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(zero.next(), 0x06C45D188009454Fu);
  EXPECT_EQ(other.next(), 6457827717110365317u);
  EXPECT_EQ(other.next(), 3203168211198807973u);
}

TEST(Random, BelowReachesEveryNumber) {
  Random random(3);
  bool seen[7] = {};
  for (int i = 0; i < 1000; ++i) {
    uint64_t number = random.below(7);
    ASSERT_LT(number, 7u);
    seen[number] = true;
  }
  EXPECT_TRUE(llvm::all_of(seen, [](bool was) { return was; }));
}

TEST(Random, UniformStaysBelowItsUpperEnd) {
  // Between 1 and 2 the largest draws round up to 2.
  Random random(1);
  double sum = 0;
  constexpr int draws = 1 << 25;
  for (int i = 0; i < draws; ++i) {
    float number = random.uniform(1, 2);
    ASSERT_TRUE(number >= 1 && number < 2) << i;
    sum += number;
  }
  EXPECT_NEAR(sum / draws, 1.5, 1e-3);
}

TEST(Random, UniformOverAllFloats) {
  constexpr float most = std::numeric_limits<float>::max();
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    float number = random.uniform(-most, most);
    ASSERT_TRUE(number >= -most && number < most) << number;
  }
}

TEST(Random, NormalHasItsMoments) {
  Random random(2);
  double sum = 0, squares = 0;
  int beyondOne = 0;
  constexpr int draws = 200000;
  for (int i = 0; i < draws; ++i) {
    double number = random.normal();
    ASSERT_LT(std::abs(number), 6.0);
    sum += number;
    squares += number * number;
    beyondOne += std::abs(number) > 1;
  }
  EXPECT_NEAR(sum / draws, 0.0, 0.01);
  EXPECT_NEAR(squares / draws, 1.0, 0.02);
  // 31.7 % of a normal distribution, 42 % of a uniform one.
  EXPECT_NEAR(double(beyondOne) / draws, 0.317, 0.01);
}

TEST(Random, FloatsAreTheSameEverywhere) {
  Random random(42);
  EXPECT_EQ(random.uniform(-1, 1), 0x1.eeb9900000000p-2f);
  EXPECT_EQ(random.uniform(0.1f, 0.7f), 0x1.914c420000000p-3f);
  EXPECT_EQ(random.normal(), -0x1.863efc0000000p-1f);
}

//===- Timing -------------------------------------------------------------===//

TEST(PhaseTimer, AddsUpByName) {
  PhaseTimer timer;
  timer.end();
  EXPECT_TRUE(timer.getRows().empty());
  timer.begin("lower");
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  timer.begin("plan");
  timer.begin("lower");
  std::this_thread::sleep_for(std::chrono::milliseconds(4));
  timer.end();
  double ended = timer.getTotal();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  timer.end();
  EXPECT_EQ(timer.getTotal(), ended);
  ASSERT_EQ(timer.getRows().size(), 2u);
  EXPECT_EQ(timer.getRows()[0].name, "lower");
  EXPECT_EQ(timer.getRows()[1].name, "plan");
  EXPECT_GE(timer.getRows()[0].seconds, 0.007);
  EXPECT_EQ(timer.getTotal(),
            timer.getRows()[0].seconds + timer.getRows()[1].seconds);
}

TEST(PhaseTimer, PrintsATable) {
  PhaseTimer timer;
  timer.add("import", 0.25);
  timer.add("a phase with a long name", 1.5);
  timer.add("import", 0.25);
  std::string text;
  llvm::raw_string_ostream os(text);
  timer.print(os);
  EXPECT_EQ(text, "import                        0.500 s   25.0 %\n"
                  "a phase with a long name      1.500 s   75.0 %\n"
                  "total                         2.000 s  100.0 %\n");
}

TEST(PhaseTimer, PrintsNothingMeasured) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PhaseTimer().print(os);
  EXPECT_EQ(text, "total      0.000 s    0.0 %\n");
}

//===- Progress -----------------------------------------------------------===//

int showProgress() {
  Progress progress("layers", 1000);
  progress.show("reading");
  for (int i = 0; i < 1000; ++i)
    progress.step();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  progress.step(0);
  return 0;
}

TEST(Progress, IsSilentInAPipe) {
  ChildResult child = runChild(showProgress);
  EXPECT_EQ(child.exitCode, 0);
  EXPECT_EQ(child.text, "");
}

TEST(Progress, RewritesOneLineOnATerminal) {
  ChildResult child = runChild(
      [] {
        setenv("TERM", "xterm", 1);
        return showProgress();
      },
      ChildOutput::Terminal);
  EXPECT_THAT(child.text, StartsWith("\r\x1b[Kreading ..."));
  EXPECT_THAT(child.text, HasSubstr("\r\x1b[Klayers 1000/1000 (100 %)"));
  EXPECT_THAT(child.text, Not(HasSubstr("\n")));
  EXPECT_TRUE(llvm::StringRef(child.text).ends_with("\r\x1b[K"));
  // A thousand steps in no time: at most ten lines a second, and the sleep.
  EXPECT_LT(llvm::StringRef(child.text).count("layers"), 20u);
}

TEST(Progress, KeepsToTheWidthOfTheTerminal) {
  ChildResult child = runChild(
      [] {
        setenv("TERM", "xterm", 1);
        setenv("COLUMNS", "12", 1);
        Progress progress;
        progress.show("0123456789abcdef");
        progress.clear();
        llvm::errs() << "after";
        return 0;
      },
      ChildOutput::Terminal);
  EXPECT_EQ(child.text, "\r\x1b[K0123456789a\r\x1b[Kafter");
}

TEST(Progress, IsSilentOnADumbTerminal) {
  ChildResult child = runChild(
      [] {
        setenv("TERM", "dumb", 1);
        return showProgress();
      },
      ChildOutput::Terminal);
  EXPECT_EQ(child.text, "");
}

//===- Passes -------------------------------------------------------------===//

llvm::Expected<bool> countDown(int &unit, const int &step) {
  if (unit < step)
    return false;
  unit -= step;
  return true;
}
llvm::Expected<bool> fail(int &, const int &) { return makeError("broken"); }
llvm::Expected<bool> toggle(int &unit, const int &) {
  unit = -unit;
  return true;
}
llvm::Expected<bool> stepDown(int &unit, const int &step) {
  bool changes = unit > 0;
  unit -= changes ? step : 0;
  return changes;
}
llvm::Expected<bool> countUp(int &unit, const int &step) {
  unit += step;
  return true;
}
llvm::Expected<bool> doNothing(int &, const int &) { return false; }

const PassInfo<int, int> passes[] = {
    {"down", Exactness::Exact, "", countDown},
    {"fail", Exactness::Exact, "", fail},
    {"toggle", Exactness::Exact, "", toggle},
    {"up", Exactness::Exact, "", countUp},
    {"step", Exactness::Exact, "", stepDown},
    {"nothing", Exactness::Exact, "", doNothing}};

llvm::Expected<bool> run(const Pipeline &pipeline, int &unit,
                         const PassHooks<int> &hooks = {}) {
  return runPipeline<int, int>(pipeline, passes, unit, 3, hooks);
}

TEST(Pass, RunsOnceOrToAFixedPoint) {
  int unit = 20;
  EXPECT_TRUE(llvm::cantFail(run({{{"down", "down"}}}, unit)));
  EXPECT_EQ(unit, 14);
  EXPECT_TRUE(llvm::cantFail(run({{{"down"}, /*toFixedPoint=*/true}}, unit)));
  EXPECT_EQ(unit, 2);
  EXPECT_FALSE(llvm::cantFail(run({{{"down"}, true}}, unit)));
}

TEST(Pass, PassesThatUndoEachOtherAreAnError) {
  int unit = 3;
  EXPECT_THAT(getMessage(run({{{"up", "nothing", "down"}, true}}, unit)),
              HasSubstr("no fixed point after 32 rounds: passes that still "
                        "change something, and may undo each other: up, down"));
  unit = 1;
  EXPECT_THAT(getMessage(run({{{"nothing"}, true}, {{"toggle"}, true}}, unit)),
              HasSubstr("each other: toggle"));
  // The last round that is allowed may be the one that changes nothing.
  unit = 3 * 31;
  EXPECT_TRUE(llvm::cantFail(run({{{"step"}, true}}, unit)));
  EXPECT_EQ(unit, 0);
  unit = 3 * 32;
  EXPECT_THAT(getMessage(run({{{"step"}, true}}, unit)), HasSubstr("step"));
  EXPECT_TRUE(llvm::cantFail(run({{{"up", "down"}}}, unit)));
}

TEST(Pass, ErrorsStopThePipeline) {
  int unit = 20;
  EXPECT_EQ(getMessage(run({{{"down", "fail", "down"}}}, unit)), "broken");
  EXPECT_EQ(unit, 17);
  EXPECT_EQ(getMessage(run({{{"absent"}}}, unit)),
            "there is no pass called 'absent'");
}

TEST(Pass, HooksSeeEveryRun) {
  std::vector<std::string> log;
  PassHooks<int> hooks;
  hooks.after = [&](llvm::StringRef pass, int &unit, bool changed) {
    log.push_back(
        (pass + " " + llvm::Twine(unit) + (changed ? "*" : "")).str());
    return unit == 8 ? makeError("eight") : llvm::Error::success();
  };
  int unit = 4;
  EXPECT_TRUE(llvm::cantFail(run({{{"down"}, true}}, unit, hooks)));
  EXPECT_THAT(log, ElementsAre("down 1*", "down 1"));
  unit = 14;
  EXPECT_EQ(getMessage(run({{{"down"}, true}}, unit, hooks)), "eight");
}

} // namespace

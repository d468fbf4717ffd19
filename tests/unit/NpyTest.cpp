//===- NpyTest.cpp - NumPy's array files ----------------------------------===//

#include "glowish/Support/Npy.h"
#include "Messages.h"
#include "TestFolder.h"
#include "glowish/Support/Random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace glowish;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

constexpr const char *plainHeader =
    "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n";

/// A file of \p version with \p header and \p data.
std::string makeFile(llvm::StringRef header, llvm::StringRef data,
                     unsigned version = 1) {
  std::string file = "\x93NUMPY";
  file += char(version);
  file += char(0);
  for (unsigned i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += char(header.size() >> (8 * i) & 0xff);
  return (file + header + data).str();
}

std::string makeData(size_t size) {
  std::string data;
  for (size_t i = 0; i < size; ++i)
    data += char(i);
  return data;
}

std::string getRefusal(llvm::StringRef bytes) {
  return getMessage(parseNpy(bytes));
}

/// What is said of a header that describes 12 bytes of data.
std::string getHeaderRefusal(llvm::StringRef header) {
  return getRefusal(makeFile(header, makeData(12)));
}

/// What is said of the element type \p descr.
std::string getTypeRefusal(llvm::StringRef descr) {
  return getHeaderRefusal(
      ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (12,)}")
          .str());
}

/// What is said of bytes of the shape \p shape.
std::string getShapeRefusal(llvm::StringRef shape) {
  return getHeaderRefusal(
      ("{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + "}")
          .str());
}

//===- Reading ------------------------------------------------------------===//

TEST(Npy, ReadsEveryVersion) {
  for (unsigned version : {1, 2, 3}) {
    auto array = parseNpy(makeFile(plainHeader, makeData(12), version));
    ASSERT_TRUE(bool(array)) << getMessage(std::move(array));
    EXPECT_EQ(array->element, "i2");
    EXPECT_THAT(array->shape, ElementsAre(2, 3));
    EXPECT_THAT(array->bytes,
                ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  }
}

TEST(Npy, ReadsOtherSpellingsOfTheHeader) {
  for (const char *header :
       {"{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"=i2\"}",
        "{ 'descr' : '<i2' , 'fortran_order' : False , 'shape' : ( 2 , 3 , ) }",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L), }   \n"}) {
    auto array = parseNpy(makeFile(header, makeData(12)));
    ASSERT_TRUE(bool(array)) << header << getMessage(std::move(array));
    EXPECT_EQ(array->element, "i2");
    EXPECT_THAT(array->shape, ElementsAre(2, 3));
  }
}

TEST(Npy, ReadsScalarsAndEmptyArrays) {
  auto scalar = parseNpy(makeFile(
      "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", makeData(8)));
  ASSERT_TRUE(bool(scalar));
  EXPECT_THAT(scalar->shape, IsEmpty());
  EXPECT_EQ(scalar->bytes.size(), 8u);
  for (const char *order : {"True", "False"}) {
    auto empty = parseNpy(
        makeFile("{'descr': '<f8', 'fortran_order': " + std::string(order) +
                     ", 'shape': (3, 0, 5)}",
                 ""));
    ASSERT_TRUE(bool(empty));
    EXPECT_THAT(empty->shape, ElementsAre(3, 0, 5));
    EXPECT_THAT(empty->bytes, IsEmpty());
  }
}

TEST(Npy, SwapsBigEndianElements) {
  auto array = parseNpy(makeFile(
      "{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}", makeData(8)));
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(array->element, "i4");
  EXPECT_THAT(array->bytes, ElementsAre(3, 2, 1, 0, 7, 6, 5, 4));
}

TEST(Npy, PutsColumnMajorArraysInRows) {
  auto array = parseNpy(
      makeFile("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2)}",
               makeData(12)));
  ASSERT_TRUE(bool(array));
  EXPECT_THAT(array->shape, ElementsAre(2, 3, 2));
  // Element (i, j, k) stands at i + 2 j + 6 k.
  EXPECT_THAT(array->bytes, ElementsAre(0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11));

  auto wide = parseNpy(
      makeFile("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3)}",
               makeData(12)));
  ASSERT_TRUE(bool(wide));
  EXPECT_THAT(wide->bytes, ElementsAre(1, 0, 5, 4, 9, 8, 3, 2, 7, 6, 11, 10));
}

//===- Refusing -----------------------------------------------------------===//

TEST(Npy, RefusesOtherFiles) {
  EXPECT_EQ(getRefusal(""), "not a .npy file: it is empty");
  EXPECT_EQ(getRefusal("PK\x03\x04 an .npz archive"), "not a .npy file");
  EXPECT_EQ(getRefusal("\x93NUMP"), "not a .npy file");
  EXPECT_EQ(getRefusal(makeFile(plainHeader, makeData(12), 4)),
            "version 4 of the .npy format is not supported");
}

class NpyFileTest : public TestFolder {};

TEST_F(NpyFileTest, ReadsAFileAndNamesItInErrors) {
  put("good.npy", makeFile(plainHeader, makeData(12)));
  put("bad.npy", "text");
  auto good = readNpy(in("good.npy"));
  ASSERT_TRUE(bool(good));
  EXPECT_THAT(good->shape, ElementsAre(2, 3));
  EXPECT_EQ(getMessage(readNpy(in("bad.npy"))),
            "'" + in("bad.npy") + "': not a .npy file");
  EXPECT_EQ(getMessage(readNpy(in("absent.npy"))),
            "cannot read '" + in("absent.npy") +
                "': No such file or directory");
}

TEST(Npy, RefusesEveryTruncation) {
  for (unsigned version : {1, 2}) {
    std::string file = makeFile(plainHeader, makeData(12), version);
    size_t header = file.size() - 12;
    for (size_t size = 6; size < header; ++size)
      EXPECT_EQ(getRefusal(file.substr(0, size)),
                "the file ends inside its header");
    for (size_t size = header; size < file.size(); ++size)
      EXPECT_EQ(getRefusal(file.substr(0, size)),
                "the shape needs 12 bytes, the file has " +
                    std::to_string(size - header));
    EXPECT_EQ(getRefusal(file + "x"),
              "the shape needs 12 bytes, the file has 13");
  }
}

TEST(Npy, RefusesOtherElementTypes) {
  for (const char *descr : {"<c8", "|S3", "<U1", "|O", "<V2", "<f16", "<f3", "",
                            "<", "f", "<<f4", "f4 ", "<M8[ns]"})
    EXPECT_EQ(getTypeRefusal(descr),
              "element type '" + std::string(descr) +
                  "' is not supported; accepted: floats, integers and bool");
  EXPECT_EQ(getHeaderRefusal("{'descr': [('x', '<f4')], 'fortran_order': "
                             "False, 'shape': (3,)}"),
            "no element type (structured arrays are not supported)");
}

TEST(Npy, RefusesMalformedHeaders) {
  for (const char *header : {"", "descr", "{'descr", "{'descr' '<f4'}",
                             "{'descr': '<f4' 'shape': (3,)}", "{,}"})
    EXPECT_EQ(getHeaderRefusal(header), "a malformed header") << header;
  EXPECT_EQ(getHeaderRefusal("{}"), "no 'descr' in the header");
  EXPECT_EQ(getHeaderRefusal("{'descr': '<f4', 'fortran_order': False}"),
            "no 'shape' in the header");
  EXPECT_EQ(getHeaderRefusal("{'descr': '<f4', 'shape': (3,)}"),
            "no 'fortran_order' in the header");
  EXPECT_EQ(getHeaderRefusal("{'descr': '<f4', 'fortran_order': 0}"),
            "'fortran_order' is neither True nor False");
  EXPECT_EQ(getHeaderRefusal("{'descr': '<f4', 'descr': '<f4'}"),
            "duplicate key 'descr' in the header");
  EXPECT_EQ(getHeaderRefusal("{'colour': '<f4'}"),
            "an unknown key 'colour' in the header");
  EXPECT_EQ(getHeaderRefusal(std::string(plainHeader) + "x"),
            "trailing text after the header");
}

TEST(Npy, RefusesMalformedShapes) {
  EXPECT_EQ(getShapeRefusal("12"), "'shape' is not a tuple");
  for (const char *shape : {"(-12,)", "(-3, -4)", "(3 4)", "(x,)", "(3,,4)",
                            "(1.5,)", "(3,", "(9223372036854775808,)", "(,)"})
    EXPECT_EQ(getShapeRefusal(shape), "a malformed shape") << shape;
  // The size wraps around to 12 bytes, or to none.
  EXPECT_EQ(getShapeRefusal("(4611686018427387907, 4)"), "the shape overflows");
  EXPECT_EQ(getShapeRefusal("(4294967296, 4294967296)"), "the shape overflows");
  EXPECT_EQ(getShapeRefusal("(0, 4294967296, 4294967296)"),
            "the shape overflows");
  EXPECT_EQ(getShapeRefusal("(9223372036854775807,)"),
            "the shape needs 9223372036854775807 bytes, the file has 12");
  std::string deep = "(";
  for (unsigned i = 0; i < 65; ++i)
    deep += "1, ";
  EXPECT_EQ(getShapeRefusal(deep + ")"), "more than 64 dimensions");
}

TEST(Npy, SurvivesCorruption) {
  std::string good = makeFile(plainHeader, makeData(12));
  Random random(7);
  unsigned numAccepted = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (uint64_t i = random.below(3) + 1; i > 0; --i)
      bad[random.below(bad.size())] ^= char(1 << random.below(8));
    if (random.below(4) == 0)
      bad.resize(random.below(bad.size()));
    auto array = parseNpy(bad);
    if (!array) {
      EXPECT_NE(getMessage(std::move(array)), "");
      continue;
    }
    // Whatever is accepted must fit together.
    ++numAccepted;
    uint64_t bytes = array->element[1] - '0';
    for (int64_t extent : array->shape)
      bytes *= extent;
    EXPECT_EQ(bytes, array->bytes.size());
  }
  // A reader cannot detect flips that are in the data alone.
  EXPECT_GT(numAccepted, 1000u);
  EXPECT_LT(numAccepted, 10000u);
}

//===- Writing ------------------------------------------------------------===//

std::string write(llvm::StringRef element, llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<uint8_t> bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeNpy(os, element, shape, bytes);
  return text;
}

TEST(Npy, WritesWhatNumPyWrites) {
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
  expected += std::string(128 - 1 - expected.size(), ' ') + "\n";
  expected += makeData(4);
  uint8_t data[] = {0, 1, 2, 3};
  EXPECT_EQ(write("i2", {2, 3}, data), expected);
}

TEST(Npy, WritesEveryRankAndType) {
  const std::vector<int64_t> shapes[] = {
      {}, {1}, {7}, {0}, {3, 0, 2}, {1, 17, 33}, {2, 1, 3, 1, 2, 1, 1, 1}};
  for (const char *element :
       {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"})
    for (const std::vector<int64_t> &shape : shapes) {
      size_t size = element[1] - '0';
      for (int64_t extent : shape)
        size *= extent;
      std::string data = makeData(size);
      llvm::ArrayRef<uint8_t> bytes(
          reinterpret_cast<const uint8_t *>(data.data()), size);
      std::string file = write(element, shape, bytes);
      EXPECT_EQ((file.size() - size) % 64, 0u);
      auto array = parseNpy(file);
      ASSERT_TRUE(bool(array)) << getMessage(std::move(array));
      EXPECT_EQ(array->element, element);
      EXPECT_EQ(array->shape, shape);
      EXPECT_EQ(llvm::ArrayRef<uint8_t>(array->bytes), bytes);
    }
}

} // namespace

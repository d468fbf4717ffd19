//===- TextFormTest.cpp - Lexer, attributes and constants as text ---------===//

#include "glowish/Ops/TextForm.h"
#include "Messages.h"
#include "glowish/Graph/Node.h"
#include "glowish/IR/IR.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace glowish;

namespace {

template <typename Fn> std::string capture(Fn &&fn) {
  std::string text;
  llvm::raw_string_ostream os(text);
  fn(os);
  return text;
}

//===- Lexer --------------------------------------------------------------===//

/// The tokens of \p text, one a line; the error at the end, if there is one.
std::string lex(llvm::StringRef text) {
  TextParser parser(text, "f", nullptr);
  static const char *const kinds[] = {"eof",    "identifier", "name",
                                      "string", "integer",    "float",
                                      "digits", "punctuation"};
  std::string tokens;
  while (!parser.atEnd()) {
    tokens += kinds[parser.peek().kind] + (" " + parser.peek().text) + "\n";
    // Whatever it is: one of these takes it.
    if (parser.consumeIf(parser.peek().text))
      continue;
    if (parser.peek().kind == Token::Name)
      llvm::consumeError(parser.parseName().takeError());
    else if (parser.peek().kind == Token::String)
      llvm::consumeError(parser.parseString().takeError());
    else if (llvm::Expected<double> number = parser.parseDouble(); !number)
      return tokens + llvm::toString(number.takeError());
  }
  std::string message = getMessage(parser.error(""));
  return llvm::StringRef(message).ends_with(": ") ? tokens : tokens + message;
}

TEST(Lexer, Tokens) {
  EXPECT_EQ(lex("%a.b_1 = Add(%\"a/b:0\", none) // comment\n-> @out"),
            "name a.b_1\npunctuation =\nidentifier Add\npunctuation (\nname "
            "a/b:0\npunctuation ,\nidentifier none\npunctuation )\n"
            "punctuation ->\npunctuation @\nidentifier out\n");
  EXPECT_EQ(lex("12 -7 1.5 -1e-05 2E+3 -inf 0x7ff8000000000000 \"\""),
            "integer 12\ninteger -7\nfloat 1.5\nfloat -1e-05\nfloat 2E+3\n"
            "float -inf\ndigits 0x7ff8000000000000\nstring \n");
  EXPECT_EQ(lex(""), "");
  EXPECT_EQ(lex(" \t\r\n// only a comment"), "");
}

TEST(Lexer, Escapes) {
  EXPECT_EQ(lex("\"a\\\"b\\\\c\\nd\\0Ae\\ff\""), "string a\"b\\c\nd\ne\xff\n");
  std::string everyByte;
  for (unsigned c = 0; c < 256; ++c)
    everyByte += char(c);
  std::string quoted =
      capture([&](llvm::raw_ostream &os) { printQuoted(os, everyByte); });
  for (char c : quoted)
    EXPECT_TRUE(c >= 0x20 && c < 0x7f);
  TextParser parser(quoted, "f", nullptr);
  llvm::Expected<std::string> back = parser.parseString();
  ASSERT_TRUE(bool(back));
  EXPECT_EQ(*back, everyByte);
}

TEST(Lexer, Errors) {
  EXPECT_EQ(lex("a\n  ?"), "identifier a\nf:2:3: unexpected character '?'");
  EXPECT_EQ(lex("\x80"), "f:1:1: unexpected byte 128");
  EXPECT_EQ(lex(llvm::StringRef("\0", 1)), "f:1:1: unexpected byte 0");
  EXPECT_EQ(lex("x \"abc"), "identifier x\nf:1:3: a string without an end");
  EXPECT_EQ(lex("\"abc\ndef\""), "f:1:1: a string without an end");
  EXPECT_EQ(lex("\"\\"), "f:1:1: unknown escape in a string");
  EXPECT_EQ(lex("\"\\q\""), "f:1:1: unknown escape in a string");
  EXPECT_EQ(lex("12abc"), "f:1:1: malformed number");
  EXPECT_EQ(lex("1.2.3"), "f:1:1: malformed number");
  EXPECT_EQ(lex("-"), "f:1:1: unexpected character '-'");
  EXPECT_EQ(lex("% x"), "f:1:1: unexpected character '%'");
  EXPECT_EQ(lex("/"), "f:1:1: unexpected character '/'");
}

TEST(Lexer, Names) {
  auto name = [](llvm::StringRef text) {
    return capture([&](llvm::raw_ostream &os) { printName(os, text); });
  };
  EXPECT_EQ(name("conv1"), "%conv1");
  EXPECT_EQ(name("_a.B9"), "%_a.B9");
  EXPECT_EQ(name("9a"), "%\"9a\"");
  EXPECT_EQ(name("a/b:0"), "%\"a/b:0\"");
  EXPECT_EQ(name(""), "%\"\"");
  for (llvm::StringRef text : {"conv1", "9a", "a/b:0", "", "\n\"\\"}) {
    std::string printed = name(text);
    TextParser parser(printed, "f", nullptr);
    llvm::Expected<std::string> back = parser.parseName();
    ASSERT_TRUE(bool(back)) << printed;
    EXPECT_EQ(*back, text.str());
    EXPECT_TRUE(parser.atEnd());
  }
}

//===- Numbers ------------------------------------------------------------===//

std::string spell(double value) {
  return capture([&](llvm::raw_ostream &os) { printDouble(os, value); });
}

TEST(Numbers, Doubles) {
  EXPECT_EQ(spell(0.1), "0.1");
  EXPECT_EQ(spell(6), "6.0");
  EXPECT_EQ(spell(-0.0), "-0.0");
  EXPECT_EQ(spell(1e20), "1e+20");
  EXPECT_EQ(spell(INFINITY), "inf");
  EXPECT_EQ(spell(-INFINITY), "-inf");
  EXPECT_EQ(spell(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(spell(std::copysign(std::numeric_limits<double>::quiet_NaN(), -1)),
            "0xFFF8000000000000");
}

TEST(Numbers, DoublesSurvive) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random();
    double value = llvm::bit_cast<double>(bits);
    std::string text = spell(value);
    TextParser parser(text, "f", nullptr);
    llvm::Expected<double> back = parser.parseDouble();
    ASSERT_TRUE(bool(back)) << text;
    ASSERT_EQ(llvm::bit_cast<uint64_t>(*back), bits) << text;
    ASSERT_TRUE(parser.atEnd());
  }
}

template <typename Fn> std::string parseError(llvm::StringRef text, Fn parse) {
  TextParser parser(text, "f", nullptr);
  return getMessage(parse(parser));
}

TEST(Numbers, Errors) {
  auto parseInt = [](TextParser &parser) { return parser.parseInt(); };
  auto parseDouble = [](TextParser &parser) { return parser.parseDouble(); };
  auto parseInts = [](TextParser &parser) { return parser.parseInts(); };
  EXPECT_EQ(parseError("9223372036854775807", parseInt), "");
  EXPECT_EQ(parseError("9223372036854775808", parseInt),
            "f:1:1: '9223372036854775808' is out of range");
  EXPECT_EQ(parseError("1.5", parseInt), "f:1:1: expected an integer");
  EXPECT_EQ(parseError("0x12", parseInt), "f:1:1: expected an integer");
  EXPECT_EQ(parseError("17", parseDouble), "");
  EXPECT_EQ(parseError("1e999", parseDouble), "f:1:1: '1e999' is out of range");
  EXPECT_EQ(parseError("0x12345678123456789", parseDouble),
            "f:1:1: '0x12345678123456789' is out of range");
  EXPECT_EQ(parseError("1x2", parseDouble), "f:1:1: expected a number");
  EXPECT_EQ(parseError("0x", parseDouble), "f:1:1: expected a number");
  EXPECT_EQ(parseError("infinity", parseDouble), "f:1:1: expected a number");
  EXPECT_EQ(parseError("[]", parseInts), "");
  EXPECT_EQ(parseError("[1, 2", parseInts), "f:1:6: expected ']'");
  EXPECT_EQ(parseError("[1,]", parseInts), "f:1:4: expected an integer");
  EXPECT_EQ(parseError("1]", parseInts), "f:1:1: expected '['");
}

//===- Types --------------------------------------------------------------===//

TEST(TextTypes, Survive) {
  for (const char *text :
       {"float<>", "float<0x3>", "bool<1>", "bfloat16<1x224x224x3>",
        "int8q<4x4, scale 0.5 offset 3>", "uint8q<, scale 1e-05 offset 0>",
        "int32q<0, axis 0 scale [] offset []>",
        "int16q<2x4, axis 0 scale [0.5, 3] offset [0, -7]>"}) {
    TextParser parser(text, "f", nullptr);
    llvm::Expected<Type> type = parser.parseType();
    ASSERT_TRUE(bool(type)) << text << llvm::toString(type.takeError());
    EXPECT_EQ(type->str(), text);
    EXPECT_TRUE(parser.atEnd());
  }
}

TEST(TextTypes, Errors) {
  auto error = [](llvm::StringRef text) {
    return parseError(text,
                      [](TextParser &parser) { return parser.parseType(); });
  };
  EXPECT_EQ(error("float32<3>"), "f:1:1: 'float32' is not an element kind");
  EXPECT_EQ(error("3"), "f:1:1: expected a type such as float<2x3>");
  EXPECT_EQ(error("float"), "f:1:6: expected '<'");
  EXPECT_EQ(error("float<3x>"), "f:1:7: '3x' is not a list of extents");
  EXPECT_EQ(error("float<3xx5>"), "f:1:7: '3xx5' is not a list of extents");
  EXPECT_EQ(error("float<-3>"), "f:1:7: '-3' is not a list of extents");
  EXPECT_EQ(error("float<3 x 5>"), "f:1:9: expected '>'");
  EXPECT_EQ(error("float<9223372036854775808>"),
            "f:1:7: '9223372036854775808' is not a list of extents");
  EXPECT_EQ(
      error("float<4294967296x4294967296>"),
      "f:1:7: a tensor of kind float and shape 4294967296x4294967296 is larger "
      "than 1099511627776 bytes");
  EXPECT_EQ(error("float<3, scale 1 offset 0>"), "f:1:8: expected '>'");
  EXPECT_EQ(error("int8q<3>"), "f:1:8: expected ','");
  EXPECT_EQ(error("int8q<3, scale -1.0 offset 0>"),
            "f:1:21: a scale must be positive and finite");
  EXPECT_EQ(error("int8q<3, scale nan offset 0>"),
            "f:1:20: a scale must be positive and finite");
  EXPECT_EQ(error("int8q<3, scale 1 offset 2147483648>"),
            "f:1:25: '2147483648' is out of range");
  EXPECT_EQ(error("int8q<3, axis 1 scale [1] offset [0]>"),
            "f:1:17: axis 1 is not a dimension of 3");
  EXPECT_EQ(error("int8q<3, axis 0 scale [1, 1] offset [0, 0]>"),
            "f:1:43: expected 3 scales and offsets, one an index of axis 0");
  EXPECT_EQ(error("int8q<2, axis 0 scale [1, 1] offset [0]>"),
            "f:1:40: expected 2 scales and offsets, one an index of axis 0");
}

//===- Attributes ---------------------------------------------------------===//

/// Attributes parsed and printed again, or the error.
std::string roundTrip(const OpInfo &info, llvm::StringRef text,
                      std::optional<unsigned> numInputs = std::nullopt) {
  TextParser parser(text, "f", nullptr);
  llvm::Expected<std::vector<AttrValue>> attrs =
      parser.parseAttrs(info, numInputs);
  if (!attrs)
    return llvm::toString(attrs.takeError());
  EXPECT_TRUE(parser.atEnd());
  return capture([&](llvm::raw_ostream &os) {
    printAttrs(os, info, *attrs, numInputs.value_or(1));
  });
}
std::string roundTrip(NodeKind kind, llvm::StringRef text) {
  return roundTrip(getNodeInfo(kind), text);
}
std::string roundTrip(InstrKind kind, llvm::StringRef text,
                      std::optional<unsigned> numInputs = std::nullopt) {
  return roundTrip(getInstrInfo(kind), text, numInputs);
}

TEST(Attributes, Survive) {
  // Every kind of attribute; defaults are left out.
  EXPECT_EQ(roundTrip(InstrKind::Convolution,
                      "{ pads=[0,0,1,-2], strides = [1, 2], group = 4,\n"
                      "dilations = [], epilogue = {v1:float = Relu(v0)}}"),
            " {strides = [1, 2], pads = [0, 0, 1, -2], dilations = [], group "
            "= 4, epilogue = {v1:float = Relu(v0)}}");
  EXPECT_EQ(roundTrip(InstrKind::MatMul, "{epilogue = {}}"), "");
  EXPECT_EQ(roundTrip(InstrKind::MatMul, ""), "");
  EXPECT_EQ(roundTrip(NodeKind::Relu, ""), "");
  EXPECT_EQ(roundTrip(NodeKind::Reduce,
                      "{mode = \"a\\\"b\", axes = [2], keepDims = true}"),
            " {mode = \"a\\\"b\", axes = [2], keepDims = true}");
  EXPECT_EQ(roundTrip(NodeKind::Splat,
                      "{value = -0.0, elemKind = uint16, shape = [3]}"),
            " {elemKind = uint16, shape = [3], value = -0.0}");
}

TEST(Attributes, Errors) {
  EXPECT_EQ(roundTrip(NodeKind::Softmax, "{axes = 1}"),
            "f:1:2: Softmax has no attribute 'axes'");
  EXPECT_EQ(roundTrip(NodeKind::Softmax, "{axis = 1, axis = 1}"),
            "f:1:12: attribute 'axis' is given twice");
  EXPECT_EQ(roundTrip(NodeKind::Softmax, "{}"),
            "f:1:3: attribute 'axis' of Softmax is missing");
  EXPECT_EQ(roundTrip(NodeKind::Softmax, ""),
            "f:1:1: attribute 'axis' of Softmax is missing");
  EXPECT_EQ(roundTrip(NodeKind::Softmax, "{axis 1}"), "f:1:7: expected '='");
  EXPECT_EQ(roundTrip(NodeKind::Softmax, "{axis = [1]}"),
            "f:1:9: expected an integer");
  EXPECT_EQ(roundTrip(NodeKind::Softmax, "{axis = 1"), "f:1:10: expected '}'");
  EXPECT_EQ(roundTrip(NodeKind::Cast, "{to = float8}"),
            "f:1:7: expected an element kind");
  EXPECT_EQ(roundTrip(NodeKind::ArgMax, "{axis = 1, keepDims = 1}"),
            "f:1:23: expected true or false");
  EXPECT_EQ(roundTrip(NodeKind::Reduce, "{mode = sum}"),
            "f:1:9: expected a string in quotes");
}

TEST(Attributes, ProgramErrors) {
  auto program = [](llvm::StringRef text,
                    std::optional<unsigned> numInputs = std::nullopt) {
    return roundTrip(InstrKind::MatMul, ("{epilogue = " + text + "}").str(),
                     numInputs);
  };
  EXPECT_EQ(program("{v2:float = Relu(v0)}", 2),
            " {epilogue = {v2:float = Relu(v0)}}");
  EXPECT_EQ(program("{v3:float = Relu(v0)}", 2), "f:1:14: expected v2");
  EXPECT_EQ(program("{v2:float = Relu(v0); v2:float = Relu(v0)}"),
            "f:1:35: expected v3");
  EXPECT_EQ(program("{w2:float = Relu(v0)}"),
            "f:1:14: expected a value such as v0");
  EXPECT_EQ(program("{v99999999999:float = Relu(v0)}"),
            "f:1:14: expected a value such as v0");
  EXPECT_EQ(program("{v1:float = Convolution(v0)}"),
            "f:1:25: expected an element-wise operator");
  EXPECT_EQ(program("{v1:floot = Relu(v0)}"),
            "f:1:17: expected an element kind");
  EXPECT_EQ(program("{v1:float = Relu(v0) <x>}"), "f:1:35: expected a number");
  EXPECT_EQ(program("{v1:float = Relu(v0);}"),
            "f:1:34: expected a value such as v0");
}

//===- Constants ----------------------------------------------------------===//

std::shared_ptr<llvm::MemoryBuffer> makeSideFile(llvm::StringRef bytes) {
  return llvm::MemoryBuffer::getMemBufferCopy(bytes);
}

/// \p tensor printed and parsed again; \p text is what was printed.
llvm::Expected<Tensor> reparse(const Tensor &tensor, std::string &text) {
  std::string side;
  llvm::raw_string_ostream sideStream(side);
  ConstantWriter writer(&sideStream);
  text = capture([&](llvm::raw_ostream &os) { writer.print(os, tensor); });
  return TextParser(text, "f", makeSideFile(side))
      .parseConstant(tensor.getType());
}

Type makeType(ElemKind kind, int64_t extent) {
  if (isQuantizedKind(kind))
    return Type(kind, DimsRef(extent), {{0.5f}, {1}, -1});
  return Type(kind, {extent});
}

TEST(Constants, AnyBitsSurvive) {
  std::mt19937 random(17);
  for (ElemKind kind : allElemKinds)
    for (int64_t extent : {0, 1, 3, 16, 17, 33})
      for (int round = 0; round < 50; ++round) {
        Tensor tensor(makeType(kind, extent));
        auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
        for (int64_t i = 0; i < tensor.getSizeInBytes(); ++i)
          do
            bytes[i] = random();
          while (getElemSize(kind) == 1 && !isElementByte(kind, bytes[i]));
        std::string text;
        llvm::Expected<Tensor> back = reparse(tensor, text);
        ASSERT_TRUE(bool(back)) << text << llvm::toString(back.takeError());
        ASSERT_TRUE(back->isBitwiseEqual(tensor)) << text;
      }
}

TEST(Constants, EveryHalfSurvives) {
  for (ElemKind kind : {ElemKind::Float16, ElemKind::BFloat16})
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
      Tensor tensor(Type(kind, {1}));
      *static_cast<uint16_t *>(tensor.getBytes()) = bits;
      std::string text;
      llvm::Expected<Tensor> back = reparse(tensor, text);
      ASSERT_TRUE(bool(back)) << text << llvm::toString(back.takeError());
      ASSERT_TRUE(back->isBitwiseEqual(tensor)) << text;
    }
}

TEST(Constants, Spelling) {
  auto spell = [](const Tensor &tensor) {
    std::string text;
    llvm::consumeError(reparse(tensor, text).takeError());
    return text;
  };
  Tensor floats = Tensor::fromValues<float>(
      Type(ElemKind::Float, {6}),
      {0.1f, -2, 1e30f, INFINITY, std::numeric_limits<float>::quiet_NaN(),
       llvm::bit_cast<float>(0xffc00001)});
  EXPECT_EQ(spell(floats), "[0.1, -2.0, 1e+30, inf, nan, 0xFFC00001]");
  EXPECT_EQ(
      spell(Tensor::fromValues<bool>(Type(ElemKind::Bool, {2}), {true, false})),
      "[true, false]");
  EXPECT_EQ(spell(Tensor::fromValues<int8_t>(Type(ElemKind::Int8, {1, 2}),
                                             {-128, 65})),
            "[-128, 65]");
  EXPECT_EQ(spell(Tensor(Type(ElemKind::Float, Dims()))), "[0.0]");
  EXPECT_EQ(spell(Tensor(Type(ElemKind::Float, {0}))), "[]");
  EXPECT_EQ(spell(Tensor(Type(ElemKind::Float, {17}))), "external 0");
}

TEST(Constants, SideFileIsAligned) {
  std::string side;
  llvm::raw_string_ostream sideStream(side);
  ConstantWriter writer(&sideStream);
  Tensor first(Type(ElemKind::UInt8, {17}));
  Tensor second(Type(ElemKind::UInt8, {65}));
  first.data<uint8_t>()[16] = 5;
  second.data<uint8_t>()[0] = 7;
  EXPECT_EQ(capture([&](llvm::raw_ostream &os) {
              writer.print(os, first);
              os << ' ';
              writer.print(os, second);
              os << ' ';
              writer.print(os, first);
            }),
            "external 0 external 64 external 192");
  sideStream.flush();
  ASSERT_EQ(side.size(), 192u + 17);
  EXPECT_EQ(side[16], 5);
  EXPECT_EQ(side[17], 0);
  EXPECT_EQ(side[64], 7);
  EXPECT_EQ(side[192 + 16], 5);
}

TEST(Constants, SideFileIsCopied) {
  auto side = makeSideFile(std::string(64, '\1'));
  TextParser parser("external 0", "f", side);
  llvm::Expected<Tensor> tensor =
      parser.parseConstant(Type(ElemKind::UInt8, {64}));
  ASSERT_TRUE(bool(tensor));
  EXPECT_NE(tensor->getBytes(), side->getBufferStart());
  EXPECT_THAT(tensor->data<uint8_t>(), testing::Each(1));
}

TEST(Constants, Errors) {
  auto error = [](llvm::StringRef text, const Type &type,
                  std::optional<std::string> side = std::nullopt) {
    TextParser parser(text, "f", side ? makeSideFile(*side) : nullptr);
    return getMessage(parser.parseConstant(type));
  };
  Type floats(ElemKind::Float, {3});
  EXPECT_EQ(error("[1.0, 2.0]", floats),
            "f:1:11: a constant of type float<3> has 3 elements, got 2");
  EXPECT_EQ(error("[1.0, 2.0, 3, 4]", floats),
            "f:1:17: a constant of type float<3> has 3 elements, got 4");
  EXPECT_EQ(error("[1.0, true, 3]", floats), "f:1:7: expected a number");
  EXPECT_EQ(error("elided", floats),
            "f:1:7: the constant was elided when the text was printed");
  EXPECT_EQ(error("", floats), "f:1:1: expected '['");
  EXPECT_EQ(error("[128]", Type(ElemKind::Int8, {1})),
            "f:1:2: '128' is out of range");
  EXPECT_EQ(error("[-1]", Type(ElemKind::UInt64, {1})),
            "f:1:2: '-1' is out of range");
  EXPECT_EQ(error("[1]", Type(ElemKind::Bool, {1})),
            "f:1:2: expected true or false");
  EXPECT_EQ(error("[65520.0]", Type(ElemKind::Float16, {1})),
            "f:1:2: '65520.0' is out of range");
  EXPECT_EQ(error("[0x12345]", Type(ElemKind::Float16, {1})),
            "f:1:2: '0x12345' is out of range");
  EXPECT_EQ(error("[inf]", Type(ElemKind::Float16, {1})), "");
  EXPECT_EQ(error("[464.0]", Type(ElemKind::Float8E4M3FN, {1})), "");
  EXPECT_EQ(error("[465.0]", Type(ElemKind::Float8E4M3FN, {1})),
            "f:1:2: '465.0' is out of range");
  EXPECT_EQ(error("[0x1f]", Type(ElemKind::Float4E2M1, {1})),
            "f:1:2: '0x1f' is out of range");
  EXPECT_EQ(error("[-8, 7]", Type(ElemKind::Int4, {2})), "");
  EXPECT_EQ(error("[8]", Type(ElemKind::Int4, {1})),
            "f:1:2: '8' is out of range");

  Type many(ElemKind::Float, {17});
  EXPECT_EQ(error("external 0", many),
            "f:1:11: there is no side file for an external constant");
  EXPECT_EQ(error("external 64", many, std::string(64 + 68, 0)), "");
  EXPECT_EQ(error("external 64", many, std::string(64 + 67, 0)),
            "f:1:12: the side file of 131 bytes does not hold 68 bytes at "
            "offset 64");
  EXPECT_EQ(error("external 9223372036854775744", many, std::string(68, 0)),
            "f:1:29: the side file of 68 bytes does not hold 68 bytes at "
            "offset 9223372036854775744");
  EXPECT_EQ(error("external -64", many, std::string(68, 0)),
            "f:1:13: offset -64 of an external constant is not a multiple of "
            "64");
  EXPECT_EQ(error("external 4", many, std::string(100, 0)),
            "f:1:11: offset 4 of an external constant is not a multiple of "
            "64");
  EXPECT_EQ(error("external 0", Type(ElemKind::Bool, {3}), "\1\2\1"),
            "f:1:11: an external bool constant has bytes that are no bool");
  EXPECT_EQ(error("external 0", Type(ElemKind::Int4, {2}), "\1\xff"), "");
  EXPECT_EQ(error("external 0", Type(ElemKind::Int4, {1}), "\x0f"),
            "f:1:11: an external int4 constant has bytes that are no int4");
}

TEST(Constants, HugeTypesTakeNoMemory) {
  // A terabyte, which the type allows: refused before it is allocated.
  Type huge(ElemKind::Float, {int64_t(1) << 38});
  for (const char *text : {"[1.0]", "[]", "external 0"}) {
    TextParser parser(text, "f", makeSideFile("x"));
    EXPECT_NE(getMessage(parser.parseConstant(huge)), "") << text;
  }
}

//===- Malformed text -----------------------------------------------------===//

/// Parses \p text as everything that there is.
void parseAll(llvm::StringRef text) {
  auto side = makeSideFile(std::string(256, '\1'));
  auto drop = [](auto &&expected) { llvm::consumeError(expected.takeError()); };
  TextParser parser(text, "f", side);
  // Every round takes at least one token, or stops.
  while (!parser.atEnd()) {
    unsigned line = parser.peek().line, column = parser.peek().column;
    drop(parser.parseName());
    parser.consumeIf("=");
    drop(parser.parseIdentifier("x"));
    drop(parser.parseProgram());
    drop(parser.parseAttrs(getNodeInfo(NodeKind::Convolution), 1));
    drop(parser.parseAttrs(getNodeInfo(NodeKind::Reduce)));
    if (llvm::Expected<Type> type = parser.parseType()) {
      parser.consumeIf("=");
      if (type->getSizeInBytes() < 1 << 20)
        drop(parser.parseConstant(*type));
    } else {
      llvm::consumeError(type.takeError());
    }
    drop(parser.parseInts());
    drop(parser.parseDouble());
    drop(parser.parseString());
    for (const char *mark :
         {"(", ")", "{", "}", "[", "]", "<", ">", ",", ":", ";", "@", "->"})
      parser.consumeIf(mark);
    if (parser.peek().line == line && parser.peek().column == column)
      drop(parser.parseInt());
    if (parser.peek().line == line && parser.peek().column == column)
      return;
  }
}

TEST(MalformedText, NeverCrashes) {
  const std::string seed =
      "%conv1 = Convolution {strides = [2, 1], pads = [1, 0, 1, 2], dilations "
      "= [1, 1], group = 1, epilogue = {v1:float = Clip(v0) <0.0, 6e+00>; "
      "v2:bool = Less(v1, v0)}} : float<1x2x3x4>\n"
      "Reduce {mode = \"s\\0Aum\", axes = [0], keepDims = true}\n"
      "float<3> = [1.0, nan, 0x7FC00001] int8q<2x3, axis 0 scale [0.5, 3] "
      "offset [0, 1]> = [1, 2, 3, 4, 5, -6] // c\n"
      "bool<17> = external 64 float<4> = external 0 -> @out\n";
  // The seed itself is understood as a whole.
  parseAll(seed);
  const llvm::StringRef pieces[] = {"9223372036854775807",
                                    "-9223372036854775808",
                                    "0x",
                                    "x",
                                    "{",
                                    "[",
                                    "<",
                                    "\"",
                                    "%\"",
                                    "\\",
                                    "external 18446744073709551615",
                                    "float<",
                                    "v",
                                    "//",
                                    "1e9999",
                                    "-",
                                    llvm::StringRef("\0", 1),
                                    "\n",
                                    "4294967296x4294967296"};
  std::mt19937 random(2024);
  for (int round = 0; round < 2000; ++round) {
    std::string text = seed;
    for (int edit = random() % 8; edit >= 0; --edit) {
      size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = char(random());
        break;
      case 1:
        text.erase(at, random() % 9);
        break;
      case 2: {
        llvm::StringRef piece = pieces[random() % std::size(pieces)];
        text.insert(at, piece.data(), piece.size());
        break;
      }
      case 3:
        text.insert(at, text.substr(random() % text.size(), random() % 30));
        break;
      }
      if (text.empty())
        text = "x";
    }
    parseAll(text);
  }
}

TEST(MalformedText, DeepNestingIsHarmless) {
  for (char c : {'{', '[', '<', '('})
    parseAll(std::string(1 << 14, c));
  parseAll("float<" + std::string(1 << 20, '1') + ">");
  std::string extents = "float<1";
  for (int i = 0; i < 100000; ++i)
    extents += "x1";
  TextParser parser(extents, "f", nullptr);
  EXPECT_EQ(getMessage(parser.parseType()),
            "f:1:" + std::to_string(extents.size() + 1) + ": expected '>'");
}

} // namespace

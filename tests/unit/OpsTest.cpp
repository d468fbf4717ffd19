//===- OpsTest.cpp - Records, scalar programs and formulas ----------------===//

#include "Messages.h"
#include "glowish/Graph/Node.h"
#include "glowish/Ops/Scalar.h"
#include "glowish/Ops/TextForm.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace glowish;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===- Attributes ---------------------------------------------------------===//

TEST(AttrValue, IdentityIsByBits) {
  EXPECT_TRUE(isIdentical(AttrValue(0.5), AttrValue(0.5)));
  EXPECT_FALSE(isIdentical(AttrValue(0.0), AttrValue(-0.0)));
  EXPECT_TRUE(isIdentical(AttrValue(notANumber), AttrValue(notANumber)));
  EXPECT_FALSE(isIdentical(AttrValue(int64_t(1)), AttrValue(true)));
  EXPECT_FALSE(isIdentical(AttrValue(1.0), AttrValue(int64_t(1))));
  std::vector<AttrValue> a = {std::string("x"), std::vector<int64_t>{1, 2}};
  std::vector<AttrValue> b = a;
  EXPECT_TRUE(areIdentical(a, b));
  b[1] = std::vector<int64_t>{2, 1};
  EXPECT_FALSE(areIdentical(a, b));
  b.pop_back();
  EXPECT_FALSE(areIdentical(a, b));
}

TEST(AttrValue, HashAgreesWithIdentity) {
  ScalarProgram program;
  program.steps.push_back({ScalarOp::Clip, {0}, {0.0, 6.0}, ElemKind::Float});
  ScalarProgram other = program;
  other.steps[0].params[0] = -0.0;
  std::vector<AttrValue> values = {int64_t(1),
                                   true,
                                   1.0,
                                   0.0,
                                   -0.0,
                                   notANumber,
                                   std::string("1"),
                                   std::vector<int64_t>{1},
                                   std::vector<int64_t>{1, 0},
                                   ElemKind::Float16,
                                   program,
                                   other};
  for (const AttrValue &a : values)
    for (const AttrValue &b : values)
      EXPECT_EQ(isIdentical(a, b), hash_value(a) == hash_value(b))
          << a.index() << ' ' << b.index();
}

/// A value of a type that the attributes do not know.
struct Level {
  int number;
  std::string str() const { return "level " + std::to_string(number); }
  static std::optional<Level> parse(llvm::StringRef text) {
    int number;
    return text.consume_front("level ") && !text.getAsInteger(10, number)
               ? std::optional(Level{number})
               : std::nullopt;
  }
  static std::string listForms() { return "'level NUMBER'"; }
  static const CustomAttrType attrType;
  bool operator==(const Level &) const = default;
  friend llvm::hash_code hash_value(const Level &level) {
    return llvm::hash_value(level.number);
  }
};
constinit const CustomAttrType Level::attrType = makeCustomAttrType<Level>();

TEST(AttrValue, CustomOnesAreComparedByTheirType) {
  CustomAttr one(Level{1});
  EXPECT_EQ(one.get<Level>().number, 1);
  EXPECT_EQ(one.str(), "level 1");
  EXPECT_TRUE(isIdentical(one, CustomAttr(Level{1})));
  EXPECT_FALSE(isIdentical(one, CustomAttr(Level{2})));
  EXPECT_FALSE(isIdentical(one, std::string("level 1")));
  EXPECT_FALSE(isIdentical(one, CustomAttr()));
  EXPECT_EQ(hash_value(AttrValue(one)),
            hash_value(AttrValue(CustomAttr(Level{1}))));
  EXPECT_TRUE(CustomAttr::parse(Level::attrType, "level 1") == one);
  EXPECT_FALSE(CustomAttr::parse(Level::attrType, "level"));
}

TEST(AttrValue, TextFormsHaveCustomOnesAsStrings) {
  const AttrInfo attrs[] = {{.name = "level",
                             .kind = AttrKind::Custom,
                             .customType = &Level::attrType}};
  OpInfo info = {.name = "Op", .summary = "", .attrs = attrs};
  std::string text;
  llvm::raw_string_ostream os(text);
  printAttrs(os, info, {AttrValue(CustomAttr(Level{7}))}, 0);
  EXPECT_EQ(text, " {level = \"level 7\"}");
  auto parsed = TextParser(text, "f", nullptr).parseAttrs(info);
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  EXPECT_EQ((*parsed)[0], AttrValue(CustomAttr(Level{7})));
  EXPECT_EQ(getMessage(TextParser("{level = \"7\"}", "f", nullptr)
                           .parseAttrs(info)
                           .takeError()),
            "f:1:10: attribute 'level': accepted: 'level NUMBER'");
  EXPECT_EQ(getMessage(checkStructure(info, {}, {AttrValue(CustomAttr())})),
            "attribute 'level': accepted: 'level NUMBER'");
  EXPECT_EQ(getMessage(checkStructure(info, {}, {AttrValue(7)})),
            "attribute 'level': expected a value of the back end");
}

TEST(OpInfo, Defaults) {
  const OpInfo &info = getNodeInfo(NodeKind::Convolution);
  std::vector<AttrValue> attrs = getDefaultAttrs(info);
  ASSERT_EQ(attrs.size(), info.attrs.size());
  for (unsigned i = 0; i < attrs.size(); ++i)
    EXPECT_EQ(attrs[i].index(), size_t(info.attrs[i].kind));
  EXPECT_EQ(info.findAttr("group"), 3u);
  EXPECT_EQ(info.findAttr("groups"), info.attrs.size());
}

TEST(OpInfo, Structure) {
  const OpInfo &info = getNodeInfo(NodeKind::Reduce);
  auto check = [&](std::vector<AttrValue> attrs) {
    return getMessage(checkStructure(info, {true}, attrs));
  };
  std::vector<int64_t> axes = {0};
  EXPECT_EQ(check({std::string("sum"), axes, true}), "");
  EXPECT_EQ(check({std::string("total"), axes, true}),
            "attribute 'mode': 'total' is not one of sum, mean, max, min, "
            "prod");
  EXPECT_EQ(check({std::string("sum"), int64_t(0), true}),
            "attribute 'axes': expected a list of integers");
  EXPECT_EQ(check({std::string("sum"), axes}), "takes 3 attributes, got 2");
  EXPECT_EQ(getMessage(checkStructure(info, {false},
                                      {std::string("sum"), axes, true})),
            "operand 'input' is missing");
}

TEST(OpInfo, RoleNames) {
  EXPECT_EQ(getRoleName(OperandRole::In), "in");
  EXPECT_EQ(getRoleName(OperandRole::Out), "out");
  EXPECT_EQ(getRoleName(OperandRole::InOut), "inout");
  EXPECT_EQ(getRoleName(OperandRole::Scratch), "scratch");
}

TEST(OpInfo, BroadcastShapes) {
  auto broadcast = [](std::initializer_list<Dims> shapes) {
    std::vector<DimsRef> refs(shapes.begin(), shapes.end());
    llvm::Expected<Dims> result = broadcastShapes(refs);
    return result ? formatShape(*result) : llvm::toString(result.takeError());
  };
  EXPECT_EQ(broadcast({}), "scalar");
  EXPECT_EQ(broadcast({{}, {}}), "scalar");
  EXPECT_EQ(broadcast({{7, 1, 3}, {17, 1}}), "7x17x3");
  EXPECT_EQ(broadcast({{1}, {0}, {1, 1}}), "1x0");
  EXPECT_EQ(broadcast({{3}, {1}, {3, 1}, {5, 1, 1}}), "5x3x3");
  EXPECT_EQ(broadcast({{3}, {0}}), "shapes 3 and 0 do not broadcast");
  // The two that don't fit are named.
  EXPECT_EQ(broadcast({{1}, {3, 2}, {1, 1}, {3, 5}}),
            "shapes 3x2 and 3x5 do not broadcast");
}

//===- Scalar programs ----------------------------------------------------===//

std::string print(const ScalarProgram &program, unsigned numInputs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  program.print(os, numInputs);
  return text;
}

/// The program that \p text spells.
ScalarProgram parse(llvm::StringRef text) {
  llvm::Expected<ScalarProgram> program =
      TextParser(text, "test", nullptr).parseProgram();
  if (program)
    return *program;
  ADD_FAILURE() << llvm::toString(program.takeError());
  return {};
}

/// The kind of the result, or the error.
std::string check(llvm::StringRef text, llvm::ArrayRef<ElemKind> inputs) {
  llvm::Expected<ElemKind> kind = parse(text).check(inputs);
  return kind ? getElemKindName(*kind).str() : llvm::toString(kind.takeError());
}

TEST(ScalarProgram, PrintsAndParses) {
  for (const char *text :
       {"{}", "{v1:float = Relu(v0)}",
        "{v2:float = Add(v0, v1); v3:float = Clip(v2) <0.0, 6.0>}",
        "{v3:bool = Less(v1, v2); v4:int8 = Select(v3, v0, v0)}",
        "{v1:float16 = Clip(v0) <-inf, nan>; v2:double = Cast(v1)}"}) {
    ScalarProgram program = parse(text);
    unsigned numInputs = program.empty() ? 1 : text[2] - '0';
    EXPECT_EQ(print(program, numInputs), text);
  }
}

TEST(ScalarProgram, Check) {
  using enum ElemKind;
  EXPECT_EQ(check("{}", {Int8, Float}), "int8");
  EXPECT_EQ(
      check("{v2:float = Add(v0, v1); v3:bool = Less(v2, v0)}", {Float, Float}),
      "bool");
  EXPECT_EQ(check("{v1:int8 = Cast(v0)}", {Float}), "int8");
  EXPECT_EQ(check("{v2:double = Select(v0, v1, v1)}", {Bool, Double}),
            "double");
  EXPECT_EQ(check("{v2:bool = Select(v0, v1, v0)}", {Bool, Bool}), "bool");
}

TEST(ScalarProgram, CheckRefuses) {
  using enum ElemKind;
  EXPECT_EQ(check("{}", {}), "a scalar program needs an input");
  EXPECT_EQ(check("{}", {Float, Int8Q}),
            "v1 is int8q; scalar programs don't take quantized kinds");
  EXPECT_EQ(check("{v2:float = Add(v0, v1)}", {Float, Double}),
            "v2 = Add: v1 is double, expected float as v0 is");
  EXPECT_EQ(check("{v1:float = Relu(v1)}", {Float}),
            "v1 = Relu: v1 is not an earlier value");
  EXPECT_EQ(check("{v1:float = Relu(v4294967295)}", {Float}),
            "v1 = Relu: v4294967295 is not an earlier value");
  EXPECT_EQ(check("{v1:float = Add(v0)}", {Float}),
            "v1 = Add: takes 2 arguments, got 1");
  EXPECT_EQ(check("{v1:float = Relu()}", {Float}),
            "v1 = Relu: takes 1 arguments, got 0");
  EXPECT_EQ(check("{v1:float = Clip(v0) <0.0>}", {Float}),
            "v1 = Clip: takes 2 parameters, got 1");
  EXPECT_EQ(check("{v1:double = Relu(v0)}", {Float}),
            "v1 = Relu: the result is float, not double");
  EXPECT_EQ(check("{v1:float = Less(v0, v0)}", {Float}),
            "v1 = Less: the result is bool, not float");
  EXPECT_EQ(check("{v1:uint8 = Neg(v0)}", {UInt8}),
            "v1 = Neg: v0 is uint8, expected a float or signed integer kind");
  EXPECT_EQ(check("{v1:bool = And(v0, v0)}", {Int8}),
            "v1 = And: v0 is int8, expected bool");
  EXPECT_EQ(check("{v1:float = Select(v0, v0, v0)}", {Float}),
            "v1 = Select: v0 is float, expected bool");
  EXPECT_EQ(check("{v1:int8q = Cast(v0)}", {Float}),
            "v1 = Cast: the result can't be int8q, a quantized kind");
  std::string table = "{v1:int8 = Lookup(v0) <128.0";
  for (int i = 1; i < 256; ++i)
    table += ", 0.0";
  EXPECT_EQ(check(table + ">}", {Int8}),
            "v1 = Lookup: the table: 128.00 is not a number of int8");
}

TEST(ScalarProgram, AppendRenumbers) {
  // Inputs v0, v1; the second program's v1, v2 become v2, v3.
  ScalarProgram program =
      parse("{v2:float = Add(v0, v1); v3:float = Mul(v2, v1)}");
  program.append(parse("{v3:float = Sub(v1, v0); v4:float = Div(v3, v2)}"), 2,
                 3);
  EXPECT_EQ(print(program, 4),
            "{v4:float = Add(v0, v1); v5:float = Mul(v4, v1); v6:float = "
            "Sub(v2, v5); v7:float = Div(v6, v3)}");
}

TEST(ScalarProgram, AppendToAndOfNothing) {
  ScalarProgram program;
  program.append(parse("{v2:float = Add(v0, v1)}"), 1, 2);
  EXPECT_EQ(print(program, 2), "{v2:float = Add(v0, v1)}");
  // An input without uses keeps its place.
  program.append(ScalarProgram(), 2, 2);
  EXPECT_EQ(print(program, 3), "{v3:float = Add(v0, v1)}");
  program.append(program, 3, 3);
  EXPECT_EQ(print(program, 5),
            "{v5:float = Add(v0, v1); v6:float = Add(v5, v3)}");
}

TEST(ScalarProgram, TableIsIndexedByOperator) {
  llvm::ArrayRef<ScalarOpInfo> table = getScalarOpTable();
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(findScalarOp(table[i].name), ScalarOp(i));
    EXPECT_EQ(getScalarOpInfo(ScalarOp(i)).name, table[i].name);
  }
  EXPECT_FALSE(findScalarOp("relu"));
  const ScalarOpInfo &clip = getScalarOpInfo(ScalarOp::Clip);
  EXPECT_THAT(clip.params, testing::ElementsAre("low", "high"));
  EXPECT_TRUE(getScalarOpInfo(ScalarOp::Add).isCommutative);
  EXPECT_FALSE(getScalarOpInfo(ScalarOp::Sub).isCommutative);
}

TEST(ScalarProgram, AcceptedKinds) {
  auto accepted = [](ScalarOp op) {
    std::string kinds;
    for (ElemKind kind :
         {ElemKind::BFloat16, ElemKind::Int16, ElemKind::UInt64, ElemKind::Bool,
          ElemKind::Int8Q, ElemKind::Int4, ElemKind::Float8E5M2})
      kinds += getScalarOpInfo(op).accepts(kind) ? '1' : '0';
    return kinds;
  };
  EXPECT_EQ(accepted(ScalarOp::Exp), "1000000");
  EXPECT_EQ(accepted(ScalarOp::Add), "1110000");
  EXPECT_EQ(accepted(ScalarOp::Neg), "1100000");
  EXPECT_EQ(accepted(ScalarOp::Not), "0001000");
  EXPECT_EQ(accepted(ScalarOp::Equal), "1111000");
  EXPECT_EQ(accepted(ScalarOp::Cast), "1111011");
}

//===- Formulas -----------------------------------------------------------===//

template <typename Formula, typename T, typename... Params>
auto unary(T x, Params... params) {
  return Formula::eval(Num<T>(x), {double(params)...}).value;
}
template <typename Formula, typename T> auto binary(T x, T y) {
  return Formula::eval(Num<T>(x), Num<T>(y)).value;
}

TEST(Formula, FloatCorners) {
  using namespace formula;
  const float inf = infinity, nan = notANumber;
  for (auto [x, y] : {std::pair(nan, 1.0f), {1.0f, nan}, {nan, nan}}) {
    EXPECT_TRUE(std::isnan(binary<Max>(x, y)));
    EXPECT_TRUE(std::isnan(binary<Min>(x, y)));
    EXPECT_FALSE(binary<Less>(x, y));
    EXPECT_FALSE(binary<GreaterOrEqual>(x, y));
    EXPECT_FALSE(binary<Equal>(x, y));
  }
  EXPECT_TRUE(std::isnan(unary<Relu>(nan)));
  EXPECT_TRUE(std::isnan(unary<Clip>(nan, 0, 6)));
  EXPECT_TRUE(std::isnan(unary<formula::Sign>(nan)));
  EXPECT_TRUE(std::isnan(unary<Abs>(nan)));
  EXPECT_EQ(unary<Relu>(-inf), 0);
  EXPECT_EQ(unary<Relu>(inf), inf);
  EXPECT_EQ(unary<Abs>(-inf), inf);
  EXPECT_EQ(binary<Div>(1.0f, 0.0f), inf);
  EXPECT_EQ(binary<Div>(1.0f, -0.0f), -inf);
  EXPECT_TRUE(std::isnan(binary<Div>(0.0f, 0.0f)));
  EXPECT_EQ(unary<Clip>(7.0f, 0, 6), 6);
  EXPECT_EQ(unary<Clip>(-7.0f, -infinity, 6), -7);
  // Bounds in the wrong order: the upper one wins.
  EXPECT_EQ(unary<Clip>(5.0f, 6, 0), 0);
}

TEST(Formula, Functions) {
  using namespace formula;
  EXPECT_EQ(unary<Round>(0.5f), 0);
  EXPECT_EQ(unary<Round>(1.5f), 2);
  EXPECT_EQ(unary<Round>(-2.5f), -2);
  EXPECT_EQ(unary<Floor>(-0.5f), -1);
  EXPECT_EQ(unary<Ceil>(0.25f), 1);
  EXPECT_EQ(unary<Exp>(-float(infinity)), 0);
  EXPECT_EQ(unary<formula::Log>(0.0f), -infinity);
  EXPECT_TRUE(std::isnan(unary<formula::Sqrt>(-1.0f)));
  EXPECT_EQ(unary<Reciprocal>(-0.0f), -infinity);
  EXPECT_EQ(binary<Pow>(2.0f, 10.0f), 1024);
  EXPECT_EQ(unary<Tanh>(float(infinity)), 1);
  EXPECT_FLOAT_EQ(unary<Erf>(1.0f), 0.84270079f);
}

/// Passes make x * x of a square, which is to change no bit.
TEST(Formula, SquaresAreMultiplications) {
  unsigned wrong = 0;
  for (float x = 0.5f; x < 2; x += 0x1p-20f)
    wrong += binary<formula::Pow>(x, 2.0f) != x * x;
  EXPECT_EQ(wrong, 0u);
}

TEST(Formula, Activations) {
  using namespace formula;
  EXPECT_FLOAT_EQ(unary<Sigmoid>(0.0f), 0.5f);
  EXPECT_EQ(unary<Sigmoid>(-200.0f), 0);
  EXPECT_EQ(unary<Sigmoid>(200.0f), 1);
  EXPECT_FLOAT_EQ(unary<Silu>(1.0f), 0.73105858f);
  EXPECT_FLOAT_EQ(unary<Swish>(1.0f, 2), 0.88079708f);
  EXPECT_FLOAT_EQ(unary<Gelu>(1.0f), 0.84134475f);
  EXPECT_FLOAT_EQ(unary<GeluTanh>(1.0f), 0.84119199f);
  EXPECT_EQ(unary<Gelu>(-200.0f), 0);
  EXPECT_EQ(unary<GeluTanh>(-200.0f), 0);
  EXPECT_EQ(unary<GeluTanh>(1e30f), 1e30f);
  EXPECT_EQ(unary<HardSwish>(-3.0f), 0);
  EXPECT_FLOAT_EQ(unary<HardSwish>(3.0f), 3);
  EXPECT_FLOAT_EQ(unary<HardSwish>(1.0f), 4.0f / 6.0f);
  EXPECT_EQ(unary<HardSigmoid>(10.0f, 0.2, 0.5), 1);
  EXPECT_FLOAT_EQ(unary<HardSigmoid>(1.0f, 0.2, 0.5), 0.7f);
  EXPECT_FLOAT_EQ(unary<LeakyRelu>(-2.0f, 0.1), -0.2f);
  EXPECT_EQ(unary<LeakyRelu>(2.0f, 0.1), 2);
  EXPECT_EQ(binary<PRelu>(-2.0f, 0.25f), -0.5f);
  EXPECT_FLOAT_EQ(unary<Elu>(-1.0f, 2.0), -1.2642411f);
  // The branch that is not taken must not overflow into the result.
  EXPECT_EQ(unary<Elu>(1000.0f, 1.0), 1000);
}

TEST(Formula, LiteralsHaveTheScalarsType) {
  // In double the sum would be 0.1 exactly rounded once.
  EXPECT_EQ(unary<formula::HardSigmoid>(0.1f, 0.2, 0.3), 0.1f * 0.2f + 0.3f);
  EXPECT_EQ(unary<formula::HardSigmoid>(0.1, 0.2, 0.3), 0.1 * 0.2 + 0.3);
}

TEST(Formula, IntegersWrap) {
  using namespace formula;
  constexpr int64_t lowest = std::numeric_limits<int64_t>::lowest();
  constexpr int64_t highest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(binary<Add>(highest, int64_t(1)), lowest);
  EXPECT_EQ(binary<Sub>(lowest, int64_t(1)), highest);
  EXPECT_EQ(binary<Mul>(lowest, int64_t(-1)), lowest);
  EXPECT_EQ(binary<Mul>(int64_t(3037000500), int64_t(3037000500)),
            int64_t(uint64_t(3037000500) * 3037000500));
  EXPECT_EQ(unary<formula::Neg>(lowest), lowest);
  EXPECT_EQ(unary<Abs>(lowest), lowest);
  EXPECT_EQ(binary<Add>(int8_t(127), int8_t(1)), int8_t(-128));
  EXPECT_EQ(binary<Mul>(uint16_t(65535), uint16_t(65535)), uint16_t(1));
  EXPECT_EQ(binary<Sub>(uint8_t(0), uint8_t(1)), uint8_t(255));
}

TEST(Formula, IntegerDivision) {
  using namespace formula;
  constexpr int64_t lowest = std::numeric_limits<int64_t>::lowest();
  EXPECT_EQ(binary<Div>(int64_t(-7), int64_t(2)), -3);
  EXPECT_EQ(binary<Div>(int64_t(7), int64_t(-2)), -3);
  EXPECT_EQ(binary<Div>(int64_t(7), int64_t(0)), 0);
  EXPECT_EQ(binary<Div>(lowest, int64_t(-1)), lowest);
  EXPECT_EQ(binary<Div>(int8_t(-128), int8_t(-1)), int8_t(-128));
  EXPECT_EQ(binary<Div>(uint8_t(200), uint8_t(7)), uint8_t(28));
}

TEST(Formula, IntegerLiteralsSaturate) {
  using namespace formula;
  EXPECT_EQ(unary<Clip>(int64_t(17), -infinity, infinity), 17);
  EXPECT_EQ(unary<Clip>(int8_t(-100), -1000, 1000), int8_t(-100));
  EXPECT_EQ(unary<Clip>(uint8_t(200), -5, 6.9), uint8_t(6));
  EXPECT_EQ(unary<Clip>(int64_t(-3), 0, 1e300), 0);
  EXPECT_EQ(unary<formula::Sign>(int64_t(-17)), -1);
  EXPECT_EQ(unary<formula::Sign>(int64_t(0)), 0);
  EXPECT_EQ(unary<Relu>(int8_t(-1)), int8_t(0));
  EXPECT_EQ(Num<int8_t>::convert(notANumber), 0);
  EXPECT_EQ(Num<int8_t>::convert(-128.5), -128);
  EXPECT_EQ(Num<int8_t>::convert(127.5), 127);
  EXPECT_EQ(Num<uint64_t>::convert(0x1p64),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(Num<int64_t>::convert(-0x1p63),
            std::numeric_limits<int64_t>::lowest());
}

TEST(Formula, Bools) {
  using namespace formula;
  for (bool x : {false, true}) {
    EXPECT_EQ(unary<formula::Not>(x), !x);
    for (bool y : {false, true}) {
      EXPECT_EQ(binary<formula::And>(x, y), x && y);
      EXPECT_EQ(binary<formula::Or>(x, y), x || y);
      EXPECT_EQ(binary<Equal>(x, y), x == y);
    }
    EXPECT_EQ(Select::eval(Num<bool>(x), Num<float>(1), Num<float>(2)).value,
              x ? 1 : 2);
    EXPECT_EQ(
        Select::eval(Num<bool>(x), Num<bool>(true), Num<bool>(false)).value, x);
  }
}

TEST(Formula, DispatchFindsEveryOperator) {
  for (size_t i = 0; i < getScalarOpTable().size(); ++i) {
    const ScalarOpInfo &info = getScalarOpTable()[i];
    dispatchScalarOp(ScalarOp(i), [&](auto formula) {
      using Formula = decltype(formula);
      EXPECT_EQ(Formula::numArgs, info.numArgs) << info.name.str();
      EXPECT_EQ(Formula::numParams, info.params.size() + info.tableSize)
          << info.name.str();
      EXPECT_EQ(Formula::kinds, info.kinds) << info.name.str();
      EXPECT_EQ(Formula::result, info.result) << info.name.str();
      EXPECT_EQ(Formula::firstIsBool, info.firstIsBool) << info.name.str();
    });
  }
}

} // namespace

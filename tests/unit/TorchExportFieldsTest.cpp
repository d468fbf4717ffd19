//===- TorchExportFieldsTest.cpp - Fields of exported programs ------------===//

#include "TorchExport/Arguments.h"
#include "TorchExport/Fields.h"
#include "TorchExport/Json.h"
#include "TorchExport/Weights.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::torchexport;
using testing::HasSubstr;

/// Returns what is wrong with the fields of \p text, an object of \p type.
static std::string check(llvm::StringRef text,
                         llvm::StringRef type = "ExportedProgram") {
  llvm::json::Value value = llvm::cantFail(parseJson(text));
  llvm::Error error = checkFields(*value.getAsObject(), type);
  return error ? llvm::toString(std::move(error)) : "accepted";
}

/// Returns the same of a program with one node, whose fields are \p fields.
static std::string checkNode(const std::string &fields) {
  return check("{\"graph_module\": {\"graph\": {\"nodes\": [{\"name\": \"n\", "
               "\"target\": \"torch.ops.aten.relu.default\", " +
               fields + "}]}}}");
}

TEST(TorchExportFields, FieldsOfLaterSchemas) {
  EXPECT_EQ(check("{\"torch_version\": \"2.9\", \"guards_code\": []}"),
            "accepted");
  EXPECT_THAT(
      check("{\"precision\": \"tf32\"}"),
      HasSubstr("field 'precision' of ExportedProgram is \"tf32\", which "
                "is none of the schema 8.20; accepted: none"));
  // What a later writer leaves at its default.
  EXPECT_EQ(
      check("{\"precision\": null, \"flags\": {}, \"n\": 0, \"on\": false}"),
      "accepted");
  EXPECT_THAT(checkNode("\"alpha\": 0.5"),
              HasSubstr("node 'n' (torch.ops.aten.relu.default): field 'alpha' "
                        "of Node is 0.5"));
  EXPECT_THAT(checkNode("\"inputs\": [{\"name\": \"self\", \"arg\": "
                        "{\"as_tensor\": {\"name\": \"x\", \"view\": [1]}}}]"),
              HasSubstr("field 'view' of NamedValue is a list"));
}

TEST(TorchExportFields, MembersOfUnions) {
  EXPECT_EQ(check("{\"as_float_lists\": [[0.5]]}", "Argument"), "accepted");
  EXPECT_THAT(check("{\"as_quaternion\": 1}", "Argument"),
              HasSubstr("field 'as_quaternion' of Argument is 1, which is none "
                        "of the schema 8.20; accepted: none"));
  // The only member of the union, even if its value is like a default.
  auto read = [](llvm::StringRef json) {
    llvm::json::Value value = llvm::cantFail(parseJson(json));
    auto argument = ExportedValues().read(value);
    return argument ? "accepted" : llvm::toString(argument.takeError());
  };
  for (const char *name : {"as_quaternion", "as_float_lists", "as_int_lists"})
    EXPECT_EQ(read("{\"" + std::string(name) + "\": []}"),
              "an argument is '" + std::string(name) +
                  "'; accepted: tensors, numbers, strings, and lists of them");
}

TEST(TorchExportFields, KindsOfTensors) {
  auto kind = [](int64_t number) {
    auto own = getExportedKind(number);
    return own ? getElemKindName(*own).str() : llvm::toString(own.takeError());
  };
  EXPECT_EQ(kind(7), "float");
  EXPECT_EQ(kind(28), "uint16");
  EXPECT_EQ(kind(34), "uint32");
  EXPECT_EQ(kind(35), "uint64");
  for (int64_t number : {-1, 0, 9, 14, 29, 33, 36})
    EXPECT_EQ(kind(number),
              "a tensor has the dtype number " + std::to_string(number) +
                  "; accepted: floats of 16 bits and more, integers, bools and "
                  "complex floats");
}

TEST(TorchExportFields, UnionsHaveOneMember) {
  EXPECT_EQ(check("{\"as_int\": 3, \"as_float\": null}", "Argument"),
            "accepted");
  EXPECT_THAT(check("{\"as_int\": 3, \"as_float\": 0.5}", "Argument"),
              HasSubstr("the union Argument has the members"));
  EXPECT_THAT(
      check("{\"sizes\": [{\"as_int\": 3, \"as_expr\": {}}]}", "TensorMeta"),
      HasSubstr("the union SymValue has the members"));
  auto text = [](llvm::StringRef json) {
    llvm::json::Value value = llvm::cantFail(parseJson(json));
    auto member = getMember(value);
    return member ? member->name.str() : llvm::toString(member.takeError());
  };
  EXPECT_EQ(text("{\"as_int\": 3, \"as_float\": null}"), "as_int");
  EXPECT_THAT(text("{\"as_int\": 3, \"as_float\": 1}"),
              HasSubstr("a union has the members"));
}

TEST(TorchExportFields, SparseTensors) {
  EXPECT_EQ(
      check("{\"layout\": 7, \"device\": {\"type\": \"cpu\"}}", "TensorMeta"),
      "accepted");
  EXPECT_THAT(check("{\"config\": {\"w\": {\"path_name\": \"weight_0\", "
                    "\"tensor_meta\": {\"layout\": 2}}}}",
                    "PayloadConfig"),
              HasSubstr("'w': field 'layout' of TensorMeta is 2; accepted: 7"));
  EXPECT_THAT(checkNode("\"inputs\": [{\"name\": \"layout\", \"arg\": "
                        "{\"as_layout\": 1}}]"),
              HasSubstr("node 'n' (torch.ops.aten.relu.default): field "
                        "'as_layout' of Argument is 1; accepted: 7"));
}

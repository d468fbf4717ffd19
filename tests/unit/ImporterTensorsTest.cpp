//===- ImporterTensorsTest.cpp - Sparse tensors and external data ---------===//

#include "GraphTexts.h"
#include "OnnxText.h"
#include "TestFolder.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/MemoryFile.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"
#include <sys/stat.h>

using namespace glowish;

//===- Sparse tensors -----------------------------------------------------===//

namespace {

/// Fields of a SparseTensorProto with the float values 1.5, 2.5, ... at
/// \p indices, which has the shape \p indexDims.
std::string sparseFields(std::vector<int64_t> dims,
                         std::vector<int64_t> indexDims,
                         std::vector<int64_t> indices, size_t count) {
  std::string text =
      "values { name: \"y\" data_type: 1 dims: " + std::to_string(count) + " ";
  for (size_t i = 0; i < count; ++i)
    text += "float_data: " + std::to_string(i + 1) + ".5 ";
  text += "} indices { data_type: 7 ";
  for (int64_t dim : indexDims)
    text += "dims: " + std::to_string(dim) + " ";
  for (int64_t index : indices)
    text += "int64_data: " + std::to_string(index) + " ";
  text += "} ";
  for (int64_t dim : dims)
    text += "dims: " + std::to_string(dim) + " ";
  return text;
}

TextModel sparseModel(std::string fields) {
  TextModel model;
  model.body = "sparse_initializer { " + fields + "} ";
  return model;
}

std::string sparseError(std::string fields) {
  std::string message = sparseModel(std::move(fields)).importError();
  llvm::StringRef text = message;
  EXPECT_TRUE(text.consume_front("'m': initializer 'y': ")) << message;
  return text.str();
}

} // namespace

TEST(ImporterSparse, LinearIndices) {
  EXPECT_EQ(sparseModel(sparseFields({2, 3}, {2}, {1, 5}, 2)).importConstant(),
            "float<2x3>: 0 1.50 0 0 0 2.50");
  EXPECT_EQ(
      sparseModel(sparseFields({2, 3}, {3}, {4, 0, 2}, 3)).importConstant(),
      "float<2x3>: 2.50 0 3.50 0 1.50 0");
}

TEST(ImporterSparse, CoordinateIndices) {
  EXPECT_EQ(sparseModel(sparseFields({2, 3}, {2, 2}, {1, 2, 0, 1}, 2))
                .importConstant(),
            "float<2x3>: 0 2.50 0 0 0 1.50");
  EXPECT_EQ(sparseModel(sparseFields({1, 3, 2}, {1, 3}, {0, 2, 0}, 1))
                .importConstant(),
            "float<1x3x2>: 0 0 0 0 1.50 0");
}

TEST(ImporterSparse, EmptyOnes) {
  EXPECT_EQ(sparseModel(sparseFields({2}, {0}, {}, 0)).importConstant(),
            "float<2>: 0 0");
  EXPECT_EQ(sparseModel(sparseFields({2}, {0, 1}, {}, 0)).importConstant(),
            "float<2>: 0 0");
  EXPECT_EQ(sparseModel(sparseFields({0, 3}, {0}, {}, 0)).importConstant(),
            "float<0x3>:");
  EXPECT_EQ(sparseModel(sparseFields({}, {1}, {0}, 1)).importConstant(),
            "float<>: 1.50");
}

TEST(ImporterSparse, OtherKinds) {
  auto model =
      sparseModel("values { name: \"y\" data_type: 9 dims: 1 raw_data: "
                  "\"\\007\" } indices { data_type: 7 dims: 1 "
                  "int64_data: 2 } dims: 3 ");
  EXPECT_EQ(model.importConstant(), "bool<3>: 0 0 1");
}

TEST(ImporterSparse, AsTheValueOfAConstant) {
  TextModel model = oneNode("Constant", {},
                            "attribute { name: \"sparse_value\" type: "
                            "SPARSE_TENSOR sparse_tensor { " +
                                sparseFields({3}, {1}, {1}, 1) + "} } ");
  EXPECT_EQ(model.importConstant(), "float<3>: 0 1.50 0");
  model = oneNode("Constant", {},
                  "attribute { name: \"sparse_value\" type: SPARSE_TENSOR "
                  "sparse_tensor { " +
                      sparseFields({3}, {1}, {3}, 1) + "} } ");
  EXPECT_EQ(model.importError(),
            "'m': node 'y' (Constant): attribute 'sparse_value': index 3 is "
            "out of range; accepted: 0 to 2");
}

TEST(ImporterSparse, Refused) {
  EXPECT_EQ(sparseError(sparseFields({2, 3}, {2}, {5, 5}, 2)),
            "element 5 is given twice");
  EXPECT_EQ(sparseError(sparseFields({2, 3}, {3, 2}, {1, 2, 0, 0, 1, 2}, 3)),
            "element 5 is given twice");
  EXPECT_EQ(sparseError(sparseFields({2, 3}, {1}, {6}, 1)),
            "index 6 is out of range; accepted: 0 to 5");
  EXPECT_EQ(sparseError(sparseFields({2, 3}, {1}, {-1}, 1)),
            "index -1 is out of range; accepted: 0 to 5");
  // In range as a position, but not in its dimension.
  EXPECT_EQ(sparseError(sparseFields({2, 3}, {1, 2}, {0, 3}, 1)),
            "index 3 is out of range; accepted: 0 to 2");
  EXPECT_EQ(sparseError(sparseFields({2, 3}, {1}, {0}, 2)),
            "its indices are int64<1>; accepted for 2 values of float<2x3>: "
            "int64<2> or int64<2x2>");
  EXPECT_EQ(sparseError(sparseFields({2, 3}, {1, 3}, {0, 0, 0}, 1)),
            "its indices are int64<1x3>; accepted for 1 values of float<2x3>: "
            "int64<1> or int64<1x2>");
  EXPECT_EQ(sparseError(sparseFields({-2, 3}, {1}, {0}, 1)),
            "shape -2x3 has a negative extent");
  EXPECT_THAT(sparseError(sparseFields({1 << 20, 1 << 10}, {1}, {0}, 1)),
              testing::HasSubstr("too sparse; accepted: tensors of up to "));
  EXPECT_THAT(
      sparseError("values { name: \"y\" data_type: 1 dims: 1 dims: 1 "
                  "float_data: 1 } indices { data_type: 7 dims: 1 int64_data: "
                  "0 } dims: 3 "),
      testing::HasSubstr("accepted: rank 1"));
}

//===- External data ------------------------------------------------------===//

namespace {

class ImporterMapping : public TestFolder {
protected:
  /// An initializer of \p dims elements at \p offset of the file "weights".
  static std::string external(std::string name, int kind, int64_t dims,
                              int64_t offset) {
    return llvm::formatv(
               "initializer {{ name: \"{0}\" data_type: {1} dims: {2} "
               "data_location: EXTERNAL external_data {{ key: \"location\" "
               "value: \"weights\" } external_data {{ key: \"offset\" value: "
               "\"{3}\" } } output {{ name: \"{0}\" } ",
               name, kind, dims, offset)
        .str();
  }

  /// Imports a model whose outputs are the tensors of \p body.
  void import(std::string body) {
    TextModel model;
    model.body = std::move(body);
    model.outputs = "";
    put("model.onnxtxt", model.str());
    auto made = importOnnxFile(in("model.onnxtxt"), {});
    ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
    module = std::move(*made);
  }
  const Tensor &find(llvm::StringRef name) const {
    for (Node &node : module->getConstants())
      if (node.getName() == name)
        return llvm::cast<Constant>(node).getTensor();
    llvm_unreachable("no such constant");
  }
  const uint8_t *bytesOf(llvm::StringRef name) const {
    return find(name).getByteRange().data();
  }

  std::unique_ptr<Module> module;
};

} // namespace

/// Large enough that the file is mapped and not read.
TEST_F(ImporterMapping, IsSharedByTheTensorsOfAFile) {
  std::vector<int32_t> numbers(1 << 16);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = int32_t(i);
  put("weights", llvm::StringRef(reinterpret_cast<char *>(numbers.data()),
                                 numbers.size() * 4));
  import(external("a", 6, 1000, 0) + external("b", 6, 20000, 64) +
         external("odd", 6, 3, 7) + external("flags", 9, 8, 0) +
         external("bits", 9, 2, 8) + external("float8", 19, 4, 4) +
         external("int4", 22, 1, 8) + external("int2", 26, 5, 4));
  // Nothing but the tensors holds the mapping now, overlapping as they are.
  EXPECT_EQ(bytesOf("b"), bytesOf("a") + 64);
  EXPECT_EQ(find("b").data<int32_t>().back(), 20015);
  // What is not aligned, or no bool, is copied.
  EXPECT_NE(bytesOf("odd"), bytesOf("a") + 7);
  EXPECT_EQ(toText(find("odd")), "int32<3>: 512 768 1024");
  EXPECT_EQ(bytesOf("flags"), bytesOf("a"));
  EXPECT_EQ(toText(find("flags")), "bool<8>: 0 0 0 0 1 0 0 0");
  EXPECT_EQ(toText(find("bits")), "bool<2>: 1 0");
  // Elements under 8 bits get a byte each.
  EXPECT_EQ(bytesOf("float8"), bytesOf("a") + 4);
  EXPECT_EQ(toText(find("int4")), "int4<1>: 2");
  EXPECT_EQ(toText(find("int2")), "int2<5>: 1 0 0 0 0");
}

//===- Raw data in the model's own file -----------------------------------===//

namespace {

std::string encodeVarint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7)
    bytes += char(value | 128);
  return bytes + char(value);
}

/// A field of a protobuf message: bytes, or a message.
std::string encode(unsigned number, const std::string &payload) {
  return encodeVarint(number << 3 | 2) + encodeVarint(payload.size()) + payload;
}

std::string encode(unsigned number, uint64_t value) {
  return encodeVarint(number << 3) + encodeVarint(value);
}

/// A tensor of \p count floats with \p raw as its raw data.
std::string encodeFloats(const std::string &name, uint64_t count,
                         const std::string &raw) {
  return encode(1, count) + encode(2, 1) + encode(8, name) + encode(9, raw);
}

/// A model in its binary form with \p initializers, which are outputs, too.
std::string
encodeModel(llvm::ArrayRef<std::pair<std::string, std::string>> initializers) {
  std::string graph = encode(2, "g");
  for (const auto &[name, tensor] : initializers)
    graph += encode(5, tensor) + encode(12, encode(1, name));
  return encode(1, 7) + encode(8, encode(2, 13)) + encode(7, graph);
}

std::string makeRaw(size_t count) {
  std::vector<float> floats(count);
  for (size_t i = 0; i < count; ++i)
    floats[i] = float(i) / 2;
  return std::string(reinterpret_cast<const char *>(floats.data()), count * 4);
}

} // namespace

/// Large weights stay in the file; the module is that of the same bytes in
/// memory.
TEST_F(ImporterMapping, LeavesRawDataInTheModel) {
  constexpr size_t many = 300000;
  std::string bytes =
      encodeModel({{"few", encodeFloats("few", 2, makeRaw(2))},
                   {"many", encodeFloats("many", many, makeRaw(many))}});
  put("model.onnx", bytes);
  auto made = importOnnxFile(in("model.onnx"), {});
  ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
  module = std::move(*made);
  EXPECT_FALSE(find("few").getSource());
  EXPECT_TRUE(find("many").getSource());
  EXPECT_EQ(find("many").getAsDouble(many - 1), (many - 1) / 2.0);
  auto copied = importOnnx(llvm::arrayRefFromStringRef(bytes), "m", {});
  ASSERT_TRUE(bool(copied)) << llvm::toString(copied.takeError());
  EXPECT_EQ(print(**copied), print(*module));
}

/// The rows of a table of 4 bits are gathered as the bytes that they are in the
/// file.
TEST_F(ImporterMapping, KeepsTablesOfHalfBytes) {
  std::string bytes(64, 0);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = char(i * 37);
  put("weights", bytes);
  TextModel model;
  model.inputs = {{"x", {1}}};
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 } ";
  model.body =
      "initializer { name: \"t\" data_type: 21 dims: 4 dims: 32 "
      "data_location: EXTERNAL external_data { key: \"location\" "
      "value: \"weights\" } } " +
      floats("s", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}) + int64s("i", {2}) +
      onnxNode("GatherBlockQuantized", {"t", "i", "s"},
               "domain: \"com.microsoft\" " + intAttr("block_size", 16));
  put("model.onnxtxt", model.str());
  auto made = importOnnxFile(in("model.onnxtxt"), {});
  ASSERT_TRUE(bool(made)) << llvm::toString(made.takeError());
  size_t numTables = 0;
  for (Node &node : (*made)->getConstants()) {
    const Tensor &tensor = llvm::cast<Constant>(node).getTensor();
    if (tensor.getType() != Type(ElemKind::UInt8, {4, 16}))
      continue;
    ++numTables;
    EXPECT_TRUE(tensor.getSource());
    EXPECT_EQ(llvm::toStringRef(tensor.getByteRange()), bytes);
  }
  EXPECT_EQ(numTables, 1u);
}

TEST_F(ImporterMapping, SaysWhatIsWrongWithRawData) {
  auto fail = [&](std::string bytes) {
    put("model.onnx", bytes);
    auto made = importOnnxFile(in("model.onnx"), {});
    return made ? "" : llvm::toString(made.takeError());
  };
  std::string raw = makeRaw(300000);
  EXPECT_THAT(fail(encodeModel({{"w", encodeFloats("w", 7, raw)}})),
              testing::HasSubstr("initializer 'w': float<7> needs 28 bytes of "
                                 "data, got 1200000"));
  std::string whole = encodeModel({{"w", encodeFloats("w", 300000, raw)}});
  EXPECT_THAT(fail(whole.substr(0, whole.size() - 4)),
              testing::HasSubstr("the protobuf is truncated or corrupt"));
  EXPECT_THAT(fail(whole + "\xff"),
              testing::HasSubstr("the protobuf is truncated or corrupt"));
}

TEST_F(ImporterMapping, NeedsAPlainFile) {
  std::string path = in("weights");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  TextModel model;
  model.body = external("a", 6, 1, 0);
  model.outputs = "";
  put("model.onnxtxt", model.str());
  auto made = importOnnxFile(in("model.onnxtxt"), {});
  ASSERT_FALSE(bool(made));
  EXPECT_THAT(llvm::toString(made.takeError()),
              testing::HasSubstr("initializer 'a': external data 'weights' are "
                                 "not a plain file"));
}

namespace {

/// A cache of models: files are named after their contents, and revisions have
/// links to them.
class ImporterCache : public ImporterMapping {
protected:
  void SetUp() override {
    ImporterMapping::SetUp();
    TextModel model;
    model.body = external("a", 6, 1, 0);
    model.outputs = "";
    for (const char *name : {"blobs", "snapshots", "snapshots/1", "other"})
      ASSERT_FALSE(llvm::sys::fs::create_directory(in(name)));
    put("blobs/f00", model.str());
    put("blobs/ba5", llvm::StringRef("\7\0\0\0", 4));
    put("other/secret", llvm::StringRef("\5\0\0\0", 4));
  }
  void link(llvm::StringRef target, llvm::StringRef name) const {
    ASSERT_FALSE(llvm::sys::fs::create_link(target, in(name)));
  }
  /// The only constant of the model, or the error.
  std::string importSnapshot() {
    auto made = importOnnxFile(in("snapshots/1/model.onnxtxt"), {});
    if (!made)
      return llvm::StringRef(llvm::toString(made.takeError()))
          .rsplit("initializer ")
          .second.str();
    module = std::move(*made);
    return toText(find("a"));
  }

  const std::string linkOut =
      "'a': external data 'weights' are a link out of the model's folder; "
      "accepted: a file in it, or a link to a file beside the one that the "
      "model itself is a link to";
};

} // namespace

TEST_F(ImporterCache, LinksLeadToFilesBesideTheModels) {
  link("../../blobs/f00", "snapshots/1/model.onnxtxt");
  link("../../blobs/ba5", "snapshots/1/weights");
  EXPECT_EQ(importSnapshot(), "int32<1>: 7");
  // The files of a program's key are the same ones.
  auto files = listModelFiles(in("snapshots/1/model.onnxtxt"), {});
  ASSERT_TRUE(bool(files)) << llvm::toString(files.takeError());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_TRUE(llvm::StringRef(files->back()).ends_with("/blobs/ba5"));
}

TEST_F(ImporterCache, LinksOverLinks) {
  link("../../blobs/f00", "snapshots/1/m");
  link("m", "snapshots/1/model.onnxtxt");
  link("../snapshots", "other/way");
  link("../../other/way/../blobs/ba5", "snapshots/1/weights");
  EXPECT_EQ(importSnapshot(), "int32<1>: 7");
}

TEST_F(ImporterCache, LinksLeadNowhereElse) {
  link("../../blobs/f00", "snapshots/1/model.onnxtxt");
  link("../../other/secret", "snapshots/1/weights");
  EXPECT_EQ(importSnapshot(), linkOut);
  // Nor to what is below the folder of the model's file.
  ASSERT_FALSE(llvm::sys::fs::create_directory(in("blobs/sub")));
  put("blobs/sub/secret", llvm::StringRef("\5\0\0\0", 4));
  llvm::sys::fs::remove(in("snapshots/1/weights"));
  link("../../blobs/sub/secret", "snapshots/1/weights");
  EXPECT_EQ(importSnapshot(), linkOut);
  llvm::sys::fs::remove(in("snapshots/1/weights"));
  link("../../blobs/gone", "snapshots/1/weights");
  EXPECT_EQ(importSnapshot(), "'a': external data 'weights' cannot be found in "
                              "the model's folder");
}

TEST_F(ImporterCache, AModelThatIsNoLink) {
  ASSERT_FALSE(llvm::sys::fs::copy_file(in("blobs/f00"),
                                        in("snapshots/1/model.onnxtxt")));
  link("../../blobs/ba5", "snapshots/1/weights");
  EXPECT_EQ(importSnapshot(), linkOut);
  // Data in the folder of a model that is a link.
  llvm::sys::fs::remove(in("snapshots/1/model.onnxtxt"));
  llvm::sys::fs::remove(in("snapshots/1/weights"));
  link("../../blobs/f00", "snapshots/1/model.onnxtxt");
  put("snapshots/1/weights", llvm::StringRef("\3\0\0\0", 4));
  EXPECT_EQ(importSnapshot(), "int32<1>: 3");
}

TEST(ImporterExternalData, OfAModelInMemory) {
  MemoryFile file(R"(
    ir_version: 8 opset_import { version: 17 }
    graph { name: "g"
      node { op_type: "Add" input: "x" input: "w" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1
        shape { dim { dim_value: 2 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1
        shape { dim { dim_value: 2 } } } } }
      initializer { name: "w" data_type: 1 dims: 2 data_location: EXTERNAL
        external_data { key: "location" value: "w.bin" } } })",
                  "net.onnxtxt");
  auto module = importOnnxFile(file.getPath(), {});
  ASSERT_FALSE(bool(module));
  EXPECT_THAT(
      llvm::toString(module.takeError()),
      testing::HasSubstr("external data 'w.bin' need the model to be a file"));
}

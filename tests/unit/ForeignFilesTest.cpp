//===- ForeignFilesTest.cpp - Files that are no model ---------------------===//

#include "TestFolder.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/File.h"
#include "glowish/Support/MemoryFile.h"
#include "llvm/Support/FileSystem.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using testing::Not;

namespace {

struct Sample {
  llvm::StringLiteral name;
  std::string bytes;
  llvm::StringLiteral description;
};

/// Returns literal \p text with the zeros in it.
template <size_t N> std::string toBytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

/// Returns a ZIP archive with the empty files \p names.
std::string makeZip(llvm::ArrayRef<llvm::StringRef> names) {
  std::string files, list;
  auto append16 = [](std::string &to, size_t value) {
    to += char(value & 255);
    to += char(value >> 8 & 255);
  };
  for (llvm::StringRef name : names) {
    size_t start = files.size();
    std::string common(toBytes("\x14\0\0\0\0\0\0\0\0\0"));
    common.append(12, '\0');
    append16(common, name.size());
    append16(common, 0);
    files += toBytes("PK\3\4") + common + name.str();
    list += toBytes("PK\1\2\x14\0") + common;
    list.append(10, '\0');
    append16(list, start);
    append16(list, 0);
    list += name;
  }
  std::string end = toBytes("PK\5\6\0\0\0\0");
  append16(end, names.size());
  append16(end, names.size());
  append16(end, list.size());
  append16(end, 0);
  append16(end, files.size());
  append16(end, 0);
  append16(end, 0);
  return files + list + end;
}

std::vector<Sample> getSamples() {
  return {
      {"llama.gguf", toBytes("GGUF\3\0\0\0"), "a GGUF file"},
      {"renamed.onnx", toBytes("GGUF\3\0\0\0"), "a GGUF file"},
      {"model.safetensors",
       toBytes("\x18\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\"}}   "),
       "a safetensors file"},
      {"model.h5", toBytes("\x89HDF\r\n\x1a\n\0"), "an HDF5 file"},
      {"model.keras",
       makeZip({"metadata.json", "config.json", "model.weights.h5"}),
       "a Keras archive"},
      {"page.onnx", "\n<!DOCTYPE html>\n<html lang=\"en\">", "a page of HTML"},
      {"page.tflite", "<html><head>", "a page of HTML"},
      {"denied.onnx",
       "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>",
       "an error of a server"},
      {"net.xml", "<?xml version=\"1.0\"?>\n<net name=\"a\" version=\"11\">",
       "a model in OpenVINO's representation"},
      {"lfs.onnx",
       "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
       "a pointer of Git LFS"},
      {"array.npy", toBytes("\x93NUMPY\1\0v\0"), "an array of NumPy"},
      {"arrays.npz", makeZip({"x.npy"}), "a ZIP archive"},
      {"forest.pkl", toBytes("\x80\4}."), "a pickle"},
      {"frozen.pb", toBytes("\x0a\x12\x0a\1x\x12\x0bPlaceholder"),
       "a graph of TensorFlow"},
      {"frozen.pbtxt", "node {\n  name: \"x\"\n}\n", "a graph of TensorFlow"},
      {"saved_model.pb", toBytes("\x08\1\x12\0"), "a TensorFlow SavedModel"},
      {"net.mlmodel", toBytes("\x08\4\x12\0"), "a Core ML model"},
      {"net.ort", toBytes("\x18\0\0\0ORTM"), "ONNX Runtime's own format"},
      {"net.pte", toBytes("\x18\0\0\0ET12"), "a program of ExecuTorch"},
      {"net.param", "7767517\n2 2\n", "a graph of ncnn"},
      {"config.json", "{\n  \"architectures\": []\n}\n", "JSON"},
      {"net.onnx.gz", toBytes("\x1f\x8b\x08\0"), "a compressed file"},
      {"net.onnx.xz",
       toBytes("\xfd"
               "7zXZ\0"),
       "a compressed file"},
      {"net.o",
       toBytes("\x7f"
               "ELF\2\1\1\0"),
       "a program or a library"},
  };
}

std::string getError(llvm::StringRef path) {
  auto format = getModelFormat(path);
  return format ? "no error: " + (*format)->name.str()
                : llvm::toString(format.takeError());
}

class ForeignFiles : public TestFolder {};

TEST_F(ForeignFiles, AreCalledByTheirNames) {
  for (const Sample &sample : getSamples()) {
    std::string path = in(sample.name);
    ASSERT_FALSE(bool(writeFile(path, sample.bytes)));
    for (bool isInMemory : {false, true}) {
      MemoryFile file(sample.bytes, sample.name);
      std::string message = getError(isInMemory ? file.getPath() : path);
      EXPECT_THAT(message, HasSubstr(sample.name.str() + "' is "));
      EXPECT_THAT(message, HasSubstr(sample.description.str())) << message;
      EXPECT_THAT(message, Not(HasSubstr("\n")));
      // What to do is behind what it is.
      EXPECT_GT(message.size(), message.find("; ") + 10) << message;
    }
  }
}

TEST_F(ForeignFiles, FoldersAreCalledByWhatIsInThem) {
  auto make = [&](llvm::StringRef folder, llvm::StringRef file) {
    std::string path = in(folder.str());
    EXPECT_FALSE(bool(createDirectories(path)));
    EXPECT_FALSE(bool(writeFile(path + "/" + file.str(), "")));
    return getError(path);
  };
  EXPECT_THAT(make("saved", "saved_model.pb"), HasSubstr("SavedModel"));
  EXPECT_THAT(make("llm", "config.json"), HasSubstr("settings and weights"));
  EXPECT_THAT(make("llm", "model.onnx"), HasSubstr("a folder with models"));
  EXPECT_THAT(make("other", "notes"), HasSubstr("a folder without a model"));
  EXPECT_EQ(make("nets", "predict_net.pb"), "no error: Caffe2");
}

/// Names decide where contents do not.
TEST_F(ForeignFiles, ModelsAreRecognized) {
  auto getName = [&](llvm::StringRef name, llvm::StringRef bytes) {
    MemoryFile file(bytes, name);
    return getError(file.getPath());
  };
  EXPECT_EQ(getName("a.bin", toBytes("\x1c\0\0\0TFL3")),
            "no error: TensorFlow Lite");
  EXPECT_EQ(getName("a.pb", toBytes("\x08\x0a\x12\0")), "no error: ONNX");
  EXPECT_EQ(getName("saved_model.onnx", toBytes("\x08\x0a\x12\0")),
            "no error: ONNX");
  EXPECT_EQ(getName("a.pb", toBytes("\x0a\3net")), "no error: Caffe2");
  EXPECT_EQ(getName("a.pbtxt", "op {\n}\n"), "no error: Caffe2");
  EXPECT_EQ(getName("a.zip", makeZip({"n/data.pkl", "n/constants.pkl",
                                      "n/code/__torch__.py"})),
            "no error: TorchScript");
  EXPECT_EQ(getName("a.pt", makeZip({"n/archive_format"})),
            "no error: PyTorch ExportedProgram");
  EXPECT_EQ(getName("cut.pt", "PK\3\4"), "no error: TorchScript");
}

} // namespace

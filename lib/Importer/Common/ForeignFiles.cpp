//===- ForeignFiles.cpp - Files that are no model to import ---------------===//
//
// What users give in place of a model, by the bytes that such files begin with,
// and what they can give instead.
//
//===----------------------------------------------------------------------===//

#include "Common/ProtobufFile.h"
#include "Common/TorchArchive.h"
#include "glowish/Importer/ModelFormat.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace fs = llvm::sys::fs;

//===- Weights without a program ------------------------------------------===//

/// A file begins with the size of a header, which is JSON and has at most 100
/// MB.
static bool isSafetensors(llvm::StringRef /*path*/, llvm::StringRef bytes) {
  constexpr size_t sizeBytes = 8;
  if (bytes.size() <= sizeBytes || bytes[sizeBytes] != '{')
    return false;
  return llvm::support::endian::read64le(bytes.data()) <= 100'000'000;
}

static bool isPickle(llvm::StringRef /*path*/, llvm::StringRef bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 &&
         bytes[1] <= 5 && bytes.ends_with(".");
}

static const ForeignFileRegistration
    gguf({.description = "a GGUF file, weights for llama.cpp without a program",
          .advice = "accepted: the model that it was made from, exported to "
                    "ONNX (optimum-cli export onnx --model NAME FOLDER)",
          .magic = {{"GGUF"}, {"tjgg"}, {"lmgg"}, {"fmgg"}}}),
    safetensors(
        {.description = "a safetensors file, weights without a program",
         .advice = "accepted: the model that has them, exported to ONNX "
                   "(optimum-cli export onnx --model FOLDER OUTPUT) or by "
                   "torch.export.save()",
         .recognizes = isSafetensors}),
    pickle({.description = "a pickle, an object of Python",
            .advice = "accepted: a model that torch.export.save() or "
                      "torch.jit.save() wrote, or one of scikit-learn "
                      "converted to ONNX by skl2onnx",
            .recognizes = isPickle}),
    numpy({.description = "an array of NumPy",
           .advice = "accepted: a model; arrays are its inputs",
           .magic = {{"\x93NUMPY"}}});

//===- Formats of others --------------------------------------------------===//

/// Reads the next varint of a protobuf in \p bytes.
static std::optional<uint64_t> takeVarint(llvm::StringRef &bytes) {
  unsigned length = 0;
  const char *error = nullptr;
  uint64_t value = llvm::decodeULEB128(bytes.bytes_begin(), &length,
                                       bytes.bytes_end(), &error);
  if (error)
    return std::nullopt;
  bytes = bytes.drop_front(length);
  return value;
}

/// A GraphDef begins with a node, and that with its name and its operator:
/// fields 1, 1 and 2.
static bool isTensorFlowGraph(llvm::StringRef /*path*/, llvm::StringRef bytes) {
  if (looksLikeText(bytes))
    return bytes.ltrim().starts_with("node {");
  if (!bytes.consume_front("\x0a") || !takeVarint(bytes) ||
      !bytes.consume_front("\x0a"))
    return false;
  std::optional<uint64_t> size = takeVarint(bytes);
  return size && *size > 0 && *size < bytes.size() &&
         bytes.substr(size_t(*size)).starts_with("\x12");
}

static bool has(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return fs::exists(path);
}

static bool isSavedModel(llvm::StringRef path, llvm::StringRef /*bytes*/) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  return name == "saved_model.pb" || name == "saved_model.pbtxt" ||
         has(path, "saved_model.pb");
}

static bool isKerasArchive(llvm::StringRef path, llvm::StringRef bytes) {
  return bytes.starts_with("PK\3\4") &&
         hasZipEntries(path, {"config.json", "model.weights.h5"});
}

/// Its first fields are those of an ONNX model.
static bool isCoreML(llvm::StringRef path, llvm::StringRef /*bytes*/) {
  return path.ends_with(".mlmodel") || path.ends_with(".mlpackage") ||
         path.ends_with(".mlmodelc");
}

static bool isMarkup(llvm::StringRef bytes, llvm::StringRef tag) {
  llvm::StringRef start = bytes.take_front(2048).ltrim();
  return start.starts_with("<") && start.contains_insensitive(tag);
}

static bool isOpenVINO(llvm::StringRef /*path*/, llvm::StringRef bytes) {
  return isMarkup(bytes, "<net ");
}

static constexpr llvm::StringLiteral
    kerasAdvice = "accepted: the model converted to TensorFlow Lite "
                  "(tf.lite.TFLiteConverter) or to ONNX (tf2onnx)",
    originalAdvice = "accepted: the model that it was made from, as an ONNX, "
                     "TensorFlow Lite or PyTorch file";

static const ForeignFileRegistration
    hdf5({.description = "an HDF5 file, as Keras writes models and weights",
          .advice = kerasAdvice,
          .magic = {{"\x89HDF\r\n\x1a\n"}}}),
    keras({.description = "a Keras archive",
           .advice = kerasAdvice,
           .recognizes = isKerasArchive}),
    savedModel({.description = "a TensorFlow SavedModel",
                .advice = kerasAdvice,
                .recognizes = isSavedModel}),
    tensorFlow({.description = "a graph of TensorFlow",
                .advice = kerasAdvice,
                .recognizes = isTensorFlowGraph}),
    coreML({.description = "a Core ML model",
            .advice = originalAdvice,
            .recognizes = isCoreML}),
    openVINO({.description = "a model in OpenVINO's representation",
              .advice = originalAdvice,
              .recognizes = isOpenVINO}),
    ort({.description = "a model in ONNX Runtime's own format",
         .advice = "accepted: the ONNX file that it was made from",
         .magic = {{.bytes = "ORTM", .offset = 4}}}),
    executorch({.description = "a program of ExecuTorch",
                .advice = "accepted: the exported program that it was made "
                          "from, as torch.export.save() writes it",
                .magic = {{.bytes = "ET12", .offset = 4}}}),
    ncnn({.description = "a graph of ncnn",
          .advice = originalAdvice,
          .magic = {{"7767517\n"}}});

//===- What came in place of a model --------------------------------------===//

static bool isPage(llvm::StringRef /*path*/, llvm::StringRef bytes) {
  return isMarkup(bytes, "<html") || isMarkup(bytes, "<!doctype html");
}

static bool isServerError(llvm::StringRef /*path*/, llvm::StringRef bytes) {
  return isMarkup(bytes, "<error>");
}

static bool isJson(llvm::StringRef /*path*/, llvm::StringRef bytes) {
  llvm::StringRef start = bytes.take_front(256).ltrim();
  return start.consume_front("{") &&
         (start = start.ltrim()).take_front(1) == "\"";
}

static bool isOtherArchive(llvm::StringRef path, llvm::StringRef bytes) {
  return bytes.starts_with("PK\3\4") && hasZipEntries(path, {});
}

/// Whether a file in the folder \p path ends with \p ending.
static bool hasFile(llvm::StringRef path, llvm::StringRef ending) {
  std::error_code code;
  for (fs::directory_iterator file(path, code), end; !code && file != end;
       file.increment(code))
    if (llvm::StringRef(file->path()).ends_with(ending))
      return true;
  return false;
}

static bool isFolderWithModel(llvm::StringRef path, llvm::StringRef /*bytes*/) {
  return fs::is_directory(path) &&
         (hasFile(path, ".onnx") || hasFile(path, ".tflite") ||
          hasFile(path, ".pt2"));
}

static bool isFolderOfTransformers(llvm::StringRef path,
                                   llvm::StringRef /*bytes*/) {
  return fs::is_directory(path) && has(path, "config.json");
}

static bool isFolder(llvm::StringRef path, llvm::StringRef /*bytes*/) {
  return fs::is_directory(path);
}

static const ForeignFileRegistration
    gitLfs({.description = "a pointer of Git LFS in place of the file",
            .advice = "`git lfs pull` gets the file itself",
            .magic = {{"version https://git-lfs.github.com/spec/"}}}),
    page(
        {.description = "a page of HTML, as a site sends it in place of a file",
         .advice = "accepted: the file itself, from its download link",
         .recognizes = isPage}),
    serverError({.description = "an error of a server in place of the file",
                 .advice = "accepted: the file itself",
                 .recognizes = isServerError}),
    json({.description = "JSON, as the settings of a model are",
          .advice = "accepted: the file with the model's graph",
          .recognizes = isJson}),
    archive({.description = "a ZIP archive that PyTorch did not write",
             .advice = "accepted: the model in it, unpacked",
             .recognizes = isOtherArchive}),
    compressed({.description = "a compressed file",
                .advice = "accepted: what is in it, unpacked",
                .magic = {{"\x1f\x8b\x08"},
                          {"\x28\xb5\x2f\xfd"},
                          {"\xfd"
                           "7zXZ"},
                          {"7z\xbc\xaf\x27\x1c"},
                          {"BZh"}}}),
    program({.description = "a program or a library",
             .advice = "accepted: a model",
             .magic = {{"\x7f"
                        "ELF"}}}),
    folder({.description = "a folder with models in it",
            .advice = "accepted: the file of one of them",
            .recognizes = isFolderWithModel}),
    transformers(
        {.description = "a folder with the settings and weights of a model",
         .advice = "accepted: the model exported to ONNX (optimum-cli export "
                   "onnx --model FOLDER OUTPUT)",
         .recognizes = isFolderOfTransformers}),
    otherFolder({.description = "a folder without a model",
                 .advice = "accepted: a file, or a folder with predict_net.pb "
                           "or predict_net.pbtxt",
                 .recognizes = isFolder});

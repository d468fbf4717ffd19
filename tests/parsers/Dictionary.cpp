//===- Dictionary.cpp - The words of the parsers' languages ---------------===//

#include "Caffe2/caffe2.pb.h"
#include "glowish/Graph/Node.h"
#include "glowish/IR/IR.h"
#include "glowish/Importer/Aten.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Importer/TFLite.h"
#include "parsers/OnnxSchemas.h"
#include "parsers/ParserSeeds.h"
#include "robustness/Extremes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <google/protobuf/descriptor.h>
#include <set>

using namespace glowish;
using namespace glowish::parsers;

using Words = std::set<std::string>;

static void addWords(Words &words, std::initializer_list<const char *> more) {
  words.insert(more.begin(), more.end());
}

/// The names of fields and constants of \p message and of those in it.
static void addFields(Words &words,
                      const google::protobuf::Descriptor &message) {
  for (int i = 0; i < message.field_count(); ++i) {
    const google::protobuf::FieldDescriptor &field = *message.field(i);
    if (words.insert(field.name()).second && field.message_type())
      addFields(words, *field.message_type());
  }
}

static void addRecords(Words &words, llvm::ArrayRef<OpInfo> records) {
  for (const OpInfo &record : records) {
    words.insert(record.name.str());
    for (const AttrInfo &attr : record.attrs) {
      words.insert(attr.name.str() + " = ");
      for (llvm::StringRef value : attr.allowed)
        words.insert("\"" + value.str() + "\"");
    }
  }
}

/// The extremes of integers as a text has them.
static void addExtremes(Words &words) {
  for (int64_t extreme : robustness::getExtremes())
    words.insert(std::to_string(extreme));
}

/// As protobuf has them: variable-length integers of 64 bits.
static void addVariableExtremes(Words &words) {
  for (int64_t extreme : robustness::getExtremes()) {
    std::string word;
    uint64_t rest = uint64_t(extreme);
    for (; rest >= 0x80; rest >>= 7)
      word += char(rest | 0x80);
    words.insert(word + char(rest));
  }
}

/// As FlatBuffers and elements of tensors have them.
static void addFixedExtremes(Words &words) {
  for (int64_t extreme : robustness::getExtremes())
    for (size_t size : {4, 8})
      words.insert(std::string(reinterpret_cast<const char *>(&extreme), size));
}

static void addElemKinds(Words &words) {
#define ELEM_KIND(ENUM, TYPE, SPELLING)                                        \
  words.insert(getElemKindName(ElemKind::ENUM).str() + "<");
#include "glowish/Base/ElemKinds.def"
}

static void addTextForm(Words &words) {
  addElemKinds(words);
  addWords(words, {"module", "placeholder", "constant", "function", "external",
                   "elided", "input",       "output",   "extents",  "none",
                   "body",   "axis",        "scale",    "offset",   "strides",
                   "->",     "range",       "bounds",   "inf",      "nan",
                   "true",   "false"});
}

static void addTorch(Words &words) {
  for (const AtenOperatorInfo &info : listAtenOperators())
    words.insert(info.name);
}

static Words collect(llvm::StringRef name) {
  Words words;
  addExtremes(words);
  if (name == "onnx") {
    for (const auto &[op, versions] : listOnnxOperators())
      words.insert(llvm::StringRef(op).rsplit(':').second.empty()
                       ? op
                       : llvm::StringRef(op).rsplit(':').second.str());
    for (const std::string &attribute : listAttributeNames())
      words.insert(attribute);
    addWords(words, {"ai.onnx.ml", "com.microsoft", "location", "offset",
                     "length", "checksum", "weights"});
    addVariableExtremes(words);
    addFixedExtremes(words);
  } else if (name == "caffe2") {
    addFields(words, *caffe2::schema::NetDef::descriptor());
    for (const Caffe2OperatorInfo &info : listCaffe2Operators())
      words.insert(info.name);
    addWords(words, {"=== predict\n", "=== init\n", "=== inputs\n"});
    addVariableExtremes(words);
  } else if (name == "tflite") {
    for (const TFLiteOperatorInfo &info : listTFLiteOperators())
      words.insert(info.name);
    addFixedExtremes(words);
  } else if (name == "pt2" || name == "torchscript") {
    addTorch(words);
    addWords(words, {"as_tensor",
                     "as_tensors",
                     "as_int",
                     "as_ints",
                     "as_float",
                     "as_floats",
                     "as_bool",
                     "as_string",
                     "as_none",
                     "as_expr",
                     "as_sym_int",
                     "as_sym_ints",
                     "as_name",
                     "expr_str",
                     "hint",
                     "as_scalar_type",
                     "as_optional_tensors",
                     "as_graph",
                     "dtype",
                     "sizes",
                     "strides",
                     "storage_offset",
                     "target",
                     "inputs",
                     "outputs",
                     "user_input",
                     "user_output",
                     "buffer",
                     "parameter",
                     "buffer_mutation",
                     "range_constraints",
                     "min_val",
                     "max_val",
                     "\"arg\": ",
                     "\"name\": "});
  } else if (name == "graph") {
    addTextForm(words);
    addRecords(words, getNodeTable());
  } else if (name == "ir") {
    addTextForm(words);
    addWords(words, {"ir", "code", "mutable", "activation", "view", "@in ",
                     "@out ", "@inout ", "@scratch "});
#define INSTR(NAME) addRecords(words, getInstrInfo(InstrKind::NAME));
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"
  } else if (name == "shaperules") {
    addElemKinds(words);
    addWords(words, {"function", "schema", "none", "->"});
  } else if (name == "tensor") {
    addVariableExtremes(words);
    addFixedExtremes(words);
  } else if (name == "checkpoint") {
    addFixedExtremes(words);
  } else if (name == "npy") {
    addWords(words, {"\x93NUMPY", "'descr'", "'fortran_order'", "'shape'",
                     "True", "False", ">f8", "<i4", "=u2", "|b1"});
  }
  return words;
}

std::string glowish::parsers::makeDictionary(llvm::StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const std::string &word : collect(name)) {
    os << '"';
    for (char c : word)
      if (llvm::isPrint(c) && c != '"' && c != '\\')
        os << c;
      else
        os << llvm::formatv("\\x{0}", llvm::toHex(llvm::StringRef(&c, 1)));
    os << "\"\n";
  }
  return text;
}

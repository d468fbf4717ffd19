//===- Program.h - What a TorchScript archive has in it ---------*- C++ -*-===//
//
// A plain description of a program, which the library that uses libtorch
// (Reader) fills, and the importer reads. Both include this header, and nothing
// else of each other.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_PROGRAM_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_PROGRAM_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace glowish::torchscript {

/// Of this header: a reader with another one is refused.
inline constexpr uint32_t programVersion = 6;

/// The type of a value.
struct ProgramType {
  enum class Kind {
    Tensor,
    Int,
    Float,
    Bool,
    /// An int, a float or a bool.
    Number,
    String,
    None,
    Device,
    Optional,
    List,
    Tuple,
    /// Its elements are the types of keys and values.
    Dict,
    Object,
    /// Functions, generators, futures and whatever else there is.
    Other,
  };
  Kind kind = Kind::Other;
  std::vector<ProgramType> elements = {};
  /// The fields of a tuple that has names.
  std::vector<std::string> names = {};
  /// As Python spells it: "List[Tensor]".
  std::string text = {};
};

/// The elements of a tensor, in memory that the program owns.
struct ProgramTensor {
  const void *data = nullptr;
  /// The number of its c10::ScalarType.
  int64_t kind = 0;
  /// In elements.
  std::vector<int64_t> shape = {}, strides = {};
  /// What it is if it has no elements of its own: sparse, quantized.
  std::string unsupported = {};
  /// Whether training changes it: PyTorch's requires_grad.
  bool isParameter = false;
};

/// A value that the archive states.
struct ProgramConstant {
  enum class Kind {
    None,
    Tensor,
    Int,
    Float,
    Bool,
    String,
    /// A device, a generator: nothing that changes what is computed.
    Ignored,
    List,
    Tuple,
    /// Its elements are keys and values by turns.
    Dict,
    Object,
    /// A quantized tensor: those of its integers, scales (float) and zero
    /// points (int32), and the dimension that they are of, if they are of one.
    Quantized,
    Unsupported,
  };
  Kind kind = Kind::None;
  int64_t integer = 0;
  double real = 0;
  /// That of a string; the type of what is not supported.
  std::string text = {};
  /// The position of a tensor or an object in the program.
  size_t index = 0;
  std::vector<ProgramConstant> elements = {};
};

/// A module, or an instance of another class.
struct ProgramObject {
  /// From the root: "layer1.0.conv1"; empty for that itself.
  std::string path = {};
  std::string type = {};
  std::vector<std::pair<std::string, ProgramConstant>> attributes = {};
};

/// An argument or a result of an operator.
struct ProgramArgument {
  std::string name = {};
  /// The values that share its memory, as schemas name them; "*" may be any.
  std::string aliasSet = {};
  bool isWritten = false;
};

struct ProgramSchema {
  std::vector<ProgramArgument> arguments = {}, results = {};
};

struct ProgramBlock;

/// An operator. Values are stated by their position in the program.
struct ProgramNode {
  /// "aten::add", "prim::If".
  std::string kind = {};
  /// "Tensor".
  std::string overload = {};
  std::vector<size_t> inputs = {}, outputs = {};
  std::vector<ProgramBlock> blocks;
  /// That of prim::Constant.
  ProgramConstant constant = {};
  /// Those that prim::isinstance asks for.
  std::vector<ProgramType> types = {};
  /// The attribute of an object, or the method that is called.
  std::string attribute = {};
  /// Its position in the program; none for operators without one.
  std::optional<size_t> schema = {};
  /// Where the Python program has it: "model.py:17".
  std::string source = {};
  /// The module that executes it: "layer1.0.conv1".
  std::string scope = {};
};

struct ProgramBlock {
  std::vector<size_t> inputs = {}, outputs = {};
  std::vector<ProgramNode> nodes = {};
};

struct ProgramValue {
  /// Empty if it has just a number.
  std::string name = {};
  ProgramType type = {};
};

/// What the method takes, without the module itself.
struct ProgramInput {
  std::string name = {};
  size_t value = 0;
  ProgramType type = {};
  std::optional<ProgramConstant> fallback = {};
};

struct Program {
  /// The version of the header that its reader was compiled with.
  uint32_t version = programVersion;
  std::string name = {};
  std::vector<ProgramValue> values = {};
  std::vector<ProgramTensor> tensors = {};
  std::vector<ProgramObject> objects = {};
  std::vector<ProgramSchema> schemas = {};
  std::vector<ProgramInput> inputs = {};
  /// The value that is the module, the first object.
  std::optional<size_t> self = {};
  /// The method, with those that it calls inlined. Its inputs are above.
  ProgramBlock body = {};
  /// Keeps the memory of tensors.
  std::shared_ptr<void> owner = {};
};

/// Functions of the reader, by these names.
inline constexpr const char *versionSymbol = "glowishTorchVersion";
inline constexpr const char *readSymbol = "glowishTorchRead";
using VersionFunction = uint32_t();
/// Reads the method \p method of the archive in \p bytes, forward() or the only
/// one where that is empty, which may have operators of \p schemas beside those
/// of libtorch. The program does not refer to the bytes. If that fails, it
/// returns false, and \p error is a line that tells why.
using ReadFunction = bool(const void *bytes, size_t size, const char *method,
                          const std::vector<std::string> &schemas,
                          Program &program, std::string &error);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_PROGRAM_H

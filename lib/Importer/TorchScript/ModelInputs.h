//===- ModelInputs.h - Inputs and outputs of programs -----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_MODELINPUTS_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_MODELINPUTS_H

#include "TorchScript/Interpreter.h"

namespace glowish::torchscript {

/// The inputs of a module's function, which several executions of the program
/// share.
class ModelInputs {
public:
  ModelInputs(const torchscript::Program &program, Module &module,
              const ImportOptions &options)
      : program(program), module(module), options(options) {}

  /// Creates the placeholders, with the types that the options state.
  llvm::Error create();
  /// Sets the inputs of \p in.
  void set(ScriptInterpreter &in) const;
  /// What was written to after set(): inputs, and their new elements.
  struct Written {
    Placeholder *placeholder;
    NodeValue value;
  };
  std::vector<Written> getWritten() const;

private:
  /// An input, or an element of one.
  struct Input {
    ScriptValue known = {};
    Placeholder *placeholder = nullptr;
    bool isNumber = false, isReal = false;
    bool isContainer = false, isTuple = false;
    std::vector<std::string> keys = {};
    std::vector<Input> elements = {};
  };
  llvm::Expected<Input> create(const std::string &name,
                               const torchscript::ProgramType &type,
                               const torchscript::ProgramConstant *fallback);
  llvm::Expected<Input> createPlaceholder(const std::string &name,
                                          const torchscript::ProgramType &type);
  llvm::Expected<Input> createText(const std::string &name,
                                   const torchscript::ProgramType &type);
  llvm::Expected<Input> createList(const std::string &name,
                                   const torchscript::ProgramType &type);
  const Type *findType(llvm::StringRef name);
  ScriptValue make(ScriptInterpreter &in, const Input &input) const;

  const torchscript::Program &program;
  Module &module;
  const ImportOptions &options;
  std::vector<Input> inputs;
  std::vector<std::string> names;
  /// How many of the types that were given in order are used.
  size_t numTaken = 0;
  mutable std::vector<std::pair<Placeholder *, std::shared_ptr<ScriptStorage>>>
      tensors;
};

/// An output of a program: a tensor, or a number.
struct ModelOutput {
  std::string name;
  NodeValue value;
};

/// The tensors and numbers of what the program returns.
llvm::Expected<std::vector<ModelOutput>> readOutputs(ScriptInterpreter &in);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_MODELINPUTS_H

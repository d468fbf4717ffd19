//===- LoadedModel.h - A model that runs in this process --------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_LOADEDMODEL_H
#define GLOWISH_PYTHON_CORE_LOADEDMODEL_H

#include "core/Settings.h"
#include "core/Values.h"
#include <map>
#include <memory>

namespace glowish {
class Buffer;
class Session;
} // namespace glowish

namespace glowish::python {

struct LoadRequest {
  /// See ModelSource.
  std::vector<std::string> paths;
  /// Where programs are kept; empty for nowhere.
  std::string cacheFolder;
  /// The programs that are kept in memory.
  size_t capacity = 8;
  /// Inputs that are constants of the programs.
  std::map<std::string, TensorView> constants;
  /// Those that are strings.
  std::map<std::string, std::string> texts;
  /// Whether a program is made at once, where no input has an open dimension.
  bool compilesNow = true;
  /// See TestingOptions.
  bool compilesQuickly = false;
};

/// The program for inputs of certain types, and its memory.
struct LoadedProgram {
  struct Slot {
    std::string name;
    ElemKind kind;
    /// Of an input, the extents that this program is for.
    std::vector<int64_t> shape;
    /// Whether each run states the extent, of which shape has the largest; no
    /// entries if it states none.
    std::vector<bool> isStated;
    size_t bytes;
    const Buffer *buffer;
    /// Whether the program reads it, or writes it, at an address that each run
    /// states. Otherwise it is copied.
    bool isBound;
    bool isState;

    /// Whether an input may have these extents.
    bool accepts(const int64_t *extents, size_t rank) const {
      if (rank != shape.size())
        return false;
      for (size_t i = 0; i < rank; ++i)
        if (extents[i] != shape[i] &&
            (isStated.empty() || !isStated[i] || extents[i] > shape[i]))
          return false;
      return true;
    }
  };
  Session *session = nullptr;
  /// In the order of LoadedModel::getInputs(). A state that was not given has
  /// its slot, too.
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
};

/// A model with a program for each combination of input shapes, compiled when
/// it first arrives. One thread at a time.
class LoadedModel {
public:
  LoadedModel(Settings settings, const LoadRequest &request);
  ~LoadedModel();

  /// As far as they are known: of the program that ran last, or of what the
  /// model declares.
  const std::vector<ValueInfo> &getInputs() const;
  const std::vector<ValueInfo> &getOutputs() const;

  /// The outputs that are sequences, as pairs of their position among the
  /// model's outputs and their length, of the current program: element i of
  /// NAME is the output NAME.i.
  std::vector<std::pair<size_t, size_t>> getSequences() const;

  /// The program that ran last, or that was compiled at first; null before.
  const LoadedProgram *getProgram() const;
  /// Makes that for inputs of these types the current one. \p given: views of
  /// the inputs that are given, by their names.
  const LoadedProgram &prepare(const std::map<std::string, TensorView> &given);

  /// Copies what \p data has to an input of the current program that is not
  /// bound.
  void setInput(const LoadedProgram::Slot &slot, const TensorView &view);
  /// Where the current program reads or writes a slot that is bound, from the
  /// next run on.
  void bind(const LoadedProgram::Slot &slot, void *data);
  void run();
  /// The extents and elements of an output that is not bound, or of a state,
  /// until the next call of any function.
  TensorView getOutput(const LoadedProgram::Slot &slot);

  /// The warnings of the importer since the last call.
  std::vector<std::string> takeWarnings();
  size_t countCompiled() const;

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_LOADEDMODEL_H

//===- Exits.h - Values that leave a body -----------------------*- C++ -*-===//
//
// At the end of a branch or an iteration its values are taken out of it, before
// its changes are taken back. Tensors that it made, and the places and storages
// of these, get copies in the function around it, which need some values of the
// body: elements of storages, indices and conditions. Places that are older
// stay what they are, so that a view of a tensor from outside remains one.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_EXITS_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_EXITS_H

#include "TorchScript/Interpreter.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace glowish::torchscript {

/// A value at one point of the program, as the tensors and numbers that it has
/// in it: a body of the graph takes and returns these.
struct ScriptLeaves {
  ScriptValue value;
  /// Of a tensor or a number; null for others, and where the elements of a
  /// tensor are read from its place later.
  NodeValue leaf = {};
  /// Where the elements of a tensor are, outside of the body.
  ScriptPlaceRef place = {};
  /// Of lists, tuples and dictionaries.
  std::vector<ScriptLeaves> elements = {};
};

/// The way of values out of a body.
class BodyExit {
public:
  /// Must be made and used in the scope of the body. \p birth: when it began.
  BodyExit(ScriptInterpreter &in, uint64_t birth)
      : in(in), function(in.getFunction()), birth(birth) {}

  /// Returns the leaves of \p value, read in the body.
  llvm::Expected<ScriptLeaves> take(const ScriptValue &value);

  /// Returns whether \p storage, of a place that was taken, was made in the
  /// body.
  bool isNew(const ScriptStorage &storage) const {
    return isNew(storage.birth);
  }
  /// Returns whether what was made at \p time was made in the body.
  bool isNew(uint64_t time) const { return time > birth; }

  /// Returns the place that \p place, of the body, is outside.
  ScriptPlaceRef carry(const ScriptPlaceRef &place);

  /// A value of the body that a place outside needs.
  struct Need {
    NodeValue inside;
    /// The place or the storage that needs it.
    const void *owner;
    std::function<void(NodeValue)> set;
  };
  /// Returns what \p places and all that they lead to need, each once.
  std::vector<const Need *>
  findNeeds(llvm::ArrayRef<ScriptPlaceRef> places) const;

private:
  std::shared_ptr<ScriptStorage>
  carry(const std::shared_ptr<ScriptStorage> &storage);
  void carryView(ScriptView &view, const ScriptPlaceRef &owner);
  void need(NodeValue inside, const void *owner,
            std::function<void(NodeValue)> set);

  ScriptInterpreter &in;
  const Function &function;
  uint64_t birth;
  std::map<const ScriptPlace *, ScriptPlaceRef> places;
  std::map<const ScriptStorage *, std::shared_ptr<ScriptStorage>> storages;
  /// Keeps places of the body alive, whose addresses are keys.
  std::vector<ScriptPlaceRef> kept;
  std::vector<Need> needs;
};

/// Returns whether two values are the same thing, at all times.
bool areSame(const ScriptValue &x, const ScriptValue &y);

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_EXITS_H

//===- Values.h - Values of TorchScript during import -----------*- C++ -*-===//
//
// The importer executes a program with values of which all but the elements of
// tensors, and what is computed of these, is known. Tensors, lists,
// dictionaries and objects can be changed; a journal takes changes back.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_VALUES_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_VALUES_H

#include "Aten/Layout.h"
#include "TorchScript/Program.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace glowish::torchscript {

struct ScriptTensor;
struct ScriptPlace;
struct ScriptList;
struct ScriptDict;
struct ScriptObject;

/// Devices, generators and the like, which don't change what is computed; or
/// what is not supported, which is an error where it is used.
struct ScriptIgnored {
  std::string what = "a device";
  std::string accepted = "floats, integers and bools that are stored one by "
                         "one";
};

/// A value of the program. A NodeValue is a number, a scalar that the graph
/// computes; an Extent, no constant, an int that follows from extents that a
/// run decides.
struct ScriptValue {
  std::variant<std::monostate, std::shared_ptr<ScriptTensor>, NodeValue,
               int64_t, double, bool, std::string, std::shared_ptr<ScriptList>,
               std::shared_ptr<ScriptDict>, std::shared_ptr<ScriptObject>,
               ScriptIgnored, Extent>
      value;

  ScriptValue() = default;
  template <typename T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, ScriptValue>)
  ScriptValue(T &&own) : value(std::forward<T>(own)) {}

  /// Returns \p extent as a value, an int where it is a constant.
  static ScriptValue ofExtent(Extent extent) {
    std::optional<int64_t> number = extent.getConstant();
    return number ? ScriptValue(*number) : ScriptValue(std::move(extent));
  }

  template <typename T> bool is() const {
    return std::holds_alternative<T>(value);
  }
  template <typename T> const T &get() const { return std::get<T>(value); }
  bool isNone() const { return is<std::monostate>(); }
  bool isInt() const { return is<int64_t>(); }
  int64_t getInt() const { return get<int64_t>(); }
  bool isTensor() const { return is<std::shared_ptr<ScriptTensor>>(); }
  const std::shared_ptr<ScriptTensor> &getTensor() const {
    return get<std::shared_ptr<ScriptTensor>>();
  }
  bool isList() const { return is<std::shared_ptr<ScriptList>>(); }
  ScriptList &getList() const { return *get<std::shared_ptr<ScriptList>>(); }
  /// Whether it is a complex tensor, which is a tuple of its parts.
  bool isComplex() const;
  /// Whether it is a quantized tensor, which is a tuple, too.
  bool isQuantized() const;
  bool isDict() const { return is<std::shared_ptr<ScriptDict>>(); }
  ScriptDict &getDict() const { return *get<std::shared_ptr<ScriptDict>>(); }
  bool isObject() const { return is<std::shared_ptr<ScriptObject>>(); }
  ScriptObject &getObject() const {
    return *get<std::shared_ptr<ScriptObject>>();
  }
  /// Whether it is an int, a float or a bool that is known.
  bool isKnownNumber() const { return isInt() || is<double>() || is<bool>(); }
  /// Returns a number that is known as a double.
  double getNumber() const {
    return isInt()        ? double(getInt())
           : is<double>() ? get<double>()
                          : double(get<bool>());
  }
  /// Whether it is a list, a tuple or a dictionary.
  bool isContainer() const { return isList() || isDict(); }
  /// Returns the elements of a list or a tuple, or the values of a dictionary;
  /// nothing of others.
  std::vector<ScriptValue> getElements() const;
  /// Whether it is a number that the graph computes.
  bool isComputed() const { return is<NodeValue>(); }

  /// Whether it is a number.
  bool isNumber() const {
    return isKnownNumber() || isComputed() || is<Extent>();
  }
  /// Returns an int as an expression of extents; none of other values.
  std::optional<Extent> getExtent() const {
    if (isInt())
      return Extent(getInt());
    return is<Extent>() ? std::optional(get<Extent>()) : std::nullopt;
  }
  /// Whether a run decides an extent of it: an int, a tensor, or one of the
  /// elements of a container.
  bool isOpen() const;

  /// Returns the type of a tensor or a number; none of others.
  std::optional<Type> getType() const;
  /// For messages: "a tensor", "the int 3".
  std::string describe() const;
};

/// What decides about the order of a new tensor's elements in memory.
struct ScriptLayout {
  aten::AtenOrder order = aten::AtenOrder::Unknown;
  /// The tensors that it depends on.
  std::vector<std::shared_ptr<ScriptPlace>> operands = {};
  /// Whether it is that of torch.channels_last.
  bool isChannelsLast = false;
  /// How many layouts that aren't known yet depend on one another, of which
  /// there is a bound.
  unsigned depth = 0;
};

struct ScriptStorage;

/// Storages of which it is known only when the model runs whether they are the
/// same memory. Groups that are joined are one from then on.
struct ScriptGroup {
  std::shared_ptr<ScriptGroup> joined = {};
  std::vector<std::weak_ptr<ScriptStorage>> members = {};
};

/// Memory that tensors share: the newest elements, as a value of the function
/// that is being imported or of one around it.
struct ScriptStorage {
  /// When it was made, and when it got these elements.
  uint64_t birth = 0, version = 0;
  NodeValue value = {};
  /// The name of the attribute or the input that it is; empty for others.
  std::string name = {};
  /// The strides that PyTorch has its elements with. If there are none, they
  /// follow from `layout`, or aren't known.
  std::optional<Dims> strides = {};
  std::shared_ptr<const ScriptLayout> layout = {};
  /// Null for memory that is no other one's.
  std::shared_ptr<ScriptGroup> group = {};
  /// Whether another one of the group was written.
  bool isConflicting = false;
};

/// A copy that an operator makes where the order of elements in memory demands
/// it. Whether it did is found when it matters, and remains: it is a fact,
/// which no journal takes back.
struct ScriptCopy {
  /// None if it is not known yet.
  std::optional<bool> isCopy = {};
  /// The memory of the copy.
  std::shared_ptr<ScriptStorage> storage = {};
};

/// An operator that makes a tensor of others' memory.
struct ScriptView {
  /// What makes it; none with `index`.
  aten::AtenView call = {};
  /// Set for `tensor.select(axis, index)`, or, with `size`, for
  /// `tensor.narrow(axis, index, size)`, with an index that the graph computes,
  /// int64 and not negative; there is no operator then.
  NodeValue index = {};
  int64_t axis = 0;
  std::optional<int64_t> size = {};
  /// Set if the operator may have copied the elements, to row-major order.
  std::shared_ptr<ScriptCopy> copy = {};

  /// Returns whether it isn't known yet whether the elements were copied.
  bool mayCopy() const { return copy && !copy->isCopy; }
};

using ScriptPlaceRef = std::shared_ptr<ScriptPlace>;

/// The place of a tensor's elements: a storage, a view of another place, or
/// one of two places, which data decides.
struct ScriptPlace {
  uint64_t birth = 0;
  Type type = {};
  /// Null for a view and a choice.
  std::shared_ptr<ScriptStorage> storage = {};
  /// Null unless it is a view.
  ScriptPlaceRef base = {};
  ScriptView view = {};
  /// Of a choice: `then` where the bool `condition` is true, else `other`, both
  /// of this type. Null for others.
  NodeValue condition = {};
  ScriptPlaceRef then = {}, other = {};
  /// The number of storages that it leads to, those on several ways each time.
  unsigned numWays = 1;
  /// The elements of a view or a choice when its storages had \c version; null
  /// if they weren't read.
  NodeValue value = {};
  uint64_t version = 0;
  /// Whether it is known to be in row-major order without gaps.
  bool isDense = false;

  bool isChoice() const { return then != nullptr; }
  /// Returns the storage whose elements these are, all of them; null if there
  /// is none.
  const std::shared_ptr<ScriptStorage> &getStorage() const {
    return view.copy ? view.copy->storage : storage;
  }
  /// Calls \p visit with each storage that elements may be in.
  void forEachStorage(
      llvm::function_ref<void(const std::shared_ptr<ScriptStorage> &)> visit)
      const;
};

/// A tensor, which in-place operators such as unsqueeze_() give another place.
struct ScriptTensor {
  uint64_t birth = 0;
  ScriptPlaceRef place;

  const Type &getType() const { return place->type; }
};

/// A list or a tuple.
struct ScriptList {
  uint64_t birth = 0;
  std::vector<ScriptValue> elements = {};
  bool isTuple = false;
  enum class Meaning {
    List,
    /// A complex tensor: the tensors of its real and its imaginary part.
    Complex,
    /// A quantized tensor: its integers, scale and zero point, and the
    /// dimension whose indices have their own.
    Quantized,
  };
  Meaning meaning = Meaning::List;
  /// The fields of a tuple that has names.
  std::vector<std::string> names = {};
  /// Whether it may be the same list as another one, which data decides: it
  /// must not be changed.
  bool isUncertain = false;
};

inline bool ScriptValue::isComplex() const {
  return isList() && getList().meaning == ScriptList::Meaning::Complex;
}
inline bool ScriptValue::isQuantized() const {
  return isList() && getList().meaning == ScriptList::Meaning::Quantized;
}

/// A dictionary, in the order of insertion.
struct ScriptDict {
  struct Entry {
    ScriptValue key, value;
  };
  uint64_t birth = 0;
  std::vector<Entry> entries = {};
  /// As that of lists.
  bool isUncertain = false;

  ScriptValue *find(const ScriptValue &key);
};

/// A module or an instance of another class.
struct ScriptObject {
  uint64_t birth = 0;
  /// What the archive has of it; null for objects that the program makes.
  const torchscript::ProgramObject *stored = nullptr;
  std::string type = {};
  /// Those that were read or set.
  using Attributes = llvm::MapVector<std::string, ScriptValue,
                                     std::map<std::string, unsigned>>;
  Attributes attributes = {};
  /// Those that the archive states, as they were before the program ran.
  Attributes before = {};
};

/// Whether two containers of as many elements have the same keys, in the same
/// order; lists have none.
bool haveSameKeys(const ScriptValue &x, const ScriptValue &y);
/// Whether two values that are known are equal; null if that isn't known.
std::optional<bool> areEqual(const ScriptValue &x, const ScriptValue &y);

/// Remembers what was changed, and takes it back.
class ScriptJournal {
public:
  /// A point to go back to. All that exists then is older than what follows.
  size_t mark() {
    saved.clear();
    return records.size();
  }
  /// Must be called before \p cell is changed.
  template <typename T> void save(const std::shared_ptr<T> &cell) {
    // Lists that grow would be copied each time.
    if (saved.insert(cell.get()).second)
      records.push_back(Record<T>{cell, *cell});
  }
  /// Takes back all changes since \p mark.
  void rollBack(size_t mark);
  /// What was changed since \p mark and is not younger than \p birth, each
  /// once, in the order of changes.
  template <typename T>
  std::vector<std::shared_ptr<T>> getChanged(size_t mark,
                                             uint64_t birth) const {
    std::vector<std::shared_ptr<T>> changed;
    for (size_t i = mark; i < records.size(); ++i)
      if (auto *record = std::get_if<Record<T>>(&records[i]))
        if (record->cell->birth <= birth &&
            !llvm::is_contained(changed, record->cell))
          changed.push_back(record->cell);
    return changed;
  }

private:
  template <typename T> struct Record {
    std::shared_ptr<T> cell;
    T before;

    void takeBack() {
      // Which storages may be the same memory is a fact, as that of a copy is.
      if constexpr (std::is_same_v<T, ScriptStorage>)
        before.group = std::move(cell->group);
      *cell = std::move(before);
    }
  };
  std::vector<std::variant<Record<ScriptStorage>, Record<ScriptPlace>,
                           Record<ScriptTensor>, Record<ScriptList>,
                           Record<ScriptDict>, Record<ScriptObject>>>
      records;
  /// Those that were saved since the last mark.
  llvm::DenseSet<const void *> saved;
};

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_VALUES_H

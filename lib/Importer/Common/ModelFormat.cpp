//===- ModelFormat.cpp - File formats of models ---------------------------===//

#include "glowish/Importer/ModelFormat.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>
#include <mutex>

using namespace glowish;

ParsedModel::~ParsedModel() = default;
ModelWeights::~ModelWeights() = default;
FormatSettings::~FormatSettings() = default;

namespace {

/// A library that is loaded later may register formats while other threads
/// import. None goes or moves.
template <typename T> class Registry {
public:
  void add(const T &element) {
    std::lock_guard lock(mutex);
    elements.push_back(element);
  }
  /// A copy, as looking at a path takes time.
  std::vector<const T *> list() {
    std::lock_guard lock(mutex);
    std::vector<const T *> result;
    for (const T &element : elements)
      result.push_back(&element);
    return result;
  }

private:
  std::mutex mutex;
  std::deque<T> elements;
};

} // namespace

/// Created on first use, as the order of static initialization across files is
/// unspecified.
template <typename T> static Registry<T> &getRegistry() {
  static Registry<T> registry;
  return registry;
}

ModelFormatRegistration::ModelFormatRegistration(const ModelFormat &format) {
  getRegistry<ModelFormat>().add(format);
}

ForeignFileRegistration::ForeignFileRegistration(const ForeignFile &file) {
  getRegistry<ForeignFile>().add(file);
}

std::vector<const ModelFormat *> glowish::listModelFormats() {
  std::vector<const ModelFormat *> formats = getRegistry<ModelFormat>().list();
  llvm::sort(formats, [](const ModelFormat *a, const ModelFormat *b) {
    return a->name < b->name;
  });
  return formats;
}

std::string
glowish::joinFormatNames(llvm::function_ref<bool(const ModelFormat &)> hasAll) {
  std::vector<std::string> names;
  for (const ModelFormat *format : listModelFormats())
    if (hasAll(*format))
      names.push_back(format->name.str());
  return joinWords(names, "or");
}

std::vector<const OperatorList *> glowish::listOperatorLists() {
  std::vector<const OperatorList *> lists;
  for (const ModelFormat *format : listModelFormats())
    if (format->operators && !llvm::is_contained(lists, format->operators))
      lists.push_back(format->operators);
  llvm::sort(lists, [](const OperatorList *a, const OperatorList *b) {
    return a->name < b->name;
  });
  return lists;
}

static bool hasMagic(llvm::ArrayRef<MagicBytes> magic, llvm::StringRef bytes) {
  return llvm::any_of(magic, [&](const MagicBytes &each) {
    return bytes.substr(each.offset).starts_with(each.bytes);
  });
}

llvm::Expected<const ModelFormat *>
glowish::recognizeModel(llvm::StringRef path) {
  std::vector<const ModelFormat *> formats = getRegistry<ModelFormat>().list();
  auto find = [&](auto isOne) -> const ModelFormat * {
    auto found = llvm::find_if(formats, isOne);
    return found == formats.end() ? nullptr : *found;
  };
  auto file = readFile(path);
  llvm::StringRef bytes;
  if (file)
    bytes = (*file)->getBuffer();
  else
    // An import says it.
    llvm::consumeError(file.takeError());
  if (const ModelFormat *format = find([&](const ModelFormat *each) {
        return hasMagic(each->magic, bytes);
      }))
    return format;
  if (const ModelFormat *format = find([&](const ModelFormat *each) {
        return each->recognizes && each->recognizes(path, bytes);
      }))
    return format;
  for (const ForeignFile *foreign : getRegistry<ForeignFile>().list())
    if (hasMagic(foreign->magic, bytes) ||
        (foreign->recognizes && foreign->recognizes(path, bytes)))
      return makeError("'{0}' is {1}; {2}", path, foreign->description,
                       foreign->advice);
  return find([&](const ModelFormat *each) {
    return llvm::any_of(each->extensions, [&](llvm::StringRef extension) {
      return path.ends_with(extension);
    });
  });
}

llvm::Expected<const ModelFormat *>
glowish::getModelFormat(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, recognizeModel(path));
  if (format)
    return format;
  std::vector<const ModelFormat *> formats = getRegistry<ModelFormat>().list();
  auto others = llvm::find_if(
      formats, [](const ModelFormat *each) { return each->takesOthers; });
  assert(others != formats.end() && "one format is that of all other files");
  return *others;
}

llvm::Error glowish::checkConstantTexts(llvm::StringRef path,
                                        const ImportOptions &options) {
  if (options.constantTexts.empty())
    return llvm::Error::success();
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, getModelFormat(path));
  if (format->hasTexts)
    return llvm::Error::success();
  const auto &[name, text] = *options.constantTexts.begin();
  return makeError("a constant input: {0} is the string {1}, and the format of "
                   "'{2}', {3}, has no strings; accepted: a number",
                   quote(name), quote(text), path, format->name);
}

llvm::Expected<std::vector<std::string>>
glowish::listModelFiles(llvm::StringRef path, const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(const ModelFormat *format, getModelFormat(path));
  if (format->listFiles)
    return format->listFiles(path, options);
  return std::vector<std::string>{path.str()};
}

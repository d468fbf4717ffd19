//===- BuildIdentity.cpp - Which build of the code runs -------------------===//

#include "glowish/Support/BuildIdentity.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <dlfcn.h>
#include <link.h>

using namespace glowish;

namespace {

/// A program or a library that is loaded.
struct LoadedObject {
  /// As the loader knows it; empty for the program.
  std::string path;
  /// By which others need it; the file's name where it states none.
  std::string name;
  std::vector<std::string> needed;
  std::vector<uint8_t> identity;
  /// Whether libglowish is in it.
  bool isOwn = false;
};

} // namespace

/// The read-only bytes of \p segment.
static llvm::ArrayRef<uint8_t> getBytes(const dl_phdr_info &info,
                                        const ElfW(Phdr) & segment) {
  return {reinterpret_cast<const uint8_t *>(info.dlpi_addr + segment.p_vaddr),
          size_t(segment.p_filesz)};
}

static llvm::ArrayRef<ElfW(Phdr)> getSegments(const dl_phdr_info &info) {
  return {info.dlpi_phdr, size_t(info.dlpi_phnum)};
}

/// The build ID among \p notes; empty if there is none.
static llvm::ArrayRef<uint8_t> findBuildId(llvm::ArrayRef<uint8_t> notes,
                                           uint64_t alignment) {
  constexpr llvm::StringRef owner("GNU", 4);
  ElfW(Nhdr) header;
  while (notes.size() >= sizeof(header)) {
    std::memcpy(&header, notes.data(), sizeof(header));
    uint64_t name = sizeof(header);
    uint64_t text = name + llvm::alignTo(header.n_namesz, alignment);
    uint64_t end = text + llvm::alignTo(header.n_descsz, alignment);
    if (text + header.n_descsz > notes.size())
      return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == owner.size() &&
        !std::memcmp(notes.data() + name, owner.data(), owner.size()))
      return notes.slice(text, header.n_descsz);
    notes = notes.drop_front(std::min<uint64_t>(end, notes.size()));
  }
  return {};
}

static std::vector<uint8_t> getIdentity(const dl_phdr_info &info) {
  for (const ElfW(Phdr) & segment : getSegments(info))
    if (segment.p_type == PT_NOTE)
      if (auto id = findBuildId(getBytes(info, segment),
                                std::max<uint64_t>(segment.p_align, 4));
          !id.empty())
        return id.vec();
  llvm::BLAKE3 hasher;
  for (const ElfW(Phdr) & segment : getSegments(info))
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) &&
        !(segment.p_flags & PF_W))
      hasher.update(getBytes(info, segment));
  auto digest = hasher.final();
  return std::vector<uint8_t>(digest.begin(), digest.end());
}

/// Reads the object's name and those that it needs.
static void readDynamic(const dl_phdr_info &info, const ElfW(Phdr) & segment,
                        LoadedObject &object) {
  const auto *first =
      reinterpret_cast<const ElfW(Dyn) *>(info.dlpi_addr + segment.p_vaddr);
  uintptr_t strings = 0;
  for (const auto *entry = first; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB)
      strings = entry->d_un.d_ptr;
  if (!strings)
    return;
  // Most loaders make it an address in memory; musl leaves the file's.
  if (strings < info.dlpi_addr)
    strings += info.dlpi_addr;
  auto getText = [&](const ElfW(Dyn) & entry) {
    return std::string(
        reinterpret_cast<const char *>(strings + entry.d_un.d_val));
  };
  for (const auto *entry = first; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED)
      object.needed.push_back(getText(*entry));
    else if (entry->d_tag == DT_SONAME)
      object.name = getText(*entry);
  }
}

static int addObject(dl_phdr_info *info, size_t, void *data) {
  LoadedObject object;
  object.path = info->dlpi_name ? info->dlpi_name : "";
  object.name = llvm::sys::path::filename(object.path).str();
  auto own = reinterpret_cast<uintptr_t>(&addBuildIdentity);
  for (const ElfW(Phdr) & segment : getSegments(*info)) {
    uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC)
      readDynamic(*info, segment, object);
    else if (segment.p_type == PT_LOAD && own >= begin &&
             own < begin + segment.p_memsz)
      object.isOwn = true;
  }
  object.identity = getIdentity(*info);
  static_cast<std::vector<LoadedObject> *>(data)->push_back(std::move(object));
  return 0;
}

/// Whether \p object is a plug-in (Backends/Plugin.h). Not all say that they
/// need libglowish: the program that loads them has it.
static bool isPlugin(const LoadedObject &object) {
  if (object.path.empty())
    return false;
  void *library = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return false;
  bool isFound = dlsym(library, "glowish_plugin_version") != nullptr;
  dlclose(library);
  return isFound;
}

/// Of \p objects, the one with libglowish, those that need it, plug-ins, and
/// all that these need in turn.
static std::vector<const LoadedObject *>
findRelated(llvm::ArrayRef<LoadedObject> objects) {
  const auto *own = llvm::find_if(
      objects, [](const LoadedObject &object) { return object.isOwn; });
  auto needsOwn = [&](const LoadedObject &object) {
    return own != objects.end() && llvm::is_contained(object.needed, own->name);
  };
  std::vector<const LoadedObject *> related;
  for (const LoadedObject &object : objects)
    if (object.isOwn || needsOwn(object) || isPlugin(object))
      related.push_back(&object);
  for (size_t i = 0; i < related.size(); ++i)
    for (const std::string &name : related[i]->needed)
      for (const LoadedObject &object : objects)
        if (object.name == name && !llvm::is_contained(related, &object))
          related.push_back(&object);
  return related;
}

void glowish::addBuildIdentity(KeyHasher &key) {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(addObject, &objects);
  // The order in which they were loaded doesn't matter.
  std::set<std::pair<std::string, std::vector<uint8_t>>> identities;
  for (const LoadedObject *object : findRelated(objects))
    identities.insert({object->name, object->identity});
  key.add(identities);
}

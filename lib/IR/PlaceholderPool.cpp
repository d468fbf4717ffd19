//===- PlaceholderPool.cpp - Placeholders shared by functions -------------===//

#include "glowish/IR/PlaceholderPool.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;

static std::vector<const Buffer *> getPlaceholders(const IRFunction &function) {
  std::vector<const Buffer *> placeholders;
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable)
      placeholders.push_back(buffer.get());
  return placeholders;
}

static bool hasState(const IRFunction &function, llvm::StringRef name) {
  return llvm::any_of(getPlaceholders(function), [&](const Buffer *buffer) {
    return buffer->isInput() && buffer->isOutput() &&
           buffer->getModelName() == name;
  });
}

const PlaceholderPool::Slot *
PlaceholderPool::findShared(size_t member, llvm::StringRef name) const {
  const Member &own = members[member];
  for (size_t i = 0; i < member; ++i) {
    const Member &other = members[i];
    auto found = slots[i].find(name);
    if (found == slots[i].end())
      continue;
    bool isKept = own.sharing.states == other.sharing.states &&
                  llvm::any_of(members, [&](const Member &each) {
                    return each.sharing.states == own.sharing.states &&
                           hasState(*each.function, name);
                  });
    if (isKept || own.sharing.placeholders == other.sharing.placeholders)
      return &found->second;
  }
  return nullptr;
}

llvm::Error PlaceholderPool::add(size_t member, const Buffer &buffer) {
  llvm::StringRef name = buffer.getModelName();
  if (const Slot *shared = findShared(member, name)) {
    if (shared->type != buffer.getType())
      return makeError("'{0}' is {1} in {2} and {3} in {4}; accepted of a "
                       "placeholder that functions share: one type",
                       name, shared->type.str(), members[shared->owner].title,
                       buffer.getType().str(), members[member].title);
    slots[member].try_emplace(name, *shared);
    return llvm::Error::success();
  }
  slots[member].try_emplace(name, Slot{buffer.getType(), member, size});
  size = llvm::alignTo(size + buffer.getType().getSizeInBytes(),
                       MemoryPlan::defaultAlignment);
  return llvm::Error::success();
}

llvm::Expected<PlaceholderPool>
PlaceholderPool::create(std::vector<Member> members) {
  PlaceholderPool pool(std::move(members));
  for (size_t i = 0; i < pool.members.size(); ++i)
    for (const Buffer *buffer : getPlaceholders(*pool.members[i].function))
      GLOWISH_RETURN_IF_ERROR(pool.add(i, *buffer));
  return pool;
}

void PlaceholderPool::place(const IRFunction &function,
                            MemoryPlan &plan) const {
  auto member = llvm::find_if(
      members, [&](const Member &each) { return each.function == &function; });
  assert(member != members.end() && plan.arenaPlaceholders.empty() &&
         plan.alignment <= MemoryPlan::defaultAlignment);
  const llvm::StringMap<Slot> &own = slots[member - members.begin()];
  for (const Buffer *buffer : getPlaceholders(function))
    plan.offsets[buffer] = own.find(buffer->getModelName())->second.offset;
  plan.mutableSize = size;
}

//===- Records.cpp - What processes send each other -----------------------===//

#include "common/Records.h"
#include "llvm/Support/Endian.h"

using namespace glowish;

IndexRange glowish::getShare(const ProcessGroup *group, size_t count) {
  if (!group)
    return {0, count};
  size_t first = count * group->getRank() / group->getSize();
  return {first, count * (group->getRank() + 1) / group->getSize() - first};
}

std::vector<std::string>
glowish::gatherRecords(ProcessGroup &group,
                       llvm::ArrayRef<std::string> records) {
  std::string bytes;
  for (const std::string &record : records) {
    char size[sizeof(uint64_t)];
    llvm::support::endian::write64le(size, record.size());
    bytes.append(size, sizeof(size));
    bytes += record;
  }
  std::vector<std::string> all;
  for (const std::string &part : group.gather(bytes))
    for (llvm::StringRef rest = part; !rest.empty();) {
      uint64_t size = llvm::support::endian::read64le(rest.data());
      rest = rest.drop_front(sizeof(size));
      all.push_back(rest.take_front(size).str());
      rest = rest.drop_front(size);
    }
  return all;
}

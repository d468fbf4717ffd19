//===- FolderRun.cpp - Outputs of each set of -input-dir ------------------===//

#include "FolderRun.h"
#include "common/Processes.h"
#include "common/Records.h"
#include "llvm/ADT/StringSet.h"

using namespace glowish;

llvm::Error FolderRun::setSets(llvm::ArrayRef<InputSet> all) {
  llvm::StringSet<> names;
  for (const InputSet &set : all)
    if (!names.insert(set.name).second)
      return makeError("-input-dir: two inputs are called '{0}', as would be "
                       "the folders of their outputs; accepted: one of them",
                       set.name);
  sets = all.vec();
  return llvm::Error::success();
}

llvm::Error FolderRun::run(Session &session,
                           llvm::ArrayRef<SequenceOutput> sequences) {
  IndexRange share = getShare(group, sets.size());
  for (const InputSet &set :
       llvm::ArrayRef(sets).slice(share.first, share.count)) {
    GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
    GLOWISH_RETURN_IF_ERROR(readInputSet(set, given));
    GLOWISH_RETURN_IF_ERROR(checkInputSet(set, given, session));
    GLOWISH_RETURN_IF_ERROR(fillInputs(session, given));
    GLOWISH_RETURN_IF_ERROR(session.run());
    GLOWISH_ASSIGN_OR_RETURN(std::vector<OutputFile> own,
                             encodeOutputs(session, sequences, set.name));
    if (group)
      llvm::append_range(files, std::move(own));
    else
      GLOWISH_RETURN_IF_ERROR(writeOutputFiles(own));
  }
  return llvm::Error::success();
}

llvm::Error FolderRun::finish() {
  if (!group)
    return llvm::Error::success();
  std::vector<std::string> records;
  for (OutputFile &file : files)
    for (std::string *text : {&file.path, &file.bytes})
      records.push_back(std::move(*text));
  files.clear();
  records = gatherRecords(*group, records);
  for (size_t i = 0; i < records.size(); i += 2)
    files.push_back({std::move(records[i]), std::move(records[i + 1])});
  return group->agree(writeOutputFiles(files));
}

//===- NetFile.cpp - Files of a Caffe2 model ------------------------------===//

#include "Caffe2/NetFile.h"
#include "Common/ProtobufFile.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
using namespace glowish::caffe2;
namespace fs = llvm::sys::fs;

/// Returns FOLDER/NAME.pb or FOLDER/NAME.pbtxt, or an empty string if neither
/// exists.
static std::string findNet(llvm::StringRef folder, llvm::StringRef name) {
  for (const char *ending : {".pb", ".pbtxt"}) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name + ending);
    if (fs::exists(path))
      return path.str().str();
  }
  return "";
}

bool caffe2::isCaffe2Folder(llvm::StringRef path, llvm::StringRef) {
  return fs::is_directory(path) && !findNet(path, "predict_net").empty();
}

llvm::Expected<std::vector<std::string>>
caffe2::findCaffe2Files(llvm::StringRef path, llvm::StringRef secondFile) {
  std::vector<std::string> files = {path.str()};
  if (!secondFile.empty())
    files.push_back(secondFile.str());
  if (!fs::is_directory(path))
    return files;
  if (!secondFile.empty())
    return makeError("'{0}' is a folder, and there is a second file '{1}'; "
                     "accepted: a folder with predict_net and init_net, or the "
                     "two files",
                     path, secondFile);
  files = {findNet(path, "predict_net")};
  if (files[0].empty())
    return makeError("'{0}': the folder has neither predict_net.pb nor "
                     "predict_net.pbtxt",
                     path);
  std::string init = findNet(path, "init_net");
  if (!init.empty())
    files.push_back(init);
  return files;
}

std::string caffe2::describe(const schema::OperatorDef &op) {
  llvm::StringRef name = op.name();
  if (name.empty() && op.output_size())
    name = op.output(0);
  return describeNode(name, op.type());
}

/// Whether \p net computes an input of \p other.
static bool feeds(const schema::NetDef &net, const schema::NetDef &other) {
  llvm::StringSet<> computed;
  for (const schema::OperatorDef &op : net.op())
    for (const std::string &name : op.output())
      computed.insert(name);
  for (const schema::OperatorDef &op : other.op()) {
    for (const std::string &name : op.input())
      if (computed.contains(name))
        return true;
    for (const std::string &name : op.output())
      computed.erase(name);
  }
  return false;
}

/// Whether \p net has only fills: no operator has inputs.
static bool isFills(const schema::NetDef &net) {
  return llvm::all_of(net.op(), [](const schema::OperatorDef &op) {
    return op.input_size() == 0;
  });
}

llvm::Expected<NetPair> caffe2::parseNets(llvm::ArrayRef<llvm::StringRef> nets,
                                          llvm::ArrayRef<std::string> names) {
  std::vector<schema::NetDef> parsed(nets.size());
  for (size_t i = 0; i < nets.size(); ++i) {
    llvm::Error error = parseProtobuf(nets[i], parsed[i], "a Caffe2 net", "");
    if (!error)
      error = checkUnknownFields(
          parsed[i], "Caffe2", [](llvm::StringRef, int) { return false; },
          [](const google::protobuf::Message &message) {
            return message.GetDescriptor() == schema::OperatorDef::descriptor()
                       ? describe(
                             static_cast<const schema::OperatorDef &>(message))
                       : std::string();
          });
    if (error)
      return makeError("'{0}': {1}", names[i],
                       cleanMessage(llvm::toString(std::move(error))));
  }
  NetPair pair;
  pair.hasInit = parsed.size() > 1;
  size_t init = 1;
  // If neither net computes inputs of the other: the init net has no inputs,
  // and the predict net has outputs.
  if (pair.hasInit && (feeds(parsed[0], parsed[1]) ||
                       (!feeds(parsed[1], parsed[0]) && isFills(parsed[0]) &&
                        parsed[1].external_output_size())))
    init = 0;
  if (pair.hasInit)
    pair.init = std::move(parsed[init]);
  pair.predict = std::move(parsed[pair.hasInit ? 1 - init : 0]);
  return pair;
}

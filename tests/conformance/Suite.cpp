//===- Suite.cpp - ONNX's own tests in a folder ---------------------------===//

#include "Suite.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <onnx/onnx_pb.h>
#include <set>

using namespace glowish;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

/// A line of scope.csv.
struct Scope {
  std::string testClass;
  std::vector<std::string> constantInputs;
};

} // namespace

/// By suite and test: "node/test_abs".
using Scopes = std::map<std::string, Scope>;

static std::string join(llvm::StringRef folder, const llvm::Twine &name) {
  llvm::SmallString<128> joined(folder);
  path::append(joined, name);
  return joined.str().str();
}

llvm::Expected<onnx::ModelProto> glowish::readModelProto(llvm::StringRef file) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(file));
  onnx::ModelProto model;
  if (!model.ParseFromArray(buffer->getBufferStart(),
                            int(buffer->getBufferSize())))
    return makeError("'{0}' is not an ONNX model", file);
  return model;
}

/// The columns suite, test, class and tags of \p file; no field has a comma.
static llvm::Expected<Scopes> readScopes(llvm::StringRef file) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(file));
  llvm::SmallVector<llvm::StringRef> lines, fields;
  buffer->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::map<llvm::StringRef, unsigned> columns;
  Scopes scopes;
  for (llvm::StringRef line : lines) {
    fields.clear();
    line.rtrim('\r').split(fields, ',');
    if (columns.empty()) {
      for (unsigned i = 0; i < fields.size(); ++i)
        columns[fields[i]] = i;
      for (const char *name : {"suite", "test", "class", "tags"})
        if (!columns.count(name))
          return makeError("'{0}' has no column '{1}'", file, name);
      continue;
    }
    if (fields.size() < columns.size())
      return makeError("'{0}': this line has {1} fields, not {2}: {3}", file,
                       fields.size(), columns.size(), line);
    Scope &scope =
        scopes[(fields[columns["suite"]] + "/" + fields[columns["test"]])
                   .str()];
    scope.testClass = fields[columns["class"]].str();
    for (llvm::StringRef tag : llvm::split(fields[columns["tags"]], ' '))
      if (tag.consume_front("const-input:"))
        scope.constantInputs.push_back(tag.str());
  }
  return scopes;
}

/// Gives each test what a scope.csv above its suite's folder states.
static llvm::Error addScopes(std::vector<NodeTest> &tests) {
  std::map<std::string, Scopes> files;
  for (NodeTest &test : tests) {
    llvm::StringRef folder = path::parent_path(test.model);
    llvm::StringRef suite = path::parent_path(folder);
    std::string file = join(path::parent_path(suite), "scope.csv");
    auto [found, isNew] = files.try_emplace(file);
    if (isNew && fs::exists(file)) {
      GLOWISH_ASSIGN_OR_RETURN(found->second, readScopes(file));
    }
    auto known = found->second.find(
        (path::filename(suite) + "/" + path::filename(folder)).str());
    if (known == found->second.end())
      continue;
    test.testClass = known->second.testClass;
    test.constantInputs = known->second.constantInputs;
  }
  return llvm::Error::success();
}

/// Completes the data of a test with its model; without data it is no test.
static void findData(NodeTest &test) {
  llvm::StringRef model = test.model;
  if (path::filename(model) == "model.onnx") {
    for (unsigned i = 0;; ++i) {
      std::string folder =
          join(path::parent_path(model), "test_data_set_" + llvm::Twine(i));
      if (!fs::is_directory(folder))
        return;
      test.dataPrefixes.push_back(folder + "/");
    }
  }
  std::string prefix = model.drop_back(path::extension(model).size()).str();
  if (!fs::exists(prefix + "_output_0.pb"))
    return;
  test.hasRampInputs = true;
  test.dataPrefixes.push_back(prefix + "_");
}

static std::string getTestName(const NodeTest &test, llvm::StringRef root) {
  llvm::StringRef file = test.model;
  llvm::StringRef name = test.hasRampInputs
                             ? file.drop_back(path::extension(file).size())
                             : path::parent_path(file);
  name = name.substr(root.size()).ltrim("/\\");
  // A folder that is itself a test.
  return name.empty() ? path::filename(root).str()
                      : path::convert_to_slash(name);
}

llvm::Expected<std::vector<NodeTest>>
glowish::findNodeTests(llvm::StringRef root, bool isWritten) {
  std::vector<NodeTest> tests;
  std::error_code error;
  for (fs::recursive_directory_iterator i(root, error), end; i != end && !error;
       i.increment(error)) {
    if (path::extension(i->path()) != ".onnx")
      continue;
    NodeTest test;
    test.model = i->path();
    findData(test);
    if (test.dataPrefixes.empty())
      continue;
    test.name = getTestName(test, root);
    GLOWISH_ASSIGN_OR_RETURN(onnx::ModelProto model,
                             readModelProto(test.model));
    test.skip = findSkip(model, isWritten);
    std::set<std::string> operators;
    for (const onnx::NodeProto &node : model.graph().node())
      operators.insert(node.op_type());
    test.operators.assign(operators.begin(), operators.end());
    tests.push_back(std::move(test));
  }
  if (error)
    return makeError("'{0}': {1}", root, error.message());
  llvm::sort(tests, [](const NodeTest &a, const NodeTest &b) {
    return a.name < b.name;
  });
  GLOWISH_RETURN_IF_ERROR(addScopes(tests));
  return tests;
}

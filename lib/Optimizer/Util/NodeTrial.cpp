//===- NodeTrial.cpp - Nodes that may have to be erased again -------------===//

#include "Util/NodeTrial.h"

using namespace glowish;

NodeTrial::NodeTrial(Function &function, Node &end)
    : function(function), before(&end == &function.getNodes().front()
                                     ? nullptr
                                     : &*std::prev(end.getIterator())),
      end(end), guard(function, &end), extents(function) {}

NodeTrial::~NodeTrial() {
  if (isKept)
    return;
  // Users come after what they read.
  for (auto nodes = getNodes(); !nodes.empty(); nodes = getNodes())
    function.erase(&*std::prev(nodes.end()));
}

llvm::iterator_range<Function::NodeList::iterator> NodeTrial::getNodes() const {
  auto begin =
      before ? std::next(before->getIterator()) : function.getNodes().begin();
  return {begin, end.getIterator()};
}

//===- ExactSchedule.h - The best order of a few nodes ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IRGEN_EXACTSCHEDULE_H
#define GLOWISH_LIB_IRGEN_EXACTSCHEDULE_H

#include "ScheduleGraph.h"

namespace glowish {

/// Lowers the peak of \p order where the nodes around it, a few dozens at most,
/// have a better order: of all orders of a dozen neighbours the best is found,
/// again and again, until no such group lowers the peak. What is live before
/// and after a group does not depend on its order, so that the rest stays as it
/// is.
void lowerPeakExactly(const ScheduleGraph &graph, std::vector<unsigned> &order);

} // namespace glowish

#endif // GLOWISH_LIB_IRGEN_EXACTSCHEDULE_H

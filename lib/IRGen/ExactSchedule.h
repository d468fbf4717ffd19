//===- ExactSchedule.h - The best order of a few nodes ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IRGEN_EXACTSCHEDULE_H
#define GLOWISH_LIB_IRGEN_EXACTSCHEDULE_H

#include "ScheduleGraph.h"

namespace glowish {

/// Lowers the peak of \p order by reordering the nodes around it, a few dozens
/// at most: replaces the order of a dozen consecutive nodes by the optimal one
/// until no such group lowers the peak. The set of live values before and after
/// a group does not depend on its order, so that the rest is unchanged.
void lowerPeakExactly(const ScheduleGraph &graph, std::vector<unsigned> &order);

} // namespace glowish

#endif // GLOWISH_LIB_IRGEN_EXACTSCHEDULE_H

// Of both objects of the sample: its mutants count once, and are switched on in
// both.

// expect condition (true): killed
// expect condition (false): killed
// expect bound (sgt -> sge): no difference
inline int clampTo7(int x) { return x > 7 ? 7 : x; }

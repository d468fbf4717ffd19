//===- CPUInstrs.td - Instructions of the CPU back end ---------*- td -*-===//
//
// What the CPU back end turns instructions with constant weights into once it
// has chosen a kernel: the weights are packed in the order the kernel reads.
//
//===----------------------------------------------------------------------===//


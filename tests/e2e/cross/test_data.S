/* What a bundle is run with: files INPUTS and OUTPUTS. */
  .section .test_data, "a", %progbits
  .balign 16
  .globl test_inputs
test_inputs:
  .incbin INPUTS
  .balign 16
  .globl test_outputs
test_outputs:
  .incbin OUTPUTS

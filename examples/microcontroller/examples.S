/* The features of the stored words, which make_examples.py writes: of each the number of
 * the word, a byte, and what the network reads. */
  .section .rodata.examples, "a"
  .globl examples, examples_end
examples:
  .incbin "examples.bin"
examples_end:

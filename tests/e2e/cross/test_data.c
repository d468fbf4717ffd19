/* What a bundle is run with: files INPUTS and OUTPUTS. */
__asm__(".pushsection .test_data, \"a\", %progbits\n"
        ".balign 16\n"
        ".globl test_inputs\n"
        "test_inputs:\n"
        ".incbin \"" INPUTS "\"\n"
        ".balign 16\n"
        ".globl test_outputs\n"
        "test_outputs:\n"
        ".incbin \"" OUTPUTS "\"\n"
        ".popsection\n");

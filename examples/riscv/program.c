// What both processors run, from the ROM. Core 0 tests the DRAM and has the DMA copy some of it; core 1 tests the copy.
#define WORD(address) (*(volatile unsigned *)(address))
#define BYTE(address) (*(volatile unsigned char *)(address))
#define MAILBOX(core) WORD(0x10000000 + 4 * (core))
#define IS_COPIED WORD(0x10000008)
#define DMA(offset) WORD(0x20000000 + (offset))
#define DRAM 0x80000000u
#define SIZE 0x100000u
#define COPY (DRAM + SIZE / 2)
#define BYTES 1024u  // that are tested one by one, and copied
#define PASS 0x53534150  // "PASS", its first letter in the lowest byte
#define FAIL 0x4c494146

// Address 0. The stack pointer is a parameter of each core: the end of the static memory for core 0, its middle for core 1.
__attribute__((naked, section(".start"))) void start(void) {
    __asm__("srli a0, sp, 11\n andi a0, a0, 1\n call run\n ebreak");
}

static unsigned pattern(unsigned address, unsigned flip) { return (address ^ address << 15 ^ 0x5a0f3c69) ^ flip; }

static void write(unsigned at, unsigned flip) { WORD(at) = pattern(at, flip); }

static void write_all(unsigned flip) {
    for (unsigned at = DRAM; at < DRAM + BYTES; at += 4) write(at, flip);
}

// Returns the bits that are wrong in any word of a place that has the pattern of the tested bytes.
static unsigned wrong_in(unsigned place, unsigned flip) {
    unsigned wrong = 0;
    for (unsigned at = 0; at < BYTES; at += 4) wrong |= WORD(place + at) ^ pattern(DRAM + at, flip);
    return wrong;
}

// Words whose addresses differ in one line each from that of the first word.
static unsigned wrong_of_lines(void) {
    unsigned wrong = 0;
    write(DRAM, 0);
    for (unsigned line = 4; line < SIZE; line <<= 1) write(DRAM + line, 0);
    for (unsigned line = 4; line < SIZE; line <<= 1) wrong |= WORD(DRAM + line) ^ pattern(DRAM + line, 0);
    return wrong | (WORD(DRAM) ^ pattern(DRAM, 0));
}

static unsigned wrong_of_bytes(void) {
    for (unsigned lane = 0; lane < 8; lane++) BYTE(DRAM + lane) = lane;
    return (WORD(DRAM) ^ 0x03020100) | (WORD(DRAM + 4) ^ 0x07060504);
}

static unsigned copy(void) {
    DMA(0) = DRAM;
    DMA(4) = COPY;
    DMA(8) = BYTES;
    while (DMA(8)) {}
    return DMA(12);
}

void run(unsigned core) {
    unsigned wrong = 0;
    if (core == 0) {
        wrong |= wrong_of_lines() | wrong_of_bytes();
        write_all(0);
        wrong |= wrong_in(DRAM, 0);
        write_all(~0u);
        wrong |= wrong_in(DRAM, ~0u) | copy();
        IS_COPIED = PASS;
    } else {
        while (IS_COPIED != PASS) {}
        wrong |= wrong_in(COPY, ~0u);
    }
    MAILBOX(core) = wrong ? FAIL : PASS;
}

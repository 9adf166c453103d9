/* SPDX-License-Identifier: Apache-2.0 */
/* BPF instructions by hand, for programs of a few lines that a test or a bench brings along. */
#ifndef SECG_TESTS_INSN_H
#define SECG_TESTS_INSN_H

#include <linux/bpf.h>

/* clang-format off */
#define INSN(c, d, s, o, i) \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
/* clang-format on */

#define INSN_LOAD(size, d, s, o)  INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define INSN_STORE(size, d, s, o) INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define INSN_MOVE(d, s)           INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define INSN_SET(d, i)            INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define INSN_ALU(op, d, i)        INSN(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
#define INSN_TO_BE(d, bits)       INSN(BPF_ALU | BPF_END | BPF_TO_BE, d, 0, 0, bits)
#define INSN_CALL(function)       INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define INSN_EXIT                 INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* Skips `by` instructions where d is at most s; where d is not zero. */
#define INSN_SKIP_LE(d, s, by) INSN(BPF_JMP | BPF_JLE | BPF_X, d, s, by, 0)
#define INSN_SKIP_SET(d, by)   INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, by, 0)
/* Two instructions each. */
#define INSN_MAP(d, fd) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)
#define INSN_MAP_VALUE(d, fd) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_VALUE, 0, fd), INSN(0, 0, 0, 0, 0)

#endif

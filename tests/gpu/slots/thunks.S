/* SPDX-License-Identifier: MIT */
/* Thunk n: one more in slots_counts[n], then on to slots_targets[n]. See slots.h. */
	.text
	.p2align 5
	.hidden slots_thunks
	.globl slots_thunks
	.type slots_thunks, @object
slots_thunks:
	.set n, 0
	.rept 4096
	.p2align 5
	endbr64
	lock incq slots_counts + 8 * n(%rip)
	jmp *slots_targets + 8 * n(%rip)
	.set n, n + 1
	.endr
	.p2align 5
	.size slots_thunks, . - slots_thunks
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/* Both ends of a call that notes every register; see client.h. */
	.macro each_vector do
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\do \n
	.endr
	.endm
	.macro note n
	vmovdqu %ymm\n, 136 + 32 * \n(%rdi)
	.endm
	.macro load n
	vmovdqu 136 + 32 * \n(%rsi), %ymm\n
	.endm

	.text
	.globl slots_registers
	.type slots_registers, @function
slots_registers:
	mov %rax, 0(%rdi)
	mov %rcx, 8(%rdi)
	mov %rdx, 16(%rdi)
	mov %rbx, 24(%rdi)
	mov %rsp, 32(%rdi)
	mov %rbp, 40(%rdi)
	mov %rsi, 48(%rdi)
	mov %rdi, 56(%rdi)
	mov %r8, 64(%rdi)
	mov %r9, 72(%rdi)
	mov %r10, 80(%rdi)
	mov %r11, 88(%rdi)
	mov %r12, 96(%rdi)
	mov %r13, 104(%rdi)
	mov %r14, 112(%rdi)
	mov %r15, 120(%rdi)
	mov (%rsp), %rax
	mov %rax, 128(%rdi)
	each_vector note
	vzeroupper
	ret
	.size slots_registers, . - slots_registers

	.globl slots_call
	.type slots_call, @function
slots_call:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	push %rdi
	mov %rsi, %rdi
	each_vector load
	mov 0(%rdi), %rax
	mov 8(%rdi), %rcx
	mov 16(%rdi), %rdx
	mov 24(%rdi), %rbx
	mov 40(%rdi), %rbp
	mov 48(%rdi), %rsi
	mov 64(%rdi), %r8
	mov 72(%rdi), %r9
	mov 80(%rdi), %r10
	mov 88(%rdi), %r11
	mov 96(%rdi), %r12
	mov 104(%rdi), %r13
	mov 112(%rdi), %r14
	mov 120(%rdi), %r15
	call *(%rsp)
	pop %rdi
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.size slots_call, . - slots_call
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * dlsym and dlvsym, in place of libc's. libc's own answer depends on who calls, so nothing may
 * stand between the caller and it: every way out of here is a jump. Only names that begin with
 * "cu" and a capital or a p (CUPTI's), asked of an explicit handle, are looked at; see driver.h.
 */

.macro define name, next, swap
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	lea 1(%rdi), %rax
	cmp $1, %rax
	jbe 1f /* RTLD_NEXT, RTLD_DEFAULT */
	test %rsi, %rsi
	jz 1f
	cmpb $'c', (%rsi)
	jne 1f
	cmpb $'u', 1(%rsi)
	jne 1f
	movzbl 2(%rsi), %eax
	cmp $'p', %eax
	je \swap
	sub $'A', %eax
	cmp $('Z' - 'A'), %eax
	jbe \swap
1:	mov \next(%rip), %rax
	test %rax, %rax
	jz 2f
	jmp *%rax
2:	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	push %rdx
	.cfi_adjust_cfa_offset 8
	lea \next(%rip), %rdi
	call tfs_driver_find_next
	pop %rdx
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc
	.size \name, . - \name
.endm

	.text
	define dlsym, tfs_next_dlsym, swap_dlsym
	define dlvsym, tfs_next_dlvsym, swap_dlvsym

/* The caller becomes an argument, and the answer goes straight to it. */
swap_dlsym:
	.cfi_startproc
	mov (%rsp), %rdx
	jmp tfs_driver_dlsym
	.cfi_endproc
	.size swap_dlsym, . - swap_dlsym

swap_dlvsym:
	.cfi_startproc
	mov (%rsp), %rcx
	jmp tfs_driver_dlvsym
	.cfi_endproc
	.size swap_dlvsym, . - swap_dlvsym

	.section .note.gnu.property, "a", @note
	.p2align 3
	.long 4, 16, 5
	.asciz "GNU"
	.long 0xc0000002, 4, 3, 0 /* works with indirect branch tracking and shadow stacks */
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * dlsym, dlvsym and dlopen, in place of libc's. What libc answers, and where it looks for a
 * library, depends on who calls, so nothing may stand between the caller and it: every way out of
 * here is a jump. Only names that begin with "cu" or "nc", asked of an explicit handle, are
 * answered otherwise (see driver.h). Asked of no handle they are noted, and where no library has
 * them the loader is asked, which has none. Libraries are opened with the caller's flags, but for
 * some (see open.h).
 */

/* Goes on to the next library's function, which is looked for at first. Its arguments are kept. */
.macro pass_on next
	mov \next(%rip), %rax
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
.endm

.macro define name, next, swap
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	test %rsi, %rsi
	jz 1f
	cmpb $'n', (%rsi)
	je 4f
	cmpb $'c', (%rsi)
	jne 1f
	cmpb $'u', 1(%rsi)
	jne 1f
3:	lea 1(%rdi), %rax
	cmp $1, %rax
	ja \swap /* neither RTLD_NEXT nor RTLD_DEFAULT */
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	push %rdx
	.cfi_adjust_cfa_offset 8
	mov %rdi, %rdx
	mov %rsi, %rdi
	mov 24(%rsp), %rsi
	call tfs_driver_note_lookup
	pop %rdx
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	mov %rax, %rdi
	jmp 1f
4:	cmpb $'c', 1(%rsi)
	je 3b
1:	pass_on \next
	.cfi_endproc
	.size \name, . - \name
.endm

	.text
	define dlsym, tfs_next_dlsym, swap_dlsym
	define dlvsym, tfs_next_dlvsym, swap_dlvsym

	.globl dlopen
	.type dlopen, @function
	.p2align 4
dlopen:
	.cfi_startproc
	endbr64
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi /* room, for the alignment */
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	call tfs_open_flags
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	mov %eax, %esi
	pass_on tfs_next_dlopen
	.cfi_endproc
	.size dlopen, . - dlopen

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

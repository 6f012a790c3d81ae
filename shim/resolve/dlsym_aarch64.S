/* SPDX-License-Identifier: MIT */
/* dlsym, dlvsym and dlopen for aarch64; dlsym_x86_64.S says why they are what they are. */

.macro pass_on next
	adrp x9, \next
	ldr x16, [x9, #:lo12:\next]
	cbz x16, 2f
	br x16
2:	stp x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	stp x0, x1, [sp, #16]
	str x2, [sp, #32]
	adrp x0, \next
	add x0, x0, #:lo12:\next
	bl tfs_driver_find_next
	mov x16, x0
	ldr x2, [sp, #32]
	ldp x0, x1, [sp, #16]
	ldp x29, x30, [sp], #48
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	br x16
.endm

.macro define name, next, swap
	.globl \name
	.type \name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint #34 /* bti c */
	cbz x1, 1f
	ldrb w9, [x1]
	cmp w9, #'n'
	b.eq 4f
	cmp w9, #'c'
	b.ne 1f
	ldrb w9, [x1, #1]
	cmp w9, #'u'
	b.ne 1f
3:	add x9, x0, #1
	cmp x9, #1
	b.hi \swap /* neither RTLD_NEXT nor RTLD_DEFAULT */
	stp x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	stp x0, x1, [sp, #16]
	str x2, [sp, #32]
	mov x2, x0
	mov x0, x1
	mov x1, x30
	bl tfs_driver_note_lookup
	ldr x2, [sp, #32]
	ldr x1, [sp, #24]
	ldp x29, x30, [sp], #48
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	b 1f
4:	ldrb w9, [x1, #1]
	cmp w9, #'c'
	b.eq 3b
1:	pass_on \next
	.cfi_endproc
	.size \name, . - \name
.endm

	.text
	define dlsym, tfs_next_dlsym, swap_dlsym
	define dlvsym, tfs_next_dlvsym, swap_dlvsym

	.globl dlopen
	.type dlopen, %function
	.p2align 4
dlopen:
	.cfi_startproc
	hint #34 /* bti c */
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	str x0, [sp, #16]
	bl tfs_open_flags
	mov w1, w0
	ldr x0, [sp, #16]
	ldp x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	pass_on tfs_next_dlopen
	.cfi_endproc
	.size dlopen, . - dlopen

swap_dlsym:
	mov x2, x30
	b tfs_driver_dlsym
	.size swap_dlsym, . - swap_dlsym

swap_dlvsym:
	mov x3, x30
	b tfs_driver_dlvsym
	.size swap_dlvsym, . - swap_dlvsym

	.section .note.GNU-stack, "", %progbits

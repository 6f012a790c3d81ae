/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_ELF_FILE_H
#define TFS_REPORTS_ELF_FILE_H

/*
 * What `tfshim doctor` wants to know about a program before it runs. The file is untrusted: every
 * offset is checked.
 */

#include <stdbool.h>

struct tfs_elf_file {
	bool is_elf;         /* 64-bit x86 little endian */
	bool dynamic;        /* has an interpreter, so that LD_PRELOAD works */
	bool needs_cudart;   /* libcudart.so is among its libraries */
	bool needs_cuda_any; /* any of the CUDA libraries is */
	bool static_cudart;  /* carries a CUDA runtime of its own */
	bool lines;          /* has .debug_line: call sites get file and line */
	bool symbols;        /* has a symbol table */
};

/* Reads a program; 0 or negative errno. */
int tfs_elf_file_read(const char *path, struct tfs_elf_file *out_file);

#endif

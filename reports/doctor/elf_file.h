/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_DOCTOR_ELF_FILE_H
#define TFS_REPORTS_DOCTOR_ELF_FILE_H

/*
 * What `tfshim doctor` wants to know about a program or library before it runs. The file is
 * untrusted.
 */

#include <stdbool.h>

#define TFS_ELF_NEEDED 64u

struct tfs_elf_file {
	bool is_elf;            /* 64-bit, for this processor */
	bool is_script;         /* begins with #! */
	bool dynamic;           /* has an interpreter, so that LD_PRELOAD works */
	bool starts;            /* says of itself that it is a program */
	bool library;           /* is not started by itself */
	char interpreter[128];  /* the loader's path; "" = none */
	bool static_cudart;     /* carries a CUDA runtime of its own */
	bool opens_libraries;   /* imports dlopen or dlmopen */
	bool opens_apart;       /* imports dlmopen */
	bool nvtx;              /* has NVTX 3 compiled in */
	bool lines;             /* has .debug_line: call sites get file and line */
	bool symbols;           /* has a symbol table */
	char release[16];       /* of nvcc, "13.0"; "" = unknown */
	char runpath[1024];     /* DT_RUNPATH, or else DT_RPATH, as written; "" = none */
	bool runpath_only_here; /* it is DT_RUNPATH: not for the libraries' libraries */
	unsigned needed_count;
	char needed[TFS_ELF_NEEDED][80]; /* names of the libraries it is linked to */
};

/* Reads a file; 0, or negative errno: -ENOEXEC = no regular file, -EBADMSG = an ELF file that is
 * cut short or damaged. */
int tfs_elf_file_read(const char *path, struct tfs_elf_file *out_file);

/* Is there a file of this processor's kind? What else it holds is not looked at. */
bool tfs_elf_file_fits(const char *path);

#endif

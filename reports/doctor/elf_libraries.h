/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_DOCTOR_ELF_LIBRARIES_H
#define TFS_REPORTS_DOCTOR_ELF_LIBRARIES_H

/*
 * The libraries that come with a program, and those that come with them, to the end: found as the
 * loader will find them, by DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH, the loader's cache and the
 * system's folders. Nothing is loaded.
 */

#include <stdbool.h>

#include "reports/doctor/elf_file.h"

struct tfs_elf_library {
	const char *name;  /* as it is asked for */
	const char *path;  /* NULL: it is missing */
	const char *found; /* the same, as the loader calls it: links are not followed */
	const char *by;    /* path of who asks for it */
	bool of_system;    /* neither the program's search paths nor the user's led there */
	const struct tfs_elf_file *file; /* NULL: missing, or not looked into */
};

struct tfs_elf_visitor {
	/* False: it is only found, neither read nor followed. */
	bool (*wants)(const char *name);
	/* Each library once, nearest first; what it is given ends with the call. */
	void (*visit)(void *argument, const struct tfs_elf_library *library);
	void *argument;
};

/* Visits the libraries of the program at `path`, whose file was read. 0 or -ENOMEM. */
int tfs_elf_libraries(
	const char *path, const struct tfs_elf_file *file, const struct tfs_elf_visitor *visitor);

#endif

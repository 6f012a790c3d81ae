/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_DOCTOR_DOCTOR_H
#define TFS_REPORTS_DOCTOR_DOCTOR_H

/*
 * What the parts of `tfshim doctor` share: doctor.c looks at the machine, doctor_permissions.c
 * at what may be read there, doctor_program.c at a program, and doctor_cupti.c for the CUPTI that
 * it will have.
 */

#include <stdbool.h>

enum tfs_health { TFS_FINE, TFS_REMARK, TFS_LIMIT };

struct tfs_paint;

struct tfs_doctor {
	const struct tfs_paint *paint;
	unsigned limits;
	bool driver;        /* the driver's library can be opened */
	bool gpu;           /* and finds a device */
	bool cupti;         /* CUPTI was found */
	bool cupti_taken;   /* a variable names another user of it */
	bool unreadable;    /* an operand could not be read at all */
	const char *advice; /* the change that would help most so far; NULL = none */
	unsigned advice_weight;
};

/* Prints one line: how good it is, what it is about, and what is to be said. */
void tfs_doctor_say(struct tfs_doctor *doctor, enum tfs_health health, const char *subject,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Keeps the weightiest advice. `text` must live on. */
void tfs_doctor_advise(struct tfs_doctor *doctor, unsigned weight, const char *text);

/* Does TFSHIM_OPTIONS switch this flag off, which is on by default? */
bool tfs_doctor_is_off(const char *key);

/* The folders of a program's CUDA libraries, each with its "/", in the order of
 * TFS_CUPTI_COMPANIONS. */
#define TFS_DOCTOR_FOLDERS 6u
struct tfs_doctor_folders {
	char *paths[TFS_DOCTOR_FOLDERS]; /* NULL = there is none */
};

/* Looks for CUPTI as the traced process does; `folders` may be NULL. */
void tfs_doctor_cupti(struct tfs_doctor *doctor, const struct tfs_doctor_folders *folders);

/* Looks at what this process, and so a program, may ask the kernel for. */
void tfs_doctor_permissions(struct tfs_doctor *doctor);

/* Looks at a program, by its path or its name on PATH; after the machine. */
void tfs_doctor_program(struct tfs_doctor *doctor, const char *word);

#endif

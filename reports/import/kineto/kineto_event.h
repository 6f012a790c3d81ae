/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_KINETO_EVENT_H
#define TFS_REPORTS_IMPORT_KINETO_EVENT_H

/* One event of Kineto's, and what its traces say of the machine. */

#include <jansson.h>

struct tfs_collected;
struct tfs_kineto_processes;

/* Takes what is of use; 0 or a negative errno. */
int tfs_kineto_event(struct tfs_collected *collected, struct tfs_kineto_processes *processes,
	const json_t *event);

/* The same for a member of the file beside its events. */
int tfs_kineto_fact(struct tfs_collected *collected, struct tfs_kineto_processes *processes,
	const char *key, const json_t *value);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_NSIGHT_PART_H
#define TFS_REPORTS_IMPORT_NSIGHT_PART_H

/* What the files share that read an export of Nsight Systems, a part each. */

#include "reports/import/collected/collected.h"
#include "reports/import/nsight/database.h"

/* Nsight numbers processes and threads: the low 24 bits are the thread, the next 24 the process. */
#define TFS_NSIGHT_PROCESS(number) ((number) & ~INT64_C(0xffffff))
#define TFS_NSIGHT_PID(number) ((uint64_t)(number) >> 24 & 0xffffff)

#define TFS_NSIGHT_DEVICES 64

#define TFS_NSIGHT_MOST_NS INT64_C(4000000000000000000)
/* Of a longer recording a part is read that holds about as many, so that memory does not grow with
 * the file. */
#define TFS_NSIGHT_EVENTS 2000000u

struct tfs_choice;

struct tfs_nsight {
	struct tfs_database database;
	struct tfs_collected *collected;
	int64_t process; /* its number */
	bool chosen;     /* not every row is of it */
	bool cut;        /* only a part of its time is read, from `first_ns` to `end_ns` */
	int64_t first_ns, end_ns;
	uint32_t first_stack, last_stack; /* of the calls that are read */
	uint32_t first_call, last_call;   /* correlation ids of that part */
	struct tfs_nsight_wait *waits;    /* for events, see nsight_events.c */
	size_t wait_count;
	int err; /* of the table of strings */
	struct tfs_rows strings;
	struct tfs_nsight_name *names; /* of the table of strings, by id */
	uint32_t name_count, name_slots;
	bool numbered;                        /* some of the next */
	bool used[TFS_NSIGHT_DEVICES];        /* by the work */
	uint32_t devices[TFS_NSIGHT_DEVICES]; /* the machine's number + 1; 0 = not known */
};

/* 0 or a negative errno, as all of these: which process, and what it is called. */
int tfs_nsight_choose(
	struct tfs_nsight *nsight, const struct tfs_choice *choice, char *out_why, size_t bytes);

/* Which part of its time is read. */
int tfs_nsight_window(struct tfs_nsight *nsight);
int tfs_nsight_calls(struct tfs_nsight *nsight);
int tfs_nsight_stacks(struct tfs_nsight *nsight);
int tfs_nsight_work(struct tfs_nsight *nsight);
/* Which record of an event each wait is for; after the work. */
int tfs_nsight_events(struct tfs_nsight *nsight);
int tfs_nsight_ranges(struct tfs_nsight *nsight);
/* Devices, streams and the time of day; after the work. */
int tfs_nsight_target(struct tfs_nsight *nsight);

/* A wait for an event was collected, which names the record of it by this number (0: by none); 0 or
 * -ENOMEM. */
int tfs_nsight_note_wait(struct tfs_nsight *nsight, size_t sync, uint64_t number);
/* Whether a row is the process's by the number in a column. */
bool tfs_nsight_is_own(
	const struct tfs_nsight *nsight, const struct tfs_rows *rows, unsigned column);

/* The id of a text of the table of strings, up to where `cut` (may be NULL) says; 0 = none. */
uint32_t tfs_nsight_string(
	struct tfs_nsight *nsight, int64_t id, size_t (*cut)(const char *text, size_t bytes));
void tfs_nsight_finish_strings(struct tfs_nsight *nsight);

/* Gives every row of a table, if there is one, to `take`, until that returns an error. */
int tfs_nsight_each(struct tfs_nsight *nsight, const char *table, const char *const *columns,
	int (*take)(struct tfs_nsight *nsight, const struct tfs_rows *rows));

/* When a row was, by its first two columns; false where that is no time. */
bool tfs_nsight_times(const struct tfs_rows *rows, int64_t *out_start_ns, int64_t *out_end_ns);

/* Whether something of those times lies, in part, in what is read. */
static inline bool tfs_nsight_inside(
	const struct tfs_nsight *nsight, int64_t start_ns, int64_t end_ns)
{
	return start_ns < nsight->end_ns && end_ns >= nsight->first_ns;
}

#endif

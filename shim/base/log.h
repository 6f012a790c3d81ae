/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_LOG_H
#define TFS_SHIM_BASE_LOG_H

/*
 * Messages of the shim, on stderr, one line each. Silent unless TFSHIM_LOG asks for the level. Any
 * thread; no allocation; errno is kept; a line that finds no room at once is dropped and counted.
 */

#include <stdbool.h>
#include <stdint.h>

/* The longest line. */
#define TFS_LOG_BYTES 1000u

enum tfs_log_level { TFS_LOG_NONE, TFS_LOG_ERROR, TFS_LOG_WARN, TFS_LOG_INFO, TFS_LOG_DEBUG };

/* The highest level that is written; set once while the options are read. */
extern enum tfs_log_level tfs_log_limit;

/* The process was started without a standard error: whatever has that number now is a file of the
 * program's own. Nothing is written then. */
extern bool tfs_log_nowhere;

/* While loading, before the program can open anything. */
void tfs_log_init(void);

/* How many lines found no room. */
uint64_t tfs_log_dropped(void);

/* Writes a line whatever the limit: only for the announced lines. */
void tfs_log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

void tfs_log_write(enum tfs_log_level level, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#define tfs_log(level, ...)                                                                        \
	do {                                                                                       \
		if ((level) <= tfs_log_limit)                                                      \
			tfs_log_write((level), __FILE__, __LINE__, __VA_ARGS__);                   \
	} while (0)

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_DATABASE_H
#define TFS_REPORTS_IMPORT_DATABASE_H

/*
 * The tables of an SQLite file that nobody vouches for. Nothing is written, no view, trigger or
 * extension runs, and reading ends where it takes more work than the file's length explains.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfs_database {
	struct sqlite3 *handle;
	uint64_t work_left; /* steps of SQLite's machine, in thousands */
	const char *why;    /* what was wrong, a literal */
};

/* Rows of one table, one at a time. */
struct tfs_rows {
	struct tfs_database *database;
	struct sqlite3_stmt *statement;
	uint32_t lacking; /* columns that the table has not, a bit each */
};

/* Opens a file; 0 or a negative errno, and `why`. */
int tfs_database_open(struct tfs_database *database, const char *path);
void tfs_database_close(struct tfs_database *database);

/* The rows of a table, with these columns, up to a NULL; those that it has not are empty. -ENOENT
 * where there is no such table, else 0 or a negative errno. */
int tfs_rows_open(struct tfs_rows *rows, struct tfs_database *database, const char *table,
	const char *const *columns);
/* The same for those rows only whose first column is a number, which is to be set. */
int tfs_rows_open_of(struct tfs_rows *rows, struct tfs_database *database, const char *table,
	const char *const *columns);
/* Sets the number, and begins anew. */
void tfs_rows_set(struct tfs_rows *rows, int64_t number);
/* 1 where there is another row, 0 at the end, else a negative errno. */
int tfs_rows_next(struct tfs_rows *rows);
/* Closes, and passes on what tfs_rows_next() said. */
int tfs_rows_close(struct tfs_rows *rows, int err);

bool tfs_rows_lack(const struct tfs_rows *rows, unsigned column);
/* A whole number; false, and `out` untouched, where there is none. */
bool tfs_rows_number(const struct tfs_rows *rows, unsigned column, int64_t *out);
/* The same, 0 where there is none from 0 to `most`. */
uint64_t tfs_rows_whole(const struct tfs_rows *rows, unsigned column, uint64_t most);
/* A text, or NULL, until the next row. */
const char *tfs_rows_text(const struct tfs_rows *rows, unsigned column, size_t *out_bytes);

#endif

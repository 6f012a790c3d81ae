/* SPDX-License-Identifier: MIT */
#include "reports/import/nsight/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER 100u           /* of an SQLite file */
#define MOST_BYTES (16 << 20) /* of a value */
#define MOST_MEMORY (INT64_C(128) << 20)
#define THOUSANDS_AT_LEAST 20000u

static bool read_header(const char *path, unsigned char header[HEADER], int64_t *out_bytes)
{
	struct stat about;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	memset(header, 0, HEADER);
	const bool begins = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
			    pread(fd, header, HEADER, 0) >= 16 &&
			    !memcmp(header, "SQLite format 3", 16);
	close(fd);
	if (begins)
		*out_bytes = about.st_size;
	return begins;
}

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* Pages that the file says it has and has not. */
static bool is_cut(const unsigned char *header, int64_t bytes)
{
	const uint32_t page = (uint32_t)header[16] << 8 | header[17];
	const bool known = big_endian(header + 24) == big_endian(header + 92);

	return bytes < HEADER ||
	       (known && (int64_t)(page == 1 ? 65536 : page) * big_endian(header + 28) > bytes);
}

/* What has not got into the file yet lies in another one beside it. */
static bool is_being_written(const char *path)
{
	static const char *const suffixes[] = {"-wal", "-journal"};
	char other[PATH_MAX];
	struct stat about;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (snprintf(other, sizeof(other), "%s%s", path, suffixes[i]) <
				(int)sizeof(other) &&
			stat(other, &about) == 0 && about.st_size)
			return true;
	return false;
}

/* The file as it is: no lock is taken, and no other file looked for. */
static int open_file(struct tfs_database *database, const char *path)
{
	char uri[PATH_MAX * 3 + 32] = "file:";
	size_t length = strlen(uri);

	/* two slashes at the beginning would name a host */
	length += (size_t)snprintf(uri + length, 4, "%s", *path == '/' ? "//" : "");
	for (const char *at = path; *at && length < sizeof(uri) - 24; at++) {
		const bool odd = strchr("%?#", *at) || (unsigned char)*at <= ' ';

		length += (size_t)snprintf(
			uri + length, 4, odd ? "%%%02x" : "%c", (unsigned char)*at);
	}
	snprintf(uri + length, 24, "?immutable=1&mode=ro");
	return sqlite3_open_v2(uri, &database->handle,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
			SQLITE_OPEN_PRIVATECACHE,
		NULL);
}

static int work(void *argument)
{
	struct tfs_database *database = argument;

	if (!database->work_left)
		return 1;
	database->work_left--;
	return 0;
}

static void restrain(struct tfs_database *database)
{
	static const struct {
		int what, value;
	} switches[] = {{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}, {SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};

	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		sqlite3_db_config(database->handle, switches[i].what, switches[i].value, NULL);
	sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, MOST_BYTES);
	sqlite3_limit(database->handle, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_hard_heap_limit64(MOST_MEMORY);
	sqlite3_progress_handler(database->handle, 1000, work, database);
}

/* An errno for what SQLite says. */
static int refuse(struct tfs_database *database, int code)
{
	static const struct {
		int code, err;
		const char *why;
	} rows[] = {{SQLITE_CORRUPT, -EILSEQ, "the database is damaged"},
		{SQLITE_NOTADB, -EILSEQ, "the database is damaged"},
		{SQLITE_TOOBIG, -EFBIG, "a value is longer than 16 MiB"},
		{SQLITE_NOMEM, -ENOMEM, "it takes too much memory to read"},
		{SQLITE_INTERRUPT, -E2BIG,
			"to read it takes more work than its length explains: it is no export"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if ((code & 0xff) != rows[i].code)
			continue;
		database->why = rows[i].why;
		return rows[i].err;
	}
	database->why = sqlite3_errstr(code);
	return -EIO;
}

int tfs_database_open(struct tfs_database *database, const char *path)
{
	unsigned char header[HEADER];
	int64_t bytes = 0;

	*database = (struct tfs_database){0};
	if (!read_header(path, header, &bytes))
		return -ENOTSUP;
	if (is_cut(header, bytes))
		database->why = "the file ends early";
	else if (is_being_written(path))
		database->why = "it is being written: a -wal or -journal file lies beside it";
	if (database->why)
		return -EILSEQ;
	int code = open_file(database, path);
	if (code)
		return refuse(database, code);
	database->work_left = THOUSANDS_AT_LEAST + (uint64_t)bytes / 125;
	restrain(database);
	code = sqlite3_exec(database->handle,
		"PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0; PRAGMA temp_store = memory;",
		NULL, NULL, NULL);
	return code ? refuse(database, code) : 0;
}

void tfs_database_close(struct tfs_database *database)
{
	sqlite3_close(database->handle);
	database->handle = NULL;
}

/* Its name, of a version or not, where it is a plain table; to be freed by sqlite3_free(). */
static int find_table(struct tfs_database *database, const char *wanted, char **out_name)
{
	sqlite3_stmt *statement;

	int code = sqlite3_prepare_v2(database->handle,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND "
		"(name = ?1 OR name GLOB ?1 || '_V[0-9]') ORDER BY name DESC LIMIT 1",
		-1, &statement, NULL);

	if (code)
		return refuse(database, code);
	sqlite3_bind_text(statement, 1, wanted, -1, SQLITE_STATIC);
	code = sqlite3_step(statement);
	*out_name = code == SQLITE_ROW ? sqlite3_mprintf("%s", sqlite3_column_text(statement, 0))
				       : NULL;
	sqlite3_finalize(statement);
	if (code == SQLITE_DONE)
		return -ENOENT;
	return code == SQLITE_ROW ? (*out_name ? 0 : -ENOMEM) : refuse(database, code);
}

/* Bits of the columns that a table has. */
static int find_columns(struct tfs_database *database, const char *table,
	const char *const *columns, uint32_t *out_there)
{
	sqlite3_stmt *statement;
	uint32_t there = 0;

	int code = sqlite3_prepare_v2(
		database->handle, "SELECT name FROM pragma_table_info(?1)", -1, &statement, NULL);

	if (code)
		return refuse(database, code);
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);

		for (uint32_t i = 0; name && columns[i]; i++)
			if (!sqlite3_stricmp(name, columns[i]))
				there |= 1u << i;
	}
	sqlite3_finalize(statement);
	*out_there = there;
	return code == SQLITE_DONE ? 0 : refuse(database, code);
}

static char *write_query(const struct tfs_database *database, const char *table,
	const char *const *columns, uint32_t there, bool of_number)
{
	sqlite3_str *text = sqlite3_str_new(database->handle);

	for (uint32_t i = 0; columns[i]; i++)
		sqlite3_str_appendf(text, there >> i & 1 ? "%s \"%w\"" : "%s NULL",
			i ? "," : "SELECT", columns[i]);
	sqlite3_str_appendf(text, " FROM \"%w\"", table);
	if (of_number)
		sqlite3_str_appendf(text, " WHERE \"%w\" = ?1", columns[0]);
	return sqlite3_str_finish(text);
}

static int open_rows(struct tfs_rows *rows, struct tfs_database *database, const char *table,
	const char *const *columns, bool of_number)
{
	uint32_t there = 0;
	char *name = NULL;

	*rows = (struct tfs_rows){.database = database};
	int err = find_table(database, table, &name);
	if (!err)
		err = find_columns(database, name, columns, &there);
	if (!err && of_number && !(there & 1))
		err = -ENOENT;
	rows->lacking = ~there;
	if (!err) {
		char *query = write_query(database, name, columns, there, of_number);
		const int code = query ? sqlite3_prepare_v2(database->handle, query, -1,
						 &rows->statement, NULL)
				       : SQLITE_NOMEM;

		sqlite3_free(query);
		err = code ? refuse(database, code) : 0;
	}
	sqlite3_free(name);
	return err;
}

int tfs_rows_open(struct tfs_rows *rows, struct tfs_database *database, const char *table,
	const char *const *columns)
{
	return open_rows(rows, database, table, columns, false);
}

int tfs_rows_open_of(struct tfs_rows *rows, struct tfs_database *database, const char *table,
	const char *const *columns)
{
	return open_rows(rows, database, table, columns, true);
}

void tfs_rows_set(struct tfs_rows *rows, int64_t number)
{
	sqlite3_reset(rows->statement);
	sqlite3_bind_int64(rows->statement, 1, number);
}

int tfs_rows_next(struct tfs_rows *rows)
{
	const int code = sqlite3_step(rows->statement);

	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : refuse(rows->database, code);
}

int tfs_rows_close(struct tfs_rows *rows, int err)
{
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
	return err;
}

bool tfs_rows_lack(const struct tfs_rows *rows, unsigned column)
{
	return rows->lacking >> column & 1;
}

bool tfs_rows_number(const struct tfs_rows *rows, unsigned column, int64_t *out)
{
	if (sqlite3_column_type(rows->statement, (int)column) != SQLITE_INTEGER)
		return false;
	*out = sqlite3_column_int64(rows->statement, (int)column);
	return true;
}

uint64_t tfs_rows_whole(const struct tfs_rows *rows, unsigned column, uint64_t most)
{
	int64_t number = 0;

	return tfs_rows_number(rows, column, &number) && number > 0 && (uint64_t)number <= most
		       ? (uint64_t)number
		       : 0;
}

const char *tfs_rows_text(const struct tfs_rows *rows, unsigned column, size_t *out_bytes)
{
	if (sqlite3_column_type(rows->statement, (int)column) != SQLITE_TEXT)
		return NULL;
	const char *text = (const char *)sqlite3_column_text(rows->statement, (int)column);
	*out_bytes = text ? (size_t)sqlite3_column_bytes(rows->statement, (int)column) : 0;
	return text;
}

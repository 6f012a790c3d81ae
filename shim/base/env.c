/* SPDX-License-Identifier: MIT */
#include "shim/base/env.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/base/env_flag.h"
#include "shim/base/log.h"
#include "shim/base/mutant.h"

struct tfs_options tfs_options = {
#define X(key, field, kind, standard, help) .field = (standard),
	TFS_OPTIONS(X)
#undef X
};

#if TFS_MUTANTS
#define X(key, help) uint64_t tfs_mutant_##key;
TFS_MUTANT_OPTIONS(X)
#undef X
#endif

enum kind { kind_flag, kind_number, kind_bytes, kind_record, kind_steps, kind_text };

static const struct option {
	const char *key;
	uint64_t *value;
	enum kind kind;
	const char *help;
} options[] = {
#define X(key, field, kind, standard, help) {key, &tfs_options.field, kind_##kind, help},
	TFS_OPTIONS(X)
#undef X
#if TFS_MUTANTS
#define X(key, help) {#key, &tfs_mutant_##key, kind_number, help},
		TFS_MUTANT_OPTIONS(X)
#undef X
#endif
};

static const char *const record_names[] = {"none", "windows", "all"};

static bool parse_record(const char *text, uint64_t *out)
{
	for (uint64_t i = 0; i < 3; i++) {
		if (strcmp(text, record_names[i]) == 0) {
			*out = i;
			return true;
		}
	}
	return false;
}

static bool parse_number(const char *text, enum kind kind, uint64_t *out)
{
	char *end = NULL;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	uint64_t number = strtoull(text, &end, 10);
	if (errno != 0)
		return false;
	if (kind == kind_bytes && *end != '\0') {
		shift = *end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0;
		end += shift != 0;
	}
	if (*end != '\0' || number > (UINT64_MAX >> shift) || (kind == kind_flag && number > 1))
		return false;
	*out = number << shift;
	return true;
}

/* "FIRST-LAST" or "FIRST-", counted from 1. */
static bool parse_steps(const char *text, uint64_t *out)
{
	char *end = NULL;
	const uint64_t first = strtoull(text, &end, 10);
	uint64_t last = UINT32_MAX;

	if (*text < '0' || *text > '9' || *end != '-')
		return false;
	if (*++end >= '0' && *end <= '9')
		last = strtoull(end, &end, 10);
	if (*end != '\0' || first == 0 || last < first || last > UINT32_MAX)
		return false;
	*out = first << 32 | last;
	return true;
}

static bool parse_text(const char *text, uint64_t *out)
{
	static char kept[256];
	static size_t used;
	const size_t bytes = strlen(text) + 1;

	if (bytes > sizeof(kept) - used)
		return false;
	memcpy(kept + used, text, bytes);
	*out = (uint64_t)(uintptr_t)(kept + used);
	used += bytes;
	return true;
}

static bool parse(const char *text, enum kind kind, uint64_t *out)
{
	switch (kind) {
	case kind_record:
		return parse_record(text, out);
	case kind_steps:
		return parse_steps(text, out);
	case kind_text:
		return parse_text(text, out);
	default:
		return parse_number(text, kind, out);
	}
}

static void set_option(const char *pair)
{
	const char *equals = strchr(pair, '=');
	const size_t length = equals ? (size_t)(equals - pair) : strlen(pair);
	const char *text = equals ? equals + 1 : "1";

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strlen(options[i].key) != length || strncmp(options[i].key, pair, length) != 0)
			continue;
		if (!parse(text, options[i].kind, options[i].value))
			tfs_log_say("TFSHIM_OPTIONS: invalid value '%s' of '%s'; option ignored",
				text, options[i].key);
		return;
	}
	tfs_log_say(
		"TFSHIM_OPTIONS: unknown option '%.*s'; TFSHIM_OPTIONS=help=1 lists the options",
		(int)length, pair);
}

static void read_options(const char *text)
{
	char pair[256];

	while (text && *text != '\0') {
		const size_t length = strcspn(text, ":");

		if (length > 0 && length < sizeof(pair)) {
			memcpy(pair, text, length);
			pair[length] = '\0';
			set_option(pair);
		} else if (length > 0) {
			tfs_log_say("TFSHIM_OPTIONS: an entry of %zu bytes is too long", length);
		}
		text += length + (text[length] == ':');
	}
}

static void print_help(void)
{
	tfs_log_say("TFSHIM_OPTIONS=KEY=VALUE:KEY=VALUE, with current values:");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const uint64_t value = *options[i].value;

		if (options[i].kind == kind_record)
			tfs_log_say("  %-17s %-10s %s", options[i].key, record_names[value],
				options[i].help);
		else if (options[i].kind == kind_steps)
			tfs_log_say("  %-17s %-10s %s", options[i].key, value != 0 ? "set" : "none",
				options[i].help);
		else if (options[i].kind == kind_text)
			tfs_log_say("  %-17s %-10s %s", options[i].key, tfs_env_text(value),
				options[i].help);
		else
			tfs_log_say("  %-17s %-10llu %s", options[i].key, (unsigned long long)value,
				options[i].help);
	}
}

/* The first variable that holds a number says which rank this is. */
static uint32_t number_from(const char *const *names, uint32_t standard)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		uint64_t number = 0;

		if (text && parse_number(text, kind_number, &number) && number < UINT32_MAX)
			return (uint32_t)number;
	}
	return standard;
}

static void read_log_level(const char *text)
{
	static const char *const names[] = {"none", "error", "warn", "info", "debug"};

	if (!text || *text == '\0')
		return;
	for (int i = 0; i < 5; i++) {
		if (strcmp(text, names[i]) == 0) {
			tfs_log_limit = (enum tfs_log_level)i;
			return;
		}
	}
	tfs_log_say("TFSHIM_LOG: unknown log level '%s'; choose none, error, warn, info or debug",
		text);
}

/* `*` stands for any text, `?` for one letter. */
static bool fits(const char *text, const char *pattern)
{
	const char *star = NULL;
	const char *from = NULL;

	while (*text != '\0') {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

bool tfs_env_disabled(void)
{
	const char *disabled = getenv("TFSHIM_DISABLE");
	const char *process = getenv("TFSHIM_PROCESS");

	return (disabled && strcmp(disabled, "0") != 0 && *disabled != '\0') ||
	       (process && *process != '\0' && !fits(tfs_env_program(), process));
}

static uint32_t stated_ranks = 1;

void tfs_env_ranks(uint32_t ranks)
{
	atomic_store(&tfs_options.ranks, ranks > stated_ranks ? ranks : stated_ranks);
}

void tfs_env_read(void)
{
	static const char *const ranks[] = {"TFSHIM_RANK", "RANK", "OMPI_COMM_WORLD_RANK",
		"PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
	/* SLURM_NTASKS is what a job asked for, also where a batch script starts one process. */
	static const char *const sizes[] = {
		"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL};
	const char *output = getenv("TFSHIM_OUTPUT");
	const char *rewrite = getenv("TFSHIM_REWRITE");

	read_log_level(getenv("TFSHIM_LOG"));
	tfs_options.disabled = tfs_env_disabled();
	tfs_options.output = output && *output != '\0' ? output : "tfshim-out/%e-r%r-%p";
	tfs_options.rewrite = rewrite && *rewrite != '\0' ? rewrite : "safe";
	tfs_options.decisions = getenv("TFSHIM_DECISIONS");
	const char *run = getenv("TFSHIM_RUN");
	tfs_options.run = run ? strtoull(run, NULL, 16) : 0;
	tfs_options.toolkit = getenv("CUDA_HOME");
	if (!tfs_options.toolkit)
		tfs_options.toolkit = getenv("CUDA_PATH");
	tfs_options.rank_stated = getenv(ranks[0]) != NULL;
	tfs_options.rank = number_from(ranks, 0);
	stated_ranks = number_from(sizes, 1);
	tfs_options.ranks = stated_ranks;
	read_options(getenv("TFSHIM_OPTIONS"));
	if (tfs_options.help)
		print_help();
}

/* What TFSHIM_OPTIONS says of a flag whose default is 1; remembered in `known`: 1 off, 2 on. */
static bool early_flag(const char *key, _Atomic int *known)
{
	if (*known == 0)
		*known = tfs_env_flag(getenv("TFSHIM_OPTIONS"), key, true) ? 2 : 1;
	return *known == 2;
}

bool tfs_env_driver(void)
{
	static _Atomic int known;

	if (known == 0 && tfs_env_disabled())
		known = 1;
	return early_flag("driver", &known);
}

bool tfs_env_deepbind(void)
{
	static _Atomic int known;

	if (known == 0 && tfs_env_disabled())
		known = 2;
	return early_flag("deepbind", &known);
}

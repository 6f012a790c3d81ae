/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_OPTIONS_H
#define TFS_REPORTS_SUPPORT_OPTIONS_H

/*
 * Sub-commands and their options, as tables: the parser and --help read the same rows.
 *
 * To add a sub-command: write reports/commands/<name>.c with one `const struct tfs_command
 * tfs_command_<name>` (check.c is the shortest), and add <name> to `commands` in the meson.build
 * beside it.
 */

#include <stddef.h>

/* What a sub-command returns when the command line or the tool itself is at fault. */
#define TFS_EXIT_MISUSE 2
/* ... and when there was nothing to judge. */
#define TFS_EXIT_NO_DATA 3

struct tfs_option {
	char key;             /* given to apply(); a letter is the short option too, a digit not */
	const char *name;     /* "format" */
	const char *argument; /* "text|html|json"; NULL = takes none */
	const char *help;     /* NULL = for the tool's own use, not listed */
};

struct tfs_command {
	const char *name;
	const char *usage;                /* what follows the name: "FILE.tfs..." */
	const char *summary;              /* one line for the list of sub-commands */
	const char *text;                 /* for its own --help */
	const struct tfs_option *options; /* ends with a zeroed row; NULL = none */
	int (*run)(int argc, char **argv);
};

/* Takes one option; 0, or TFS_EXIT_MISUSE after it has said what is wrong. */
typedef int tfs_option_apply(void *state, char key, const char *value);

/* Parses the options of `command`, `argv[0]` being its name; stops at the first operand if
 * `operands_end` is set. Returns 0 and the index of the first operand, or TFS_EXIT_MISUSE after
 * a message, or -1 when --help was asked for and printed. */
int tfs_options_parse(const struct tfs_command *command, int argc, char **argv, int operands_end,
	tfs_option_apply *apply, void *state, int *out_first);

/* Prints a sub-command's help to stdout. */
void tfs_options_help(const struct tfs_command *command);

/* Prints "tfshim NAME: text" and a hint at --help to stderr; returns TFS_EXIT_MISUSE. */
int tfs_options_misuse(const struct tfs_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

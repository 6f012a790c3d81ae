/* SPDX-License-Identifier: MIT */
#include "reports/support/options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/text.h"

#define MAX_OPTIONS 32
#define HELP_KEY 'h'

/* Fills the tables of getopt_long(); keys that are no letters are long only. */
static int make_tables(const struct tfs_option *options, int operands_end, struct option *out_long,
	char *out_short)
{
	int count = 0;
	char *letter = out_short;
	*letter++ = operands_end ? '+' : '-';
	*letter++ = ':';
	for (; options && options[count].name && count < MAX_OPTIONS; count++) {
		const struct tfs_option *option = &options[count];
		out_long[count] = (struct option){option->name,
			option->argument ? required_argument : no_argument, NULL, option->key};
		if (!isalpha((unsigned char)option->key))
			continue;
		*letter++ = option->key;
		if (option->argument)
			*letter++ = ':';
	}
	out_long[count] = (struct option){"help", no_argument, NULL, HELP_KEY};
	out_long[count + 1] = (struct option){NULL, 0, NULL, 0};
	*letter++ = HELP_KEY;
	*letter = '\0';
	return count;
}

static int complain(const struct tfs_command *command, int found, char **argv)
{
	const char *text = argv[optind - 1];
	if (optopt && isalpha(optopt) && strncmp(text, "--", 2)) {
		if (found == ':')
			return tfs_options_misuse(command, "-%c needs a value", optopt);
		return tfs_options_misuse(command, "unknown option -%c", optopt);
	}
	if (found == ':')
		return tfs_options_misuse(command, "%s needs a value", text);
	return tfs_options_misuse(command, "unknown option %s", text);
}

int tfs_options_parse(const struct tfs_command *command, int argc, char **argv, int operands_end,
	tfs_option_apply *apply, void *state, int *out_first)
{
	struct option longs[MAX_OPTIONS + 2];
	char shorts[MAX_OPTIONS * 2 + 4];
	int operands = 1;
	int found;

	make_tables(command->options, operands_end, longs, shorts);
	optind = 0;
	opterr = 0;
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (found == HELP_KEY) {
			tfs_options_help(command);
			return -1;
		}
		if (found == '?' || found == ':')
			return complain(command, found, argv);
		/* Operands are moved to the front, in order. */
		if (found == 1) {
			argv[operands++] = optarg;
			continue;
		}
		int err = apply ? apply(state, (char)found, optarg) : 0;
		if (err)
			return err;
	}
	if (operands_end) {
		*out_first = optind;
		return 0;
	}
	while (optind < argc)
		argv[operands++] = argv[optind++];
	argv[operands] = NULL;
	*out_first = 1;
	return 0;
}

/* Breaks `text` into lines of at most 78 columns, each starting at column `indent`. */
static void print_wrapped(const char *text, int indent)
{
	int column = indent;
	while (*text) {
		size_t length = strcspn(text, " \n");
		if (column > indent && column + 1 + (int)length > 78) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		fwrite(text, 1, length, stdout);
		column += (int)length;
		text += length;
		if (*text == '\n') {
			printf("\n%*s", indent, "");
			column = indent;
		}
		text += *text != '\0';
	}
	putchar('\n');
}

static void print_option(const struct tfs_option *option)
{
	char left[64];
	int length = snprintf(left, sizeof(left), "%c%c %s--%s%s%s",
		isalpha((unsigned char)option->key) ? '-' : ' ',
		isalpha((unsigned char)option->key) ? option->key : ' ',
		isalpha((unsigned char)option->key) ? "" : " ", option->name,
		option->argument ? " " : "", option->argument ? option->argument : "");
	printf("  %-26s", left);
	if (length >= 26)
		printf("\n%*s", 28, "");
	print_wrapped(option->help, 28);
}

void tfs_options_help(const struct tfs_command *command)
{
	printf("usage: tfshim %s %s\n\n", command->name, command->usage);
	print_wrapped(command->text, 0);
	puts("\noptions:");
	for (const struct tfs_option *o = command->options; o && o->name; o++) {
		if (o->help)
			print_option(o);
	}
	print_option(&(struct tfs_option){HELP_KEY, "help", NULL, "print this help"});
}

int tfs_options_misuse(const struct tfs_command *command, const char *format, ...)
{
	va_list arguments;
	char *text;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	tfs_text_line(stderr, "tfshim %s: %s", command->name, text ? text : format);
	fprintf(stderr, "try 'tfshim %s --help'\n", command->name);
	free(text);
	return TFS_EXIT_MISUSE;
}

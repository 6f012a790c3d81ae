/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "reports/commands/commands_list.h"
#include "reports/formats/text.h"
#include "reports/support/options.h"

#define X(name) extern const struct tfs_command tfs_command_##name;
TFS_COMMANDS(X)
#undef X

static const struct tfs_command *const commands[] = {
#define X(name) &tfs_command_##name,
	TFS_COMMANDS(X)
#undef X
		NULL,
};

static void print_help(void)
{
	puts("usage: tfshim COMMAND ...\n"
	     "       LD_PRELOAD=libtfshim.so PROGRAM ...\n\n"
	     "Records a CUDA training program, finds what makes it slow and what each finding\n"
	     "costs per step, and repairs what can be repaired safely.\n\n"
	     "commands:");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	puts("\n'tfshim COMMAND --help' describes a command; see also tfshim(1).");
}

static const struct tfs_command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	if (!strcmp(name, "--help") || !strcmp(name, "-h") ||
		(!strcmp(name, "help") && argc == 2)) {
		print_help();
		return 0;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("tfshim " TFS_VERSION);
		return 0;
	}
	if (!strcmp(name, "help")) {
		const struct tfs_command *asked = find_command(argv[2]);
		if (asked) {
			tfs_options_help(asked);
			return 0;
		}
		name = argv[2];
	}
	const struct tfs_command *command = find_command(name);
	if (!command) {
		if (*name)
			tfs_text_line(stderr, "tfshim: unknown command '%s'", name);
		fputs("usage: tfshim COMMAND ...; try 'tfshim --help'\n", stderr);
		return TFS_EXIT_MISUSE;
	}
	int status = command->run(argc - 1, argv + 1);
	/* A full disk shows only now when stdout is a file. */
	if (fflush(stdout) && !status) {
		perror("tfshim: cannot write");
		return TFS_EXIT_MISUSE;
	}
	return status;
}

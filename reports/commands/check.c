/* SPDX-License-Identifier: MIT */
#include "reports/gate/gate.h"

extern const struct tfs_command tfs_command_check;

static int apply(void *state, char key, const char *value)
{
	struct tfs_gate *gate = state;

	switch (key) {
	case 'q':
		gate->quiet = true;
		return 0;
	case '0':
		if (!tfs_colour_parse(value, &gate->colour))
			return tfs_options_misuse(
				&tfs_command_check, "--color %s: not a choice", value);
		return 0;
	default:
		return tfs_gate_option(gate, key, value);
	}
}

static int run(int argc, char **argv)
{
	struct tfs_gate gate = {.command = &tfs_command_check, .fail_on = TFS_LEVEL_ERROR};
	size_t count = 0;
	int first;
	int status = tfs_options_parse(&tfs_command_check, argc, argv, 0, apply, &gate, &first);

	if (status)
		return status < 0 ? 0 : status;
	if (!argv[first])
		return tfs_options_misuse(&tfs_command_check, "which recording?");
	while (argv[first + (int)count])
		count++;
	status = tfs_gate_open(&gate);
	if (!status)
		status = tfs_gate_judge(&gate, argv + first, count);
	tfs_gate_close(&gate);
	return status;
}

static const struct tfs_option options[] = {
	TFS_GATE_OPTIONS,
	{'q', "quiet", NULL, "only the exit status, and what could not be judged"},
	{'0', "color", "WHEN", "auto (default), always or never"},
	{0},
};

const struct tfs_command tfs_command_check = {
	.name = "check",
	.usage = "[OPTIONS] PATH...",
	.summary = "the gate for CI: fail when a rule is broken",
	.text = "Judges recordings, or of a folder the latest run of each program: "
		"what it replaces is left out, and this is said. "
		"'tfshim run --check' gates the run that it makes. "
		"Exit status: 0 clean, 1 a rule is broken, 2 misuse (an unknown rule id included), 3 no usable data; "
		"if several apply, 2 before 3 before 1. "
		"With --baseline, findings of the same rule at the same place are known and pass, "
		"also where the function or file has another name by now; "
		"a baseline of another program, GPU or number of processes is not comparable, "
		"and the run is judged without it. "
		"One that happens more often per step than before, or moves more bytes, breaks the gate. "
		"New calls that no rule objects to are only named.",
	.options = options,
	.run = run,
};

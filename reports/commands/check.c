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
			return tfs_options_misuse(&tfs_command_check,
				"--color %s: choose auto, always or never", value);
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
		return tfs_options_misuse(&tfs_command_check, "no recording given");
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
	{'q', "quiet", NULL, "print only what could not be judged; the exit status has the result"},
	{'0', "color", "WHEN", "auto (default), always or never"},
	{0},
};

const struct tfs_command tfs_command_check = {
	.name = "check",
	.usage = "[OPTIONS] PATH...",
	.summary = "CI gate: fail when a recording breaks a rule",
	.text = "Judges recordings; in a folder, the latest run of each program. "
		"Recordings of earlier runs are left out, and their number is printed. "
		"'tfshim run --check' judges the run that it makes. "
		"Exit status: 0 clean, 1 a rule is broken, 2 misuse (such as an unknown rule id), 3 no usable data; "
		"if several apply, 2 before 3 before 1. "
		"With --baseline, a finding that OLD has at the same call site is known and passes, "
		"even if the function or file was renamed. "
		"A known finding that happens more often per step than in OLD, or moves more bytes, fails the gate. "
		"A baseline of another program, GPU or number of processes is not comparable: "
		"the recording is judged without it. "
		"New calls that break no rule are listed and do not fail the gate.",
	.options = options,
	.run = run,
};

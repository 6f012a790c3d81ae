/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/colour.h"
#include "reports/elf_file.h"
#include "reports/locate.h"
#include "reports/options.h"
#include "reports/text.h"

extern const struct tfs_command tfs_command_doctor;

enum health { FINE, REMARK, PROBLEM };

struct doctor {
	const struct tfs_paint *paint;
	int problems;
};

static void say(struct doctor *doctor, enum health health, const char *subject, const char *format,
	...) __attribute__((format(printf, 4, 5)));

static void say(
	struct doctor *doctor, enum health health, const char *subject, const char *format, ...)
{
	static const char *const words[] = {"+ ok     ", "! note   ", "x problem"};
	const char *colours[] = {doctor->paint->good, doctor->paint->warn, doctor->paint->error};
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	doctor->problems += health == PROBLEM;
	printf("%s%s%s %-12s ", colours[health], words[health], doctor->paint->reset, subject);
	tfs_text_wrapped(stdout, text ? text : "", 23);
	free(text);
}

static void check_library(struct doctor *doctor)
{
	char path[PATH_MAX];
	if (tfs_locate_library(path))
		say(doctor, PROBLEM, "shim", "libtfshim.so is not beside this program");
	else
		say(doctor, FINE, "shim", "%s", path);
}

/* Opens the first of these libraries; its path, or NULL. The caller frees it. */
static char *open_first(const char *const *names)
{
	for (; *names; names++) {
		void *library = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
		Dl_info info;
		if (!library)
			continue;
		void *symbol = dlsym(library, "cuInit");
		if (!symbol)
			symbol = dlsym(library, "cuptiGetVersion");
		if (!symbol)
			symbol = dlsym(library, "_ULx86_64_init_local");
		if (symbol && dladdr(symbol, &info) && info.dli_fname)
			return strdup(info.dli_fname);
		return strdup(*names);
	}
	return NULL;
}

static void check_driver(struct doctor *doctor)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	char *path = open_first(names);
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	int (*init)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : NULL;
	int (*count_devices)(int *) =
		library ? (int (*)(int *))dlsym(library, "cuDeviceGetCount") : NULL;
	int count = 0;

	if (!library || !init || !count_devices)
		say(doctor, REMARK, "driver", "libcuda.so.1 is not found: no GPU can be used here");
	else if (init(0) || count_devices(&count))
		say(doctor, REMARK, "driver", "%s finds no usable GPU",
			path ? path : "libcuda.so.1");
	else
		say(doctor, FINE, "driver", "%s, %d device%s", path ? path : "libcuda.so.1", count,
			count == 1 ? "" : "s");
	free(path);
}

static void check_cupti(struct doctor *doctor)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12",
		"/usr/local/cuda/lib64/libcupti.so.13",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", NULL};
	static const char *const injections[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
	char *path = open_first(names);

	if (path)
		say(doctor, FINE, "cupti", "%s", path);
	else
		say(doctor, REMARK, "cupti",
			"libcupti.so.13 is not found: GPU activity cannot be recorded, and rules "
			"about "
			"idle time are not measurable. It lies in the toolkit's "
			"extras/CUPTI/lib64");
	free(path);
	for (size_t i = 0; i < 2; i++) {
		if (getenv(injections[i]))
			say(doctor, REMARK, "cupti", "%s=%s: another tool may own CUPTI",
				injections[i], getenv(injections[i]));
	}
}

static void check_unwinder(struct doctor *doctor)
{
	static const char *const names[] = {"libunwind.so.8", NULL};
	char *path = open_first(names);
	if (path)
		say(doctor, FINE, "call stacks", "%s", path);
	else
		say(doctor, REMARK, "call stacks",
			"libunwind.so.8 is not found: stacks come from the compiler's unwinder");
	free(path);
}

static void check_permissions(struct doctor *doctor)
{
	char line[256];
	FILE *parameters = fopen("/proc/driver/nvidia/params", "re");
	bool locked = false;
	while (parameters && fgets(line, sizeof(line), parameters))
		locked = locked || !strncmp(line, "RmProfilingAdminOnly: 1", 23);
	if (parameters)
		fclose(parameters);
	if (locked)
		say(doctor, REMARK, "permissions",
			"performance counters are for administrators only; tfshim does without "
			"them");
	const char *pattern = getenv("TFSHIM_OUTPUT");
	struct stat about;
	const char *folder = !pattern && !stat("tfshim-out", &about) ? "tfshim-out" : ".";
	if (pattern && *pattern)
		say(doctor, FINE, "output", "TFSHIM_OUTPUT=%s", pattern);
	else if (access(folder, W_OK))
		say(doctor, PROBLEM, "output", "%s: %s; set TFSHIM_OUTPUT", folder,
			strerror(errno));
	else
		say(doctor, FINE, "output", "tfshim-out/ in this folder");
}

static void check_preload(struct doctor *doctor)
{
	const char *preload = getenv("LD_PRELOAD");
	if (preload && *preload && !strstr(preload, "libtfshim.so"))
		say(doctor, REMARK, "preload",
			"LD_PRELOAD=%s: another library is in front; tfshim works beside it",
			preload);
	else
		say(doctor, FINE, "preload", "%s",
			preload && *preload ? preload : "LD_PRELOAD is empty");
	if (getenv("TFSHIM_DISABLE"))
		say(doctor, REMARK, "preload", "TFSHIM_DISABLE is set: the shim stays out");
}

static void check_clock(struct doctor *doctor)
{
	char source[32] = "unknown";
	FILE *file =
		fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (file && fgets(source, sizeof(source), file))
		source[strcspn(source, "\n")] = '\0';
	if (file)
		fclose(file);
	if (strcmp(source, "tsc"))
		say(doctor, REMARK, "clock", "the kernel uses '%s', not tsc: recording costs more",
			source);
	else
		say(doctor, FINE, "clock", "tsc");
}

static void check_rank(struct doctor *doctor)
{
	static const char *const names[] = {"TFSHIM_RANK", "RANK", "OMPI_COMM_WORLD_RANK",
		"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!getenv(names[i]))
			continue;
		say(doctor, FINE, "rank", "%s=%s", names[i], getenv(names[i]));
		return;
	}
	say(doctor, FINE, "rank", "no rank variable is set: a single process");
}

static void check_debug_information(struct doctor *doctor, const struct tfs_elf_file *file)
{
	if (file->lines)
		say(doctor, FINE, "lines", "has debug information: call sites get file and line");
	else
		say(doctor, REMARK, "lines",
			"no debug information: call sites are %s only; compile with -g",
			file->symbols ? "function names" : "addresses");
}

static void check_program(struct doctor *doctor, const char *path)
{
	struct tfs_elf_file file;
	struct stat about;
	int error = tfs_elf_file_read(path, &file);

	if (error) {
		say(doctor, PROBLEM, "program", "%s: %s", path, strerror(-error));
		return;
	}
	if (!file.is_elf) {
		say(doctor, REMARK, "program",
			"%s is no x86-64 program; a script passes the shim on to what it starts",
			path);
		return;
	}
	if (!file.dynamic) {
		say(doctor, PROBLEM, "program",
			"%s is linked statically as a whole: nothing can be preloaded", path);
		return;
	}
	if (!stat(path, &about) && about.st_mode & (S_ISUID | S_ISGID))
		say(doctor, PROBLEM, "program",
			"%s is set-uid or set-gid: the loader ignores LD_PRELOAD", path);
	if (file.static_cudart)
		say(doctor, REMARK, "program",
			"%s carries its own CUDA runtime (nvcc's default): its calls are seen "
			"through "
			"CUPTI only, without call sites; link with -cudart shared",
			path);
	else if (file.needs_cudart)
		say(doctor, FINE, "program", "%s uses the shared CUDA runtime", path);
	else
		say(doctor, REMARK, "program", "%s: %s", path,
			file.needs_cuda_any
				? "uses CUDA libraries, but no CUDA runtime"
				: "is linked to no CUDA library; it may load one later");
	check_debug_information(doctor, &file);
}

static int apply(void *state, char key, const char *value)
{
	(void)key;
	if (!tfs_colour_parse(value, state))
		return tfs_options_misuse(&tfs_command_doctor, "--color %s: not a choice", value);
	return 0;
}

static int run(int argc, char **argv)
{
	enum tfs_colour colour = TFS_COLOUR_AUTO;
	struct doctor doctor = {0};
	int first;
	int error = tfs_options_parse(&tfs_command_doctor, argc, argv, 0, apply, &colour, &first);
	if (error)
		return error < 0 ? 0 : error;
	doctor.paint = tfs_colour_choose(colour, stdout);
	check_library(&doctor);
	check_driver(&doctor);
	check_cupti(&doctor);
	check_unwinder(&doctor);
	check_clock(&doctor);
	check_preload(&doctor);
	check_permissions(&doctor);
	check_rank(&doctor);
	for (int i = first; argv[i]; i++)
		check_program(&doctor, argv[i]);
	return doctor.problems ? 1 : 0;
}

static const struct tfs_option options[] = {
	{'0', "color", "WHEN", "auto (default), always or never"},
	{0},
};

const struct tfs_command tfs_command_doctor = {
	.name = "doctor",
	.usage = "[OPTIONS] [PROGRAM...]",
	.summary = "say what will and will not be seen here, and of a program",
	.text = "Looks for the shim, the driver, CUPTI, other preloads, permissions and rank "
		"variables; "
		"with programs, whether the shim can see into them. Exit status: 1 when something "
		"keeps "
		"the shim from working at all, else 0.",
	.options = options,
	.run = run,
};

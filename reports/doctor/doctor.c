/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/doctor/doctor.h"
#include "reports/formats/colour.h"
#include "reports/formats/text.h"
#include "reports/support/locate.h"
#include "reports/support/options.h"
#include "rules/support/figures.h"
#include "shim/base/env_flag.h"

extern const struct tfs_command tfs_command_doctor;

void tfs_doctor_say(struct tfs_doctor *doctor, enum tfs_health health, const char *subject,
	const char *format, ...)
{
	static const char *const words[] = {"+ ok   ", "! note ", "x limit"};
	const char *colours[] = {doctor->paint->good, doctor->paint->warn, doctor->paint->error};
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	doctor->limits += health == TFS_LIMIT;
	printf("%s%s%s %-12s ", colours[health], words[health], doctor->paint->reset, subject);
	tfs_text_wrapped(stdout, text ? text : "", 21);
	free(text);
}

void tfs_doctor_advise(struct tfs_doctor *doctor, unsigned weight, const char *text)
{
	if (weight <= doctor->advice_weight)
		return;
	doctor->advice_weight = weight;
	doctor->advice = text;
}

bool tfs_doctor_is_off(const char *key)
{
	return !tfs_env_flag(getenv("TFSHIM_OPTIONS"), key, true);
}

static void check_library(struct tfs_doctor *doctor)
{
	char path[PATH_MAX];
	if (tfs_locate_library(path))
		tfs_doctor_say(doctor, TFS_LIMIT, "shim", "%s", TFS_LIBRARY_MISSING);
	else
		tfs_doctor_say(doctor, TFS_FINE, "shim", "%s", path);
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
			symbol = dlsym(library, "_ULx86_64_init_local");
		if (symbol && dladdr(symbol, &info) && info.dli_fname)
			return strdup(info.dli_fname);
		return strdup(*names);
	}
	return NULL;
}

static void check_driver(struct tfs_doctor *doctor)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	char *path = open_first(names);
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	int (*init)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : NULL;
	int (*count_devices)(int *) =
		library ? (int (*)(int *))dlsym(library, "cuDeviceGetCount") : NULL;
	int count = 0;

	doctor->driver = library;
	if (!library || !init || !count_devices) {
		tfs_doctor_say(
			doctor, TFS_LIMIT, "driver", "libcuda.so.1 not found: no GPU can be used");
		tfs_doctor_advise(doctor, 10,
			"install NVIDIA's driver, or give the container access to the GPU (docker run --gpus all)");
	} else if (init(0) || count_devices(&count) || count < 1) {
		tfs_doctor_say(doctor, TFS_LIMIT, "driver", "%s finds no usable GPU",
			path ? path : "libcuda.so.1");
		tfs_doctor_advise(doctor, 10,
			"find out why the driver sees no GPU: nvidia-smi, CUDA_VISIBLE_DEVICES, and /dev/nvidia* in a container");
	} else {
		tfs_doctor_say(doctor, TFS_FINE, "driver", "%s, %s", path ? path : "libcuda.so.1",
			tfs_figure_number(count, "device", "devices").text);
		doctor->gpu = true;
	}
	free(path);
}

static void check_unwinder(struct tfs_doctor *doctor)
{
	static const char *const names[] = {"libunwind.so.8", NULL};
	char *path = open_first(names);
	if (path)
		tfs_doctor_say(doctor, TFS_FINE, "call stacks", "%s", path);
	else
		tfs_doctor_say(doctor, TFS_REMARK, "call stacks",
			"libunwind.so.8 not found: call stacks come from libgcc's unwinder");
	free(path);
}

static void check_output(struct tfs_doctor *doctor)
{
	const char *pattern = getenv("TFSHIM_OUTPUT");
	struct stat about;
	const char *folder = !pattern && !stat("tfshim-out", &about) ? "tfshim-out" : ".";
	if (pattern && *pattern)
		tfs_doctor_say(doctor, TFS_FINE, "output", "TFSHIM_OUTPUT=%s", pattern);
	else if (access(folder, W_OK))
		tfs_doctor_say(doctor, TFS_LIMIT, "output", "%s: %s; set TFSHIM_OUTPUT", folder,
			strerror(errno));
	else
		tfs_doctor_say(doctor, TFS_FINE, "output", "tfshim-out/ in this folder");
}

static void check_preload(struct tfs_doctor *doctor)
{
	const char *preload = getenv("LD_PRELOAD");
	if (preload && *preload && !strstr(preload, "libtfshim.so"))
		tfs_doctor_say(doctor, TFS_REMARK, "preload",
			"LD_PRELOAD=%s: another library is preloaded; tfshim works beside it",
			preload);
	else
		tfs_doctor_say(doctor, TFS_FINE, "preload", "%s",
			preload && *preload ? preload : "LD_PRELOAD is empty");
	const char *disabled = getenv("TFSHIM_DISABLE");
	if (disabled && *disabled && strcmp(disabled, "0")) {
		tfs_doctor_say(
			doctor, TFS_LIMIT, "preload", "TFSHIM_DISABLE is set: tfshim does nothing");
		tfs_doctor_advise(doctor, 95, "unset TFSHIM_DISABLE");
	}
}

static void check_clock(struct tfs_doctor *doctor)
{
	char source[32] = "unknown";
	FILE *file =
		fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (file && fgets(source, sizeof(source), file))
		source[strcspn(source, "\n")] = '\0';
	if (file)
		fclose(file);
	if (strcmp(source, "tsc"))
		tfs_doctor_say(doctor, TFS_REMARK, "clock",
			"the kernel's clock source is '%s', not tsc: recording costs more", source);
	else
		tfs_doctor_say(doctor, TFS_FINE, "clock", "tsc");
}

static void check_rank(struct tfs_doctor *doctor)
{
	static const char *const names[] = {"TFSHIM_RANK", "RANK", "OMPI_COMM_WORLD_RANK",
		"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!getenv(names[i]))
			continue;
		tfs_doctor_say(doctor, TFS_FINE, "rank", "%s=%s", names[i], getenv(names[i]));
		return;
	}
	tfs_doctor_say(doctor, TFS_FINE, "rank", "no rank variable is set: single process");
}

static void check_interference(struct tfs_doctor *doctor)
{
	/* Set by NVIDIA's tools in what they start, or by people in what they profile. */
	static const char *const names[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
		"NSYS_PROFILING_SESSION_ID", "NSYS_TARGET_PROCESS_ID", "QUADD_INJECTION_PROXY",
		"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "NCCL_PROFILER_PLUGIN", "KINETO_USE_DAEMON"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (!value || !*value || strstr(value, "libtfshim"))
			continue;
		if (!strcmp(names[i], "NVTX_INJECTION64_PATH")) {
			tfs_doctor_say(doctor, TFS_REMARK, "other tools",
				"%s=%s: NVTX ranges are passed on to it", names[i], value);
			continue;
		}
		if (!strcmp(names[i], "NCCL_PROFILER_PLUGIN")) {
			tfs_doctor_say(doctor, TFS_FINE, "other tools", "%s=%s is left alone",
				names[i], value);
			continue;
		}
		doctor->cupti_taken = true;
		tfs_doctor_say(doctor, TFS_LIMIT, "other tools",
			"%s=%s: this tool may use CUPTI; tfshim then records calls but no GPU times",
			names[i], value);
		tfs_doctor_advise(
			doctor, 60, "run without the other tool: CUPTI serves one tool at a time");
	}
}

struct doctor_options {
	enum tfs_colour colour;
	const char *require;
};

/* The parts that can be required; NULL = no such part. */
static const bool *find_part(const struct tfs_doctor *doctor, const char *name, size_t length)
{
	if (length == 3 && !strncmp(name, "gpu", length))
		return &doctor->gpu;
	if (length == 5 && !strncmp(name, "cupti", length))
		return &doctor->cupti;
	return NULL;
}

static bool are_parts(const char *list)
{
	const struct tfs_doctor none = {0};
	size_t length;

	do {
		length = strcspn(list, ",");
		if (!find_part(&none, list, length))
			return false;
		list += length + (list[length] == ',');
	} while (list[-1] == ',' || *list);
	return true;
}

static int apply(void *state, char key, const char *value)
{
	struct doctor_options *options = state;

	if (key == 'r') {
		options->require = value;
		if (are_parts(value))
			return 0;
		return tfs_options_misuse(
			&tfs_command_doctor, "--require %s: choose gpu, cupti or gpu,cupti", value);
	}
	if (!tfs_colour_parse(value, &options->colour))
		return tfs_options_misuse(
			&tfs_command_doctor, "--color %s: choose auto, always or never", value);
	return 0;
}

/* For scripts that want to know whether a machine will do, whatever else is to be said of it. */
static int check_required(const struct tfs_doctor *doctor, const char *list)
{
	int status = 0;

	while (*list) {
		const size_t length = strcspn(list, ",");

		if (!*find_part(doctor, list, length)) {
			fprintf(stderr, "tfshim doctor: required but not available: %.*s\n",
				(int)length, list);
			status = 1;
		}
		list += length + (list[length] == ',');
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct doctor_options options = {.colour = TFS_COLOUR_AUTO};
	struct tfs_doctor doctor = {0};
	int first;
	int status = tfs_options_parse(&tfs_command_doctor, argc, argv, 0, apply, &options, &first);
	if (status)
		return status < 0 ? 0 : status;
	doctor.paint = tfs_colour_choose(options.colour, stdout);
	check_library(&doctor);
	check_driver(&doctor);
	if (!argv[first])
		tfs_doctor_cupti(&doctor, NULL);
	check_unwinder(&doctor);
	check_clock(&doctor);
	check_preload(&doctor);
	check_interference(&doctor);
	tfs_doctor_permissions(&doctor);
	check_output(&doctor);
	check_rank(&doctor);
	for (int i = first; argv[i]; i++)
		tfs_doctor_program(&doctor, argv[i]);
	if (doctor.advice)
		printf("\nThe change that helps most: %s.\n", doctor.advice);
	if (doctor.unreadable)
		return TFS_EXIT_MISUSE;
	if (options.require)
		return check_required(&doctor, options.require);
	return doctor.limits ? 1 : 0;
}

static const struct tfs_option options[] = {
	{'r', "require", "PARTS",
		"gpu, cupti or gpu,cupti: the exit status says only whether these are available, for job prologs"},
	{'0', "color", "WHEN", "auto (default), always or never"},
	{0},
};

const struct tfs_command tfs_command_doctor = {
	.name = "doctor",
	.usage = "[OPTIONS] [PROGRAM...]",
	.summary = "check what tfshim can see on this machine, and of a program",
	.text = "Checks the shim, the driver, CUPTI and other tools that may use it, permissions and rank variables; "
		"for a program, how it is linked, which layers see its calls and what stays invisible. "
		"Exit status: 0 fine, 1 something limits what can be recorded or repaired (such as a missing GPU), "
		"2 misuse, or a program that cannot be read. "
		"With --require: 0 all required parts are available, 1 one is not.",
	.options = options,
	.run = run,
};

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/doctor.h"
#include "reports/elf_file.h"
#include "reports/elf_libraries.h"

/* The libraries whose calls are seen; how their file names begin. */
static const char *const seen[] = {"libcudart.so", "libcudnn.so", "libcublas.so", "libcublasLt.so",
	"libcurand.so", "libnccl.so", "libcuda.so"};
#define SEEN (sizeof(seen) / sizeof(seen[0]))
#define CUDART 0u

struct program {
	struct tfs_doctor *doctor;
	const char *path;
	struct tfs_elf_file file;
	const char *linked[SEEN]; /* names with their versions; NULL = not linked */
	bool static_cudart;       /* in the program or in a library that it brings along */
	bool opens_libraries;
	bool opens_apart;
	bool nvtx;
};

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static void note_library(struct program *program, size_t which, const char *name, const char *path)
{
	if (!program->linked[which])
		program->linked[which] = strdup(name);
	else if (strcmp(program->linked[which], name) != 0)
		tfs_doctor_say(program->doctor, TFS_REMARK, "libraries",
			"two versions of one library: %s, and %s by %s. Each caller goes on using "
			"its own, and is seen",
			program->linked[which], name, path);
}

/* What the file at `path` is linked to. */
static void note_needed(struct program *program, const struct tfs_elf_file *file, const char *path)
{
	for (unsigned i = 0; i < file->needed_count; i++)
		for (size_t j = 0; j < SEEN; j++)
			if (begins(file->needed[i], seen[j]))
				note_library(program, j, file->needed[i], path);
}

static bool is_nvidias(const char *name)
{
	for (size_t j = 0; j < SEEN; j++)
		if (begins(name, seen[j]))
			return true;
	return begins(name, "libcu") || begins(name, "libnv") || begins(name, "libnpp");
}

/* NVIDIA's libraries carry runtimes by design. */
static bool look_into(const char *name)
{
	return !is_nvidias(name);
}

/* The libraries that a program brings along, and theirs, may carry a runtime as well. */
static void look_at_library(void *argument, const struct tfs_elf_library *library)
{
	struct program *program = argument;

	if (!library->path && !begins(library->name, "libcuda.so"))
		tfs_doctor_say(program->doctor, TFS_REMARK, "libraries",
			"%s, needed by %s, is not found", library->name, library->by);
	if (!library->file)
		return;
	note_needed(program, library->file, library->path);
	if (!library->of_system) {
		program->opens_libraries |= library->file->opens_libraries;
		program->opens_apart |= library->file->opens_apart;
		program->nvtx |= library->file->nvtx;
	}
	if (!library->file->static_cudart)
		return;
	program->static_cudart = true;
	tfs_doctor_say(program->doctor, TFS_REMARK, "runtime",
		"%s carries a CUDA runtime of its own", library->path);
}

static void say_libraries(struct program *program)
{
	char text[512];
	size_t used = 0;

	for (size_t i = 0; i < SEEN; i++)
		if (program->linked[i] && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
				used ? ", " : "", program->linked[i]);
	if (used)
		tfs_doctor_say(program->doctor, TFS_FINE, "libraries",
			"%s: linked dynamically, calls are seen and can be rewritten", text);
	else if (!program->static_cudart)
		tfs_doctor_say(program->doctor, TFS_REMARK, "libraries",
			"linked to no CUDA library; it may load some later");
	if (program->file.runpath[0])
		tfs_doctor_say(
			program->doctor, TFS_FINE, "search path", "%s", program->file.runpath);
}

static bool driver_layer_is_off(void)
{
	const char *options = getenv("TFSHIM_OPTIONS");

	return options && strstr(options, "driver=0");
}

static void say_runtime(struct program *program)
{
	struct tfs_doctor *doctor = program->doctor;
	const char *release = program->file.release;

	if (!program->static_cudart) {
		if (program->linked[CUDART])
			tfs_doctor_say(
				doctor, TFS_FINE, "runtime", "%s, shared", program->linked[CUDART]);
		return;
	}
	if (program->linked[CUDART])
		tfs_doctor_say(doctor, TFS_REMARK, "runtime",
			"both %s and a static CUDA runtime: calls of the latter are seen at the "
			"driver only",
			program->linked[CUDART]);
	else
		tfs_doctor_say(doctor, TFS_REMARK, "runtime",
			"linked in (nvcc's default)%s%s: its calls are seen where it calls the "
			"driver, with the program's own lines; the names are the driver's",
			release[0] ? ", CUDA " : "", release);
	if (driver_layer_is_off()) {
		tfs_doctor_say(doctor, TFS_LIMIT, "runtime",
			"TFSHIM_OPTIONS switches the driver layer off: nothing of it is seen "
			"but by CUPTI");
		tfs_doctor_advise(doctor, 70, "take driver=0 out of TFSHIM_OPTIONS");
	}
	tfs_doctor_advise(doctor, 20,
		"link with nvcc -cudart shared: then the runtime's own calls are seen, too");
}

static void say_layers(struct program *program)
{
	const struct tfs_doctor *doctor = program->doctor;
	bool libraries = false;

	for (size_t i = 0; i < SEEN; i++)
		libraries |= program->linked[i] != NULL;
	tfs_doctor_say(program->doctor, TFS_FINE, "layers",
		"library calls: %s; driver calls: %s; "
		"device activity: %s; NVTX: %s",
		libraries                  ? "on"
		: program->opens_libraries ? "if it loads libraries"
					   : "none to see",
		driver_layer_is_off() ? "off" : "on",
		!doctor->cupti        ? "no CUPTI"
		: doctor->cupti_taken ? "if CUPTI is left free"
				      : "on",
		program->nvtx ? "ranges found as steps and layers" : "not used by the program");
}

static void say_invisible(struct program *program)
{
	if (program->opens_libraries)
		tfs_doctor_say(program->doctor, TFS_REMARK, "invisible",
			"it imports dlopen: a library loaded with RTLD_DEEPBIND, or asked for its "
			"functions by dlsym (the driver's apart), passes the preload by. That "
			"cannot be seen in the file; the report names those loaded with "
			"RTLD_DEEPBIND, and TFSHIM_OPTIONS=deepbind=0 takes the flag away");
	if (program->opens_apart)
		tfs_doctor_say(program->doctor, TFS_REMARK, "invisible",
			"it imports dlmopen: what it loads into a name space of its own is seen "
			"only by CUPTI");
	tfs_doctor_say(program->doctor, TFS_FINE, "invisible",
		"what cuDNN, cuBLAS and NCCL do inside is charged to the calls the program makes "
		"%s",
		program->doctor->cupti ? "(by CUPTI)" : "only with CUPTI");
}

static void say_debug_information(struct program *program)
{
	if (program->file.lines) {
		tfs_doctor_say(program->doctor, TFS_FINE, "lines",
			"has debug information: call sites get file and line");
		return;
	}
	tfs_doctor_say(program->doctor, TFS_LIMIT, "lines",
		"no debug information: call sites are %s only",
		program->file.symbols ? "function names" : "addresses");
	tfs_doctor_advise(program->doctor, 40, "compile with -g: call sites get file and line");
}

static void say_program(struct program *program)
{
	struct tfs_doctor *doctor = program->doctor;
	const struct tfs_elf_visitor visitor = {look_into, look_at_library, program};
	struct stat about;

	if (!program->file.dynamic) {
		tfs_doctor_say(doctor, TFS_LIMIT, "program",
			"%s is linked statically as a whole: nothing can be preloaded, and no NVTX "
			"or CUDA injection works",
			program->path);
		tfs_doctor_advise(doctor, 100, "link without -static");
		return;
	}
	if (!stat(program->path, &about) && about.st_mode & (S_ISUID | S_ISGID)) {
		tfs_doctor_say(doctor, TFS_LIMIT, "program",
			"%s is set-uid or set-gid: the loader ignores LD_PRELOAD", program->path);
		tfs_doctor_advise(doctor, 90, "run a copy without the set-uid bit");
	}
	program->static_cudart = program->file.static_cudart;
	program->opens_libraries = program->file.opens_libraries;
	program->opens_apart = program->file.opens_apart;
	program->nvtx = program->file.nvtx;
	note_needed(program, &program->file, program->path);
	if (tfs_elf_libraries(program->path, &program->file, &visitor))
		tfs_doctor_say(
			doctor, TFS_REMARK, "libraries", "no memory to look into all of them");
	say_runtime(program);
	say_libraries(program);
	say_layers(program);
	say_invisible(program);
	say_debug_information(program);
}

void tfs_doctor_program(struct tfs_doctor *doctor, const char *path)
{
	struct program *program = calloc(1, sizeof(*program));
	int error = program ? tfs_elf_file_read(path, &program->file) : -ENOMEM;

	if (error) {
		doctor->unreadable = true;
		tfs_doctor_say(doctor, TFS_LIMIT, "program", "%s: %s", path,
			error == -EBADMSG   ? "an ELF file that is cut short or damaged"
			: error == -ENOEXEC ? "no program"
					    : strerror(-error));
	} else if (program->file.is_elf) {
		program->doctor = doctor;
		program->path = path;
		say_program(program);
	} else {
		tfs_doctor_say(doctor, TFS_REMARK, "program", "%s is %s", path,
			program->file.is_script
				? "a script: the shim is passed on to what it starts"
				: "no program of this processor; tfshim cannot look into it");
	}
	for (size_t i = 0; program && i < SEEN; i++)
		free((char *)program->linked[i]);
	free(program);
}

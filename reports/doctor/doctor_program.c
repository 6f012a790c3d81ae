/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cupti/places.h"
#include "reports/doctor/doctor.h"
#include "reports/doctor/elf_file.h"
#include "reports/doctor/elf_libraries.h"
#include "reports/symbols/symbols_file.h"

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
	struct tfs_doctor_folders folders;
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
			"two versions of one library: %s, and %s needed by %s. Each caller keeps using its own, and both are seen",
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

/* The first of each kind. */
static void note_folder(struct program *program, const struct tfs_elf_library *library)
{
	static const char *const companions[] = TFS_CUPTI_COMPANIONS;
	const char *slash = library->found ? strrchr(library->found, '/') : NULL;

	for (size_t i = 0; slash && i < sizeof(companions) / sizeof(companions[0]); i++)
		if (begins(library->name, companions[i]) && !program->folders.paths[i])
			program->folders.paths[i] =
				strndup(library->found, (size_t)(slash + 1 - library->found));
}

/* The libraries that a program brings along, and theirs, may carry a runtime as well. */
static void look_at_library(void *argument, const struct tfs_elf_library *library)
{
	struct program *program = argument;

	if (!library->path && !begins(library->name, "libcuda.so"))
		tfs_doctor_say(program->doctor, TFS_REMARK, "libraries",
			"%s, needed by %s, not found", library->name, library->by);
	note_folder(program, library);
	if (library->path && !library->file && look_into(library->name))
		tfs_doctor_say(program->doctor, TFS_LIMIT, "libraries",
			"%s, needed by %s, cannot be read: its contents and dependencies are not known",
			library->path, library->by);
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
		"%s contains a linked-in CUDA runtime", library->path);
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
			"linked to no CUDA library; the program may load one later");
	if (program->file.runpath[0])
		tfs_doctor_say(
			program->doctor, TFS_FINE, "search path", "%s", program->file.runpath);
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
			"both %s and a linked-in CUDA runtime: calls of the linked-in one are seen at the driver only",
			program->linked[CUDART]);
	else
		tfs_doctor_say(doctor, TFS_REMARK, "runtime",
			"linked in (nvcc's default)%s%s: its calls are seen as driver calls, "
			"with the program's lines and the driver's function names",
			release[0] ? ", CUDA " : "", release);
	if (tfs_doctor_is_off("driver")) {
		tfs_doctor_say(doctor, TFS_LIMIT, "runtime",
			"TFSHIM_OPTIONS switches the driver layer off: "
			"calls of the linked-in runtime are seen by CUPTI only");
		tfs_doctor_advise(doctor, 70, "remove driver=0 from TFSHIM_OPTIONS");
	}
	tfs_doctor_advise(doctor, 20,
		"link with nvcc -cudart shared, so that the runtime's own calls are seen too");
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
		: program->opens_libraries ? "if the program loads libraries"
					   : "none to see",
		tfs_doctor_is_off("driver") ? "off" : "on",
		!doctor->cupti        ? "none without CUPTI"
		: doctor->cupti_taken ? "if no other tool uses CUPTI"
				      : "on",
		!program->nvtx              ? "not used by the program"
		: tfs_doctor_is_off("nvtx") ? "off"
					    : "ranges are recorded as steps and layers");
}

static void say_invisible(struct program *program)
{
	if (program->opens_libraries)
		tfs_doctor_say(program->doctor, TFS_REMARK, "invisible",
			"the program imports dlopen: calls of a library loaded with RTLD_DEEPBIND bypass the preload. "
			"The report names such libraries, and TFSHIM_OPTIONS=deepbind=0 removes the flag");
	if (program->opens_apart)
		tfs_doctor_say(program->doctor, TFS_REMARK, "invisible",
			"the program imports dlmopen: libraries in a separate namespace are seen by CUPTI only");
	tfs_doctor_say(program->doctor, TFS_FINE, "invisible",
		"work inside cuDNN, cuBLAS and NCCL is charged to the program's calls %s",
		program->doctor->cupti ? "(by CUPTI)" : "only with CUPTI");
}

static void say_debug_information(struct program *program)
{
	if (program->file.lines) {
		tfs_doctor_say(program->doctor, TFS_FINE, "lines",
			"has debug information: call sites get file and line");
		return;
	}
	if (tfs_symbols_file_has_lines(program->path)) {
		tfs_doctor_say(program->doctor, TFS_FINE, "lines",
			"debug information found in a separate file: "
			"call sites get file and line");
		return;
	}
	tfs_doctor_say(program->doctor, TFS_LIMIT, "lines",
		"no debug information: call sites are %s only",
		program->file.symbols ? "function names" : "addresses");
	tfs_doctor_advise(program->doctor, 40, "compile with -g: call sites get file and line");
}

/* Which programs the shim acts in may be named. */
static void say_process(const struct program *program)
{
	const char *pattern = getenv("TFSHIM_PROCESS");
	const char *slash = strrchr(program->path, '/');
	const char *name = slash ? slash + 1 : program->path;

	if (!pattern || !*pattern || program->file.library || !fnmatch(pattern, name, 0))
		return;
	tfs_doctor_say(program->doctor, TFS_LIMIT, "program",
		"TFSHIM_PROCESS=%s does not match %s: tfshim does nothing", pattern, name);
	tfs_doctor_advise(program->doctor, 95, "set TFSHIM_PROCESS to the program's name");
}

/* What makes the loader ignore a preload. */
static void say_raised(const struct program *program)
{
	struct stat about;

	if (!stat(program->path, &about) && about.st_mode & (S_ISUID | S_ISGID)) {
		tfs_doctor_say(program->doctor, TFS_LIMIT, "program",
			"%s is set-uid or set-gid: the loader ignores LD_PRELOAD", program->path);
		tfs_doctor_advise(program->doctor, 90, "run a copy without the set-uid bit");
	}
	if (getxattr(program->path, "security.capability", NULL, 0) > 0) {
		tfs_doctor_say(program->doctor, TFS_LIMIT, "program",
			"%s has file capabilities: the loader ignores LD_PRELOAD", program->path);
		tfs_doctor_advise(
			program->doctor, 90, "run a copy without capabilities (setcap -r)");
	}
}

/* How it is started; false = there is nothing more to say. */
static bool say_start(const struct program *program)
{
	struct tfs_doctor *doctor = program->doctor;
	const char *loader = program->file.interpreter;

	if (program->file.library) {
		tfs_doctor_say(doctor, TFS_FINE, "program",
			"%s is a library: the lines below hold in a program that loads it",
			program->path);
		return true;
	}
	if (!program->file.dynamic) {
		tfs_doctor_say(doctor, TFS_LIMIT, "program",
			"%s is fully static (-static): nothing can be preloaded, and neither NVTX nor CUDA injection works",
			program->path);
		tfs_doctor_advise(doctor, 100, "link without -static");
		return false;
	}
	if (!strstr(loader, "/ld-linux")) {
		tfs_doctor_say(doctor, TFS_LIMIT, "program",
			"%s is started by %s, not by glibc's loader: the shim cannot be preloaded",
			program->path, loader);
		tfs_doctor_advise(doctor, 100, "build the program for glibc");
		return false;
	}
	if (access(program->path, X_OK)) {
		tfs_doctor_say(doctor, TFS_LIMIT, "program", "%s may not be executed: %s",
			program->path, strerror(errno));
		tfs_doctor_advise(doctor, 90, "make the program executable (chmod +x)");
	}
	say_raised(program);
	return true;
}

static void say_program(struct program *program)
{
	struct tfs_doctor *doctor = program->doctor;
	const struct tfs_elf_visitor visitor = {look_into, look_at_library, program};

	if (!say_start(program))
		return;
	program->static_cudart = program->file.static_cudart;
	program->opens_libraries = program->file.opens_libraries;
	program->opens_apart = program->file.opens_apart;
	program->nvtx = program->file.nvtx;
	note_needed(program, &program->file, program->path);
	if (tfs_elf_libraries(program->path, &program->file, &visitor))
		tfs_doctor_say(doctor, TFS_REMARK, "libraries",
			"out of memory: not all libraries were checked");
	tfs_doctor_cupti(doctor, &program->folders);
	say_runtime(program);
	say_libraries(program);
	say_layers(program);
	say_invisible(program);
	say_debug_information(program);
}

/* A word without a slash is looked for as `tfshim run` does, unless it is a file here. */
static char *find(const char *word)
{
	const char *list = getenv("PATH");

	while (list && !strchr(word, '/') && access(word, F_OK)) {
		const size_t length = strcspn(list, ":");
		char *path = NULL;

		if (asprintf(&path, "%.*s/%s", length ? (int)length : 1, length ? list : ".",
			    word) < 0)
			return NULL;
		if (!access(path, X_OK))
			return path;
		free(path);
		list = list[length] ? list + length + 1 : NULL;
	}
	return strdup(word);
}

/* "python3.11", but not "pythonic". */
static bool is_python(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return begins(name, "python") && name[6 + strspn(name + 6, "0123456789.")] == '\0';
}

/* What frames and lines mean in an interpreter. */
static void say_python(struct program *program)
{
	tfs_doctor_say(program->doctor, TFS_LIMIT, "python",
		"%s runs Python: the CUDA calls of its extension modules are seen and repaired like those of any library, "
		"and call sites are lines of Python with CPython 3.9 to 3.14. With others they are lines of these libraries, "
		"and steps are found only if NVTX ranges mark them (torch.cuda.nvtx.range_push)",
		program->path);
	tfs_doctor_advise(program->doctor, 30,
		"run 'tfshim doctor' on the extension modules (.so) themselves");
}

/* A script by its #! line, or a file that is called one. */
static bool is_python_script(const char *path)
{
	const size_t length = strlen(path);
	char line[256] = "";
	FILE *file = fopen(path, "re");

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	return (!strncmp(line, "#!", 2) && strstr(line, "python")) ||
	       (length > 3 && !strcmp(path + length - 3, ".py"));
}

static void look_into_program(struct program *program)
{
	struct tfs_doctor *doctor = program->doctor;
	const int err = tfs_elf_file_read(program->path, &program->file);

	if (err) {
		doctor->unreadable = true;
		tfs_doctor_say(doctor, TFS_LIMIT, "program", "%s: %s", program->path,
			err == -EBADMSG   ? "a truncated or damaged ELF file"
			: err == -ENOEXEC ? "not a program"
					  : strerror(-err));
	} else if (program->file.is_elf) {
		say_process(program);
		if (is_python(program->path))
			say_python(program);
		say_program(program);
	} else if (is_python_script(program->path)) {
		say_python(program);
		tfs_doctor_cupti(doctor, NULL);
	} else {
		tfs_doctor_say(doctor, TFS_REMARK, "program", "%s is %s", program->path,
			program->file.is_script
				? "a script: programs that it starts inherit the preload"
				: "built for another processor; tfshim cannot check it");
		tfs_doctor_cupti(doctor, NULL);
	}
}

void tfs_doctor_program(struct tfs_doctor *doctor, const char *word)
{
	struct program *program = calloc(1, sizeof(*program));
	char *path = find(word);

	if (program && path) {
		program->doctor = doctor;
		program->path = path;
		look_into_program(program);
	} else {
		doctor->unreadable = true;
		tfs_doctor_say(doctor, TFS_LIMIT, "program", "%s: %s", word, strerror(ENOMEM));
	}
	for (size_t i = 0; program && i < SEEN; i++)
		free((char *)program->linked[i]);
	for (size_t i = 0; program && i < TFS_DOCTOR_FOLDERS; i++)
		free(program->folders.paths[i]);
	free(program);
	free(path);
}

/* SPDX-License-Identifier: MIT */
#include "shim/record/unwind.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "shim/base/log.h"
#include "shim/base/sanitizer.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define MOST_PIPES 8u
#define MOST_FRAMES 96
#define NEAR_FRAMES 16u
#define OWN_FRAMES 16u /* of the shim, below the program's */

static struct {
	int (*getcontext)(unw_tdep_context_t *);
	int (*init_local)(unw_cursor_t *, unw_context_t *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
	int (*backtrace)(void **, int);
} libunwind;

static struct {
	int (*backtrace)(int (*)(void *context, void *argument), void *argument);
	uintptr_t (*get_ip)(void *context);
	uintptr_t (*get_cfa)(void *context);
} libgcc; /* types as in the C++ ABI; libunwind's <unwind.h> would hide the compiler's */
#define CONTINUE_UNWINDING 0
#define END_OF_STACK 5

/* libunwind keeps a pipe to probe memory with. A program that closes every descriptor may get the
 * same numbers for files of its own, into which libunwind would then write. */
static struct {
	int fd;
	dev_t device;
	ino_t inode;
} pipes[MOST_PIPES];
static uint32_t pipe_count;

static _Atomic bool use_libunwind;
static _Atomic bool use_libgcc;
static _Atomic bool settled;

static bool is_pipe(int fd, struct stat *out_status)
{
	return fstat(fd, out_status) == 0 && S_ISFIFO(out_status->st_mode);
}

/* Notes the process's pipes that are not noted in `seen`; returns how many there are now. */
static uint32_t list_pipes(int *out_fds, uint32_t most)
{
	/* Read by hand: opendir() would take memory from the program's heap. */
	const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buffer[4096] __attribute__((aligned(8)));
	struct stat status;
	uint32_t count = 0;
	long got;

	while (folder >= 0 && (got = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < got && count < most;) {
			const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);
			const int fd = (int)strtol(entry->d_name, NULL, 10);

			if (entry->d_name[0] != '.' && is_pipe(fd, &status))
				out_fds[count++] = fd;
			at += entry->d_reclen;
		}
	}
	if (folder >= 0)
		close(folder);
	return count;
}

static void note_new_pipes(const int *before, uint32_t before_count)
{
	int now[256];
	struct stat status;
	const uint32_t now_count = list_pipes(now, 256);

	for (uint32_t i = 0; i < now_count && pipe_count < MOST_PIPES; i++) {
		bool old = false;

		for (uint32_t k = 0; k < before_count; k++)
			old = old || before[k] == now[i];
		if (old || !is_pipe(now[i], &status))
			continue;
		pipes[pipe_count].fd = now[i];
		pipes[pipe_count].device = status.st_dev;
		pipes[pipe_count++].inode = status.st_ino;
	}
}

static bool pipes_are_ours(void)
{
	struct stat status;

	for (uint32_t i = 0; i < pipe_count; i++)
		if (fstat(pipes[i].fd, &status) != 0 || status.st_ino != pipes[i].inode ||
			status.st_dev != pipes[i].device)
			return false;
	return true;
}

/* Addresses of all frames from `from` on: libunwind's cached walk, some 10 ns a frame. */
static uint32_t walk_fast(uint64_t from, struct tfs_stack_frame *out_frames, uint32_t most)
{
	void *addresses[MOST_FRAMES];
	const uint32_t wanted = most + OWN_FRAMES;
	const int found =
		libunwind.backtrace(addresses, wanted < MOST_FRAMES ? (int)wanted : MOST_FRAMES);
	uint32_t count = 0;

	for (int i = 0; i < found && count < most; i++)
		if (count > 0 || (uint64_t)(uintptr_t)addresses[i] == from)
			out_frames[count++].address = (uint64_t)(uintptr_t)addresses[i];
	return count;
}

/* Addresses and stack pointers by libunwind alone: some 500 ns a frame. */
static uint32_t walk_slowly(uint64_t from, struct tfs_stack_frame *out_frames, uint32_t most)
{
	unw_context_t context;
	unw_cursor_t cursor;
	uint32_t count = 0;

	libunwind.getcontext(&context);
	if (libunwind.init_local(&cursor, &context) != 0)
		return 0;
	for (uint32_t guard = 0; count < most && guard < most + OWN_FRAMES; guard++) {
		unw_word_t address;
		unw_word_t pointer;

		if (libunwind.step(&cursor) <= 0 ||
			libunwind.get_reg(&cursor, UNW_REG_IP, &address) != 0 ||
			libunwind.get_reg(&cursor, UNW_REG_SP, &pointer) != 0 || address == 0)
			break;
		if (count > 0 || address == from)
			out_frames[count++] = (struct tfs_stack_frame){address, pointer};
	}
	return count;
}

struct walk {
	struct tfs_stack_frame *frames;
	uint64_t from;
	uint32_t count;
	uint32_t most;
};

static int take_frame(void *context, void *argument)
{
	struct walk *walk = argument;
	const uint64_t address = libgcc.get_ip(context);

	if (address == 0 || walk->count == walk->most)
		return END_OF_STACK;
	if (walk->count > 0 || address == walk->from)
		walk->frames[walk->count++] =
			(struct tfs_stack_frame){address, libgcc.get_cfa(context)};
	return CONTINUE_UNWINDING;
}

/* Addresses and stack pointers by libgcc: some 150 ns a frame. */
static uint32_t walk_libgcc(uint64_t from, struct tfs_stack_frame *out_frames, uint32_t most)
{
	struct walk walk = {.frames = out_frames, .from = from, .most = most};

	libgcc.backtrace(take_frame, &walk);
	return walk.count;
}

/* Each does what it is fastest at: libunwind finds the frames, libgcc the places on the stack of
 * those few that will be checked on later hits. */
uint32_t tfs_unwind(
	uint64_t from, uint32_t pointers, struct tfs_stack_frame *out_frames, uint32_t most)
{
	const bool has_libgcc = atomic_load_explicit(&use_libgcc, memory_order_acquire);
	struct tfs_stack_frame near[NEAR_FRAMES];

	if (atomic_load_explicit(&use_libunwind, memory_order_acquire) && !pipes_are_ours())
		atomic_store(&use_libunwind, false);
	if (!atomic_load_explicit(&use_libunwind, memory_order_acquire))
		return has_libgcc ? walk_libgcc(from, out_frames, most) : 0;
	memset(out_frames, 0, most * sizeof(*out_frames));
	const uint32_t count = walk_fast(from, out_frames, most);
	const uint32_t wanted = pointers < NEAR_FRAMES ? pointers : NEAR_FRAMES;
	if (wanted == 0)
		return count;
	const uint32_t known =
		has_libgcc ? walk_libgcc(from, near, wanted) : walk_slowly(from, near, wanted);
	for (uint32_t i = 0; i < known && i < count; i++)
		if (near[i].address == out_frames[i].address)
			out_frames[i].pointer = near[i].pointer;
	return count;
}

bool tfs_unwind_ready(void)
{
	return atomic_load_explicit(&use_libunwind, memory_order_acquire) ||
	       atomic_load_explicit(&use_libgcc, memory_order_acquire);
}

bool tfs_unwind_settled(void)
{
	return atomic_load_explicit(&settled, memory_order_acquire);
}

static void load_libgcc(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	libgcc.backtrace =
		(int (*)(int (*)(void *, void *), void *))dlsym(library, "_Unwind_Backtrace");
	libgcc.get_ip = (uintptr_t(*)(void *))dlsym(library, "_Unwind_GetIP");
	libgcc.get_cfa = (uintptr_t(*)(void *))dlsym(library, "_Unwind_GetCFA");
	atomic_store(&use_libgcc, libgcc.backtrace && libgcc.get_ip && libgcc.get_cfa);
}

static bool load_libunwind(void)
{
	void *library = NULL;

	if (!tfs_sanitizer_threads() && !tfs_sanitizer_leaks())
		library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	libunwind.getcontext =
		(int (*)(unw_tdep_context_t *))dlsym(library, TEXT(unw_tdep_getcontext));
	libunwind.init_local =
		(int (*)(unw_cursor_t *, unw_context_t *))dlsym(library, TEXT(unw_init_local));
	libunwind.step = (int (*)(unw_cursor_t *))dlsym(library, TEXT(unw_step));
	libunwind.get_reg =
		(int (*)(unw_cursor_t *, int, unw_word_t *))dlsym(library, TEXT(unw_get_reg));
	libunwind.backtrace = (int (*)(void **, int))dlsym(library, "unw_backtrace");
	return libunwind.backtrace && libunwind.getcontext && libunwind.init_local &&
	       libunwind.step && libunwind.get_reg;
}

void tfs_unwind_load(void)
{
	struct tfs_stack_frame frame;
	int before[256];

	load_libgcc();
	if (load_libunwind()) {
		const uint32_t before_count = list_pipes(before, 256);

		walk_fast(0, &frame, 1);
		walk_slowly(0, &frame, 1);
		note_new_pipes(before, before_count);
		atomic_store_explicit(&use_libunwind, true, memory_order_release);
	} else {
		tfs_log(TFS_LOG_INFO, "libunwind.so.8 is not used: call stacks come from libgcc");
	}
	atomic_store_explicit(&settled, true, memory_order_release);
}

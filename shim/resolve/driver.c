/* SPDX-License-Identifier: MIT */
#include "shim/resolve/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "shim/base/cause.h"
#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/resolve/harmless.h"
#include "shim/resolve/lookup_versions.h"

void *tfs_next_dlopen;
void *tfs_next_dlsym;
void *tfs_next_dlvsym;

/* How the file names of the libraries begin whose lookups are left alone. Some carry a runtime of
 * their own; a front like cuDNN's looks its own names up in its parts. */
static const char *const exempt[] = {
	"libcublas",
	"libcudart",
	"libcuda.so",
	"libcudadebugger",
	"libcudla",
	"libcudnn",
	"libcufft",
	"libcufile",
	"libcuinj",
	"libcupti",
	"libcurand",
	"libcusolver",
	"libcusparse",
	"libcutensor",
	"libnccl",
	"libnpp",
	"libnvJitLink",
	"libnvToolsExt",
	"libnvidia-",
	"libnvjpeg",
	"libnvml",
	"libnvperf",
	"libnvrtc",
	"libnvshmem",
};

static void *find_nothing(void)
{
	return NULL;
}

/* dlvsym is ours as well, so libc's is not asked: the loaded objects' tables say where they are,
 * whichever version of glibc, on whichever processor. */
void *tfs_driver_find_next(void **which)
{
	void *found = tfs_lookup_next(which == &tfs_next_dlopen  ? "dlopen"
				      : which == &tfs_next_dlsym ? "dlsym"
								 : "dlvsym");

	if (!found)
		found = (void *)find_nothing;
	__atomic_store_n(which, found, __ATOMIC_RELEASE);
	return found;
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool tfs_driver_exempts(const char *file)
{
	for (size_t i = 0; i < sizeof(exempt) / sizeof(exempt[0]); i++)
		if (begins(file, exempt[i]))
			return true;
	return false;
}

static bool is_exempt(const void *caller)
{
	struct tfs_object object;

	return tfs_lookup_object(caller, &object) &&
	       (object.own || tfs_driver_exempts(object.file));
}

static struct tfs_cause looked_past;
static struct tfs_cause looked_up;

const char *tfs_driver_looked_past(void)
{
	return tfs_cause_text(&looked_past);
}

const char *tfs_driver_looked_up(void)
{
	return tfs_cause_text(&looked_up);
}

/* How names of CUDA's functions begin, but for the driver's. */
static const char *const prefixes[] = {"__cuda", "cuda", "cudnn", "cublas", "curand", "cufft",
	"cusparse", "cusolver", "cutensor", "nccl"};

bool tfs_driver_is_cuda(const char *name)
{
	if (begins(name, "cu") && name[2] >= 'A' && name[2] <= 'Z')
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (begins(name, prefixes[i]))
			return true;
	return false;
}

static bool is_known(const char *name)
{
	return tfs_driver_is_cuda(name) || begins(name, "cupti");
}

static bool is_hooked(struct tfs_function *function, void *argument)
{
	const char **sought = argument;

	if (strcmp(function->name, *sought) != 0)
		return true;
	*sought = NULL;
	return false;
}

static bool has_hook(const char *name)
{
	const char *sought = name;

	tfs_lookup_each(is_hooked, &sought);
	return !sought;
}

static void keep(struct tfs_cause *cause, const char *name, const void *caller)
{
	struct tfs_object object = {.file = ""};

	if (tfs_cause_text(cause))
		return;
	tfs_lookup_object(caller, &object);
	tfs_cause_name(cause, name, "looked up by", object.file);
}

static void note_any(const char *name, const void *caller)
{
	if (!tfs_driver_looked_up() && tfs_driver_is_cuda(name) && !is_exempt(caller) &&
		(has_hook(name) || !tfs_is_harmless(name)))
		keep(&looked_up, name, caller);
}

static void note_past(const char *name, const void *caller)
{
	if (!is_exempt(caller) && (has_hook(name) || !tfs_is_harmless(name)))
		keep(&looked_past, name, caller);
}

/* The order of libraries finds ours first, unless it begins behind us. */
static void note(const char *name, const void *caller, const void *handle)
{
	note_any(name, caller);
	if (tfs_driver_looked_past() || !tfs_driver_is_cuda(name) || begins(name, "cuGet") ||
		(!handle && has_hook(name)))
		return;
	note_past(name, caller);
}

/* Of this library. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

static bool is_own(const void *address)
{
	return (const char *)address >= &__ehdr_start && (const char *)address < &_end;
}

/* An object in which a search finds nothing: the loader. NULL where it cannot be told. */
static void *nowhere(void)
{
	const uint64_t base = getauxval(AT_BASE);
	const struct link_map *map = _r_debug.r_map;

	while (map && map->l_addr != base)
		map = map->l_next;
	return base != 0 ? (void *)(uintptr_t)map : NULL;
}

/* Would it be looked for in all libraries, or in all that come behind one? */
static bool asks_all(const void *handle)
{
	return handle == RTLD_DEFAULT || handle == RTLD_NEXT || handle == _r_debug.r_map;
}

static void *ask(void *handle, const char *name)
{
	void *next = __atomic_load_n(&tfs_next_dlsym, __ATOMIC_ACQUIRE);

	if (!next)
		next = tfs_driver_find_next(&tfs_next_dlsym);
	return ((void *(*)(void *, const char *))next)(handle, name);
}

/* Would it be found without us? A library may be there for those alone who opened it; for others
 * than the program itself that is not looked at closely. */
static bool is_found(const char *name, const void *caller, const void *handle)
{
	struct tfs_object object;

	if (!tfs_lookup_elsewhere(name))
		return false;
	if (handle != _r_debug.r_map &&
		!(tfs_lookup_object(caller, &object) && *object.file == '\0'))
		return true;
	return !is_own(ask(_r_debug.r_map, name)) || ask(RTLD_NEXT, name);
}

static void *redirect(const char *name, const void *caller, void *handle)
{
	void *instead;

	if (!asks_all(handle) || is_own(caller) || !is_known(name))
		return handle;
	if (!has_hook(name) || is_found(name, caller, handle))
		return handle;
	instead = nowhere();
	return instead ? instead : handle;
}

void *tfs_driver_note_lookup(const char *name, const void *caller, void *handle)
{
	/* The constructor asks for every hook's name, and each would be compared with all of them.
	 */
	if (is_own(caller))
		return handle;
	note(name, caller, handle);
	return redirect(name, caller, handle);
}

/* A lookup that is answered with what was found, perhaps past a hook. */
static void *pass(const char *name, void *answer, const void *caller)
{
	struct tfs_object object;

	if (answer && !(tfs_lookup_object(answer, &object) && object.own))
		note(name, caller, answer);
	return answer;
}

/* May our function stand for this one? It calls one real function only: of a second driver in the
 * same process, the functions are left as they are. */
static bool adopt(struct tfs_function *function, void *hook, void *answer)
{
	struct tfs_object ours;
	struct tfs_object other;
	void *real = NULL;

	/* A driver whose own references were overridden answers with our functions. */
	if (answer == hook)
		return true;
	if (__atomic_compare_exchange_n(
		    &function->real, &real, answer, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		real == answer)
		return true;
	if (!tfs_lookup_object(real, &ours)) {
		/* The driver was unloaded, and loaded again elsewhere. */
		__atomic_store_n(&function->real, answer, __ATOMIC_RELAXED);
		return true;
	}
	if (tfs_lookup_object(answer, &other) && other.start == ours.start)
		return true;
	tfs_log(TFS_LOG_WARN, "calls of %s in a second driver library (%s) are not seen",
		function->name, other.file);
	return false;
}

struct exported {
	const char *name;
	struct tfs_function *found;
};

static bool find_exported(struct tfs_function *function, void *argument)
{
	struct exported *exported = argument;

	if (strcmp(function->name, exported->name) != 0)
		return true;
	exported->found = function;
	return false;
}

/* A function of the driver's or CUPTI's is called where it was found. Any other is called where
 * calls go that no one looked up. */
static bool may_stand(struct tfs_function *function, void *hook, void *answer, const void *caller)
{
	if (function->library == TFS_LIBRARY_cuda || function->library == TFS_LIBRARY_cupti)
		return adopt(function, hook, answer);
	return tfs_lookup_reaches(function, answer, caller);
}

static void *swap_exported(const char *name, void *answer, const void *caller)
{
	struct exported exported = {.name = name};
	struct tfs_object object;
	void *hook;

	if (!answer || is_own(caller) || !is_known(name))
		return answer;
	note_any(name, caller);
	if (!begins(name, "cupti") && !tfs_env_driver())
		return pass(name, answer, caller);
	tfs_lookup_each(find_exported, &exported);
	if (!exported.found || is_exempt(caller) || !tfs_lookup_object(answer, &object) ||
		!begins(object.file, tfs_lookup_file(exported.found->library)))
		return pass(name, answer, caller);
	hook = tfs_lookup_own(name);
	return hook && may_stand(exported.found, hook, answer, caller) ? hook
								       : pass(name, answer, caller);
}

void *tfs_driver_dlsym(void *handle, const char *name, const void *caller)
{
	return swap_exported(name, ask(redirect(name, caller, handle), name), caller);
}

void *tfs_driver_dlvsym(void *handle, const char *name, const char *version, const void *caller)
{
	void *next = __atomic_load_n(&tfs_next_dlvsym, __ATOMIC_ACQUIRE);

	if (!next)
		next = tfs_driver_find_next(&tfs_next_dlvsym);
	handle = redirect(name, caller, handle);
	return swap_exported(name,
		((void *(*)(void *, const char *, const char *))next)(handle, name, version),
		caller);
}

struct match {
	const struct tfs_driver_answer *answer;
	struct tfs_function *best;
};

/* The driver itself says whether its answer is this ABI: it gives the same for the version that
 * brought the ABI. A newer one, that this library cannot know, differs. */
static bool is_abi(const struct tfs_driver_answer *answer, const struct tfs_function *function)
{
	const cuuint64_t flags = function->per_thread
					 ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					 : CU_GET_PROC_ADDRESS_DEFAULT;
	CUdriverProcAddressQueryResult result;
	void *same = NULL;
	CUresult status;

	if (answer->ask)
		status = answer->ask(answer->name, &same, function->since, flags, &result);
	else
		status = answer->ask_old(answer->name, &same, function->since, flags);
	return status == CUDA_SUCCESS && same == answer->function;
}

static bool consider(struct tfs_function *function, void *argument)
{
	struct match *match = argument;
	const struct tfs_driver_answer *answer = match->answer;
	const bool per_thread =
		(answer->flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;

	if (function->base_bytes == 0 || function->since > answer->version ||
		(function->per_thread && !per_thread) ||
		strncmp(function->name, answer->name, function->base_bytes) != 0 ||
		answer->name[function->base_bytes] != '\0')
		return true;
	if (match->best && (match->best->per_thread > function->per_thread ||
				   (match->best->per_thread == function->per_thread &&
					   match->best->since > function->since)))
		return true;
	if (is_abi(answer, function))
		match->best = function;
	return true;
}

void *tfs_driver_swap(const struct tfs_driver_answer *answer)
{
	struct match match = {.answer = answer};

	if (!answer->function || !answer->name || !tfs_env_driver())
		return answer->function;
	if (!answer->ask && !answer->ask_old)
		return answer->function;
	tfs_lookup_each(consider, &match);
	if (!match.best || is_exempt(answer->caller)) {
		if (!match.best && !tfs_driver_looked_past())
			note_past(answer->name, answer->caller);
		return answer->function;
	}
	void *hook = tfs_lookup_own(match.best->name);
	return hook && adopt(match.best, hook, answer->function) ? hook : answer->function;
}

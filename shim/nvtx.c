/* SPDX-License-Identifier: MIT */
#include "shim/nvtx.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/clock.h"
#include "shim/env.h"
#include "shim/hook.h"
#include "shim/log.h"
#include "shim/nvtx_attach.h"
#include "shim/nvtx_names.h"
#include "shim/nvtx_search.h"
#include "shim/recorder.h"
#include "shim/shim.h"
#include "shim/spin.h"
#include "shim/steps.h"
#include "shim/windows.h"

#define DOMAINS 128u /* told apart; 0 is the default one, later ones share the last */
#define NESTED 64u   /* pushed ranges of a thread that are timed; deeper ones are only counted */
#define STARTED 512u /* ranges that one call opens and another one closes */
#define BY_NAME 16u  /* occurrences after which a name that says "step" is believed */

struct range {
	uint64_t ticks;
	uint32_t name;
	uint16_t domain;
	uint16_t level;
};

/* A thread's open ranges. */
struct nest {
	struct nest *next_idle;
	uint32_t tid;
	uint32_t count;
	struct range ranges[NESTED];
	uint16_t depths[DOMAINS];
};

static __thread struct nest *own_nest __attribute__((tls_model("initial-exec")));
static pthread_key_t nest_key;
static pthread_once_t nest_key_made = PTHREAD_ONCE_INIT;
static bool have_nest_key;
static struct tfs_spin idle_lock;
static struct nest *idle_nests;

static struct tfs_nvtx_handles domain_handles;
static struct tfs_nvtx_handles text_handles;
static _Atomic uint32_t domain_count = 1;
static _Atomic uint32_t domain_names[DOMAINS];

static struct tfs_spin started_lock;
static struct {
	uint64_t id;
	struct range range;
} started[STARTED];
static uint64_t last_id;

static struct tfs_nvtx_search *search;
static _Atomic uint32_t step_name;                    /* a family */
static _Atomic uint16_t occurred[TFS_NVTX_NAMES + 1]; /* by family; saturates */

static void retire(void *argument)
{
	struct nest *nest = argument;

	own_nest = NULL;
	tfs_spin_lock(&idle_lock);
	nest->next_idle = idle_nests;
	idle_nests = nest;
	tfs_spin_unlock(&idle_lock);
}

static void make_key(void)
{
	have_nest_key = pthread_key_create(&nest_key, retire) == 0;
}

static struct nest *make_nest(void)
{
	const int saved = errno;

	pthread_once(&nest_key_made, make_key);
	tfs_spin_lock(&idle_lock);
	struct nest *nest = idle_nests;
	if (nest != NULL)
		idle_nests = nest->next_idle;
	tfs_spin_unlock(&idle_lock);
	if (nest == NULL)
		nest = mmap(NULL, sizeof(*nest), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (nest == MAP_FAILED)
		return NULL;
	memset(nest, 0, sizeof(*nest));
	nest->tid = (uint32_t)syscall(SYS_gettid);
	if (have_nest_key)
		pthread_setspecific(nest_key, nest);
	own_nest = nest;
	return nest;
}

static struct nest *get_nest(void)
{
	return own_nest != NULL ? own_nest : make_nest();
}

/* Ranges that a library opens inside a call of ours belong to that call. */
static bool is_inside_hook(void)
{
	return tfs_self.busy || (tfs_self.owned != NULL && tfs_self.active == NULL);
}

static bool says_step(uint32_t family)
{
	static const char *const words[] = {
		"step", "iteration", "iter", "train_step", "training_step", "ProfilerStep"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(tfs_nvtx_name_text(family), words[i]) == 0)
			return true;
	return false;
}

/* Does a range of this family, opened now, begin a step? */
static bool begins_step(uint32_t family, uint32_t name)
{
	const uint32_t known = atomic_load_explicit(&step_name, memory_order_relaxed);

	if (known != 0 || family == 0)
		return family != 0 && known == family;
	if (tfs_options.step_range != 0) {
		const char *wanted = tfs_env_text(tfs_options.step_range);

		if (strcmp(wanted, tfs_nvtx_name_text(family)) != 0 &&
			strcmp(wanted, tfs_nvtx_name_text(name)) != 0)
			return false;
	} else {
		if (tfs_steps_count() != 0 || atomic_load(&occurred[family]) == UINT16_MAX ||
			atomic_fetch_add(&occurred[family], 1) + 1u < BY_NAME || !says_step(family))
			return false;
	}
	atomic_store(&step_name, family);
	return true;
}

static void opened(uint32_t name, uint64_t ticks, const void *caller)
{
	const uint32_t family = tfs_nvtx_name_family(name);

	if (tfs_recording.header == NULL || is_inside_hook())
		return;
	if (begins_step(family, name))
		tfs_steps_begin(TFS_STEP_NVTX, ticks, (uint64_t)(uintptr_t)caller);
	if ((__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_STEPS) != 0 && family != 0 &&
		tfs_steps_is_owner() && search != NULL)
		tfs_nvtx_search_enter(search, family);
}

static void write_range(const struct range *range, enum tfs_range_kind kind, uint32_t tid)
{
	const struct tfs_range_record record = {
		.record = {.kind = TFS_RECORD_range,
			.units = sizeof(record) / TFS_UNIT,
			.function = (uint16_t)kind,
			.site = tfs_nvtx_name_string(range->name)},
		.start_ticks = range->ticks,
		.duration_ticks =
			kind == TFS_RANGE_MARK ? 0 : (float)(tfs_clock_ticks() - range->ticks),
		.tid = tid,
		.domain = tfs_nvtx_name_string(atomic_load(&domain_names[range->domain])),
		.level = range->level,
	};

	tfs_recorder_put(&record, TFS_RECORD_range, sizeof(record));
}

static void closed(const struct range *range, enum tfs_range_kind kind)
{
	if (tfs_recording.header == NULL || is_inside_hook())
		return;
	if ((__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_STEPS) != 0 &&
		kind != TFS_RANGE_MARK && tfs_steps_is_owner() && search != NULL)
		tfs_nvtx_search_leave(search, tfs_nvtx_name_family(range->name));
	if (tfs_windows_open() && range->name != 0) {
		const struct nest *nest = get_nest();

		write_range(range, kind, nest != NULL ? nest->tid : 0);
	}
}

static int push(uint16_t domain, uint32_t name, const void *caller)
{
	struct nest *nest = get_nest();

	if (nest == NULL)
		return -1;
	const uint16_t level = nest->depths[domain];
	if (level == UINT16_MAX)
		return -1;
	nest->depths[domain]++;
	if (nest->count < NESTED) {
		nest->ranges[nest->count++] =
			(struct range){tfs_clock_ticks(), name, domain, level};
		opened(name, nest->ranges[nest->count - 1].ticks, caller);
	}
	return level;
}

static int pop(uint16_t domain)
{
	struct nest *nest = get_nest();

	if (nest == NULL || nest->depths[domain] == 0)
		return -1;
	const uint16_t level = --nest->depths[domain];
	uint32_t at = nest->count;
	while (at > 0 && nest->ranges[at - 1].domain != domain)
		at--;
	if (at > 0 && nest->ranges[at - 1].level == level) {
		const struct range range = nest->ranges[at - 1];

		memmove(&nest->ranges[at - 1], &nest->ranges[at],
			(nest->count - at) * sizeof(range));
		nest->count--;
		closed(&range, TFS_RANGE_PUSHED);
	}
	return level;
}

/* `id` is the next tool's, or 0 when there is none. Where all places are taken, the range is not
 * timed. */
static uint64_t begin(uint16_t domain, uint32_t name, uint64_t id, const void *caller)
{
	const struct range range = {tfs_clock_ticks(), name, domain, 0};

	tfs_spin_lock(&started_lock);
	if (id == 0)
		id = ++last_id;
	for (uint32_t i = 0; i < STARTED; i++) {
		const uint32_t at = (uint32_t)((id + i) % STARTED);

		if (started[at].range.ticks == 0) {
			started[at].id = id;
			started[at].range = range;
			break;
		}
	}
	tfs_spin_unlock(&started_lock);
	opened(name, range.ticks, caller);
	return id;
}

static void end(uint64_t id)
{
	struct range range = {0};

	tfs_spin_lock(&started_lock);
	for (uint32_t i = 0; i < STARTED && range.ticks == 0; i++) {
		const uint32_t at = (uint32_t)((id + i) % STARTED);

		if (started[at].range.ticks != 0 && started[at].id == id) {
			range = started[at].range;
			started[at].range.ticks = 0;
		}
	}
	tfs_spin_unlock(&started_lock);
	if (range.ticks != 0)
		closed(&range, TFS_RANGE_STARTED);
}

static void mark(uint16_t domain, uint32_t name)
{
	const struct range range = {tfs_clock_ticks(), name, domain, 0};

	closed(&range, TFS_RANGE_MARK);
}

static uint32_t name_of(const struct tfs_nvtx_attributes *what)
{
	if (what == NULL ||
		what->size < offsetof(struct tfs_nvtx_attributes, message) + sizeof(void *))
		return 0;
	switch (what->message_type) {
	case TFS_NVTX_MESSAGE_ASCII:
		return tfs_nvtx_name(what->message);
	case TFS_NVTX_MESSAGE_WIDE:
		return tfs_nvtx_name_wide(what->message);
	case TFS_NVTX_MESSAGE_REGISTERED:
		return tfs_nvtx_handle_get(&text_handles, what->message);
	default:
		return 0;
	}
}

static uint16_t domain_of(const void *handle)
{
	return (uint16_t)tfs_nvtx_handle_get(&domain_handles, handle);
}

static const void *create(uint32_t name, const void *handle)
{
	uint32_t domain = atomic_load(&domain_count);

	while (domain < DOMAINS - 1 &&
		!atomic_compare_exchange_weak(&domain_count, &domain, domain + 1))
		continue;
	atomic_store(&domain_names[domain], domain < DOMAINS - 1 ? name : 0);
	if (handle == NULL)
		handle = &domain_names[domain];
	tfs_nvtx_handle_set(&domain_handles, handle, domain);
	return handle;
}

static const void *remember(uint32_t name, const void *handle)
{
	if (handle == NULL)
		handle = &occurred[name];
	tfs_nvtx_handle_set(&text_handles, handle, name);
	return handle;
}

/* With another tool behind us, its answers are the program's. */
#define NEXT(name, ...) (tfs_nvtx_next.name != NULL ? tfs_nvtx_next.name(__VA_ARGS__) : 0)
#define TELL(name, ...) (tfs_nvtx_next.name != NULL ? tfs_nvtx_next.name(__VA_ARGS__) : (void)0)
#define LEVEL(name, ours, ...)                                                                     \
	(tfs_nvtx_next.name != NULL ? tfs_nvtx_next.name(__VA_ARGS__) : (ours))
#define CALLER __builtin_return_address(0)

#define X(module, index, name, result, parameters) static result on_##name parameters;
TFS_NVTX_FUNCTIONS(X)
#undef X

void on_mark(const struct tfs_nvtx_attributes *what)
{
	mark(0, name_of(what));
	TELL(mark, what);
}

void on_mark_a(const char *text)
{
	mark(0, tfs_nvtx_name(text));
	TELL(mark_a, text);
}

void on_mark_w(const wchar_t *text)
{
	mark(0, tfs_nvtx_name_wide(text));
	TELL(mark_w, text);
}

uint64_t on_start(const struct tfs_nvtx_attributes *what)
{
	return begin(0, name_of(what), NEXT(start, what), CALLER);
}

uint64_t on_start_a(const char *text)
{
	return begin(0, tfs_nvtx_name(text), NEXT(start_a, text), CALLER);
}

uint64_t on_start_w(const wchar_t *text)
{
	return begin(0, tfs_nvtx_name_wide(text), NEXT(start_w, text), CALLER);
}

void on_end(uint64_t id)
{
	end(id);
	TELL(end, id);
}

int on_push(const struct tfs_nvtx_attributes *what)
{
	const int level = push(0, name_of(what), CALLER);

	return LEVEL(push, level, what);
}

int on_push_a(const char *text)
{
	const int level = push(0, tfs_nvtx_name(text), CALLER);

	return LEVEL(push_a, level, text);
}

int on_push_w(const wchar_t *text)
{
	const int level = push(0, tfs_nvtx_name_wide(text), CALLER);

	return LEVEL(push_w, level, text);
}

int on_pop(void)
{
	const int level = pop(0);

	return LEVEL(pop, level);
}

void on_domain_mark(const void *domain, const struct tfs_nvtx_attributes *what)
{
	mark(domain_of(domain), name_of(what));
	TELL(domain_mark, domain, what);
}

uint64_t on_domain_start(const void *domain, const struct tfs_nvtx_attributes *what)
{
	return begin(domain_of(domain), name_of(what), NEXT(domain_start, domain, what), CALLER);
}

void on_domain_end(const void *domain, uint64_t id)
{
	end(id);
	TELL(domain_end, domain, id);
}

int on_domain_push(const void *domain, const struct tfs_nvtx_attributes *what)
{
	const int level = push(domain_of(domain), name_of(what), CALLER);

	return LEVEL(domain_push, level, domain, what);
}

int on_domain_pop(const void *domain)
{
	const int level = pop(domain_of(domain));

	return LEVEL(domain_pop, level, domain);
}

const void *on_register_a(const void *domain, const char *text)
{
	return remember(tfs_nvtx_name(text), NEXT(register_a, domain, text));
}

const void *on_register_w(const void *domain, const wchar_t *text)
{
	return remember(tfs_nvtx_name_wide(text), NEXT(register_w, domain, text));
}

const void *on_create_a(const char *text)
{
	return create(tfs_nvtx_name(text), NEXT(create_a, text));
}

const void *on_create_w(const wchar_t *text)
{
	return create(tfs_nvtx_name_wide(text), NEXT(create_w, text));
}

const struct tfs_nvtx_functions tfs_nvtx_own = {
#define X(module, index, name, result, parameters) .name = on_##name,
	TFS_NVTX_FUNCTIONS(X)
#undef X
};

bool tfs_nvtx_feed(uint32_t site, const struct tfs_loops_operand *operands, uint32_t count)
{
	if (search == NULL) {
		void *memory = mmap(NULL, tfs_nvtx_search_bytes(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory != MAP_FAILED)
			search = tfs_nvtx_search_init(memory);
	}
	if (search == NULL || tfs_options.step_range != 0)
		return false;
	const uint32_t name = tfs_nvtx_search_feed(search, site, operands, count);
	if (name != 0) {
		tfs_recorder_fact("step range", tfs_nvtx_name_text(name), 0);
		tfs_log(TFS_LOG_INFO, "training step: NVTX range '%s'", tfs_nvtx_name_text(name));
		atomic_store(&step_name, name);
	}
	return name != 0;
}

/* SPDX-License-Identifier: MIT */
#include "shim/nvtx/nvtx.h"

#include <stdatomic.h>
#include <stddef.h>

#include "shim/nvtx/nvtx_attach.h"
#include "shim/nvtx/nvtx_names.h"
#include "shim/nvtx/nvtx_nest.h"

static struct tfs_nvtx_handles domain_handles;
static struct tfs_nvtx_handles text_handles;
static _Atomic uint32_t domain_count = 1;

/* Handles are addresses in here, where no other tool makes them. */
static char own_domains[TFS_NVTX_DOMAINS];
static char own_texts[TFS_NVTX_NAMES + 1];

static uint32_t name_of(const struct tfs_nvtx_attributes *what)
{
	if (!what || what->size < offsetof(struct tfs_nvtx_attributes, message) + sizeof(void *))
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

	while (domain < TFS_NVTX_DOMAINS - 1 &&
		!atomic_compare_exchange_weak(&domain_count, &domain, domain + 1))
		continue;
	tfs_nvtx_domain((uint16_t)domain, domain < TFS_NVTX_DOMAINS - 1 ? name : 0);
	if (!handle)
		handle = &own_domains[domain];
	tfs_nvtx_handle_set(&domain_handles, handle, domain);
	return handle;
}

static const void *remember(uint32_t name, const void *handle)
{
	if (!handle)
		handle = &own_texts[name];
	tfs_nvtx_handle_set(&text_handles, handle, name);
	return handle;
}

/* With another tool behind us, its answers are the program's. */
#define NEXT(name, ...) (tfs_nvtx_next.name ? tfs_nvtx_next.name(__VA_ARGS__) : 0)
#define TELL(name, ...) (tfs_nvtx_next.name ? tfs_nvtx_next.name(__VA_ARGS__) : (void)0)
#define LEVEL(name, ours, ...) (tfs_nvtx_next.name ? tfs_nvtx_next.name(__VA_ARGS__) : (ours))
#define CALLER __builtin_return_address(0)

#define X(module, index, name, result, parameters) static result on_##name parameters;
TFS_NVTX_FUNCTIONS(X)
#undef X

void on_mark(const struct tfs_nvtx_attributes *what)
{
	tfs_nvtx_mark(0, name_of(what));
	TELL(mark, what);
}

void on_mark_a(const char *text)
{
	tfs_nvtx_mark(0, tfs_nvtx_name(text));
	TELL(mark_a, text);
}

void on_mark_w(const wchar_t *text)
{
	tfs_nvtx_mark(0, tfs_nvtx_name_wide(text));
	TELL(mark_w, text);
}

uint64_t on_start(const struct tfs_nvtx_attributes *what)
{
	return tfs_nvtx_begin(0, name_of(what), NEXT(start, what), CALLER);
}

uint64_t on_start_a(const char *text)
{
	return tfs_nvtx_begin(0, tfs_nvtx_name(text), NEXT(start_a, text), CALLER);
}

uint64_t on_start_w(const wchar_t *text)
{
	return tfs_nvtx_begin(0, tfs_nvtx_name_wide(text), NEXT(start_w, text), CALLER);
}

void on_end(uint64_t id)
{
	tfs_nvtx_end(id);
	TELL(end, id);
}

int on_push(const struct tfs_nvtx_attributes *what)
{
	const int level = tfs_nvtx_push(0, name_of(what), CALLER);

	return LEVEL(push, level, what);
}

int on_push_a(const char *text)
{
	const int level = tfs_nvtx_push(0, tfs_nvtx_name(text), CALLER);

	return LEVEL(push_a, level, text);
}

int on_push_w(const wchar_t *text)
{
	const int level = tfs_nvtx_push(0, tfs_nvtx_name_wide(text), CALLER);

	return LEVEL(push_w, level, text);
}

int on_pop(void)
{
	const int level = tfs_nvtx_pop(0);

	return LEVEL(pop, level);
}

void on_domain_mark(const void *domain, const struct tfs_nvtx_attributes *what)
{
	tfs_nvtx_mark(domain_of(domain), name_of(what));
	TELL(domain_mark, domain, what);
}

uint64_t on_domain_start(const void *domain, const struct tfs_nvtx_attributes *what)
{
	return tfs_nvtx_begin(
		domain_of(domain), name_of(what), NEXT(domain_start, domain, what), CALLER);
}

void on_domain_end(const void *domain, uint64_t id)
{
	tfs_nvtx_end(id);
	TELL(domain_end, domain, id);
}

int on_domain_push(const void *domain, const struct tfs_nvtx_attributes *what)
{
	const int level = tfs_nvtx_push(domain_of(domain), name_of(what), CALLER);

	return LEVEL(domain_push, level, domain, what);
}

int on_domain_pop(const void *domain)
{
	const int level = tfs_nvtx_pop(domain_of(domain));

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

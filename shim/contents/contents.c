/* SPDX-License-Identifier: MIT */
#include "shim/contents/contents.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim/contents/pattern.h"

#define PLACES 8u /* each takes the kernel as long as reading all of it */
#define PLACE (TFS_CONTENTS_WHOLE / PLACES)

static _Atomic int64_t uploads_left;
static _Atomic int64_t bytes_left;
static _Atomic uint32_t window;
static _Atomic pid_t self; /* asked once: children do not get here */

void tfs_contents_open(void)
{
	self = getpid();
	atomic_store(&uploads_left, TFS_CONTENTS_UPLOADS);
	atomic_store(&bytes_left, TFS_CONTENTS_BYTES);
	atomic_fetch_add(&window, 1);
}

bool tfs_contents_left(void)
{
	return atomic_load_explicit(&uploads_left, memory_order_relaxed) > 0;
}

/* Reads what is at `from` into `piece`. */
static bool fetch(uint64_t *piece, const struct iovec *from, unsigned count, size_t bytes)
{
	const struct iovec to = {piece, bytes};
	const int saved = errno;
	const ssize_t got = process_vm_readv(self, &to, 1, from, count, 0);

	errno = saved;
	return got == (ssize_t)bytes;
}

/* Where the nth of the places begins; the last one ends where the bytes do, but for some that make
 * no word. */
static size_t place_of(size_t bytes, unsigned nth)
{
	return (bytes - PLACE) * nth / (PLACES - 1) / 8 * 8;
}

static bool look_at_places(struct tfs_contents *contents, const char *source, size_t bytes,
	struct tfs_pattern *out_pattern)
{
	struct iovec from[PLACES];

	for (unsigned i = 0; i < PLACES; i++)
		from[i] = (struct iovec){(void *)(source + place_of(bytes, i)), PLACE};
	if (!fetch(contents->piece, from, PLACES, TFS_CONTENTS_WHOLE))
		return false;
	tfs_pattern_start(out_pattern, contents->piece, TFS_CONTENTS_WHOLE);
	for (unsigned i = 0; i < PLACES; i++)
		tfs_pattern_add(
			out_pattern, place_of(bytes, i), contents->piece + i * PLACE / 8, PLACE);
	return true;
}

static bool look_at_all(struct tfs_contents *contents, const char *source, size_t bytes,
	struct tfs_pattern *out_pattern)
{
	for (size_t at = 0; at < bytes; at += TFS_CONTENTS_WHOLE) {
		const size_t left = bytes - at;
		const size_t count = left < TFS_CONTENTS_WHOLE ? left : TFS_CONTENTS_WHOLE;
		const struct iovec from = {(void *)(source + at), count};

		if (!fetch(contents->piece, &from, 1, count))
			return false;
		if (at == 0)
			tfs_pattern_start(out_pattern, contents->piece, count);
		tfs_pattern_add(out_pattern, at, contents->piece, count);
	}
	return true;
}

/* Two destinations may share one, the later one of which is then the one that is known. */
static struct tfs_contents_known *known_of(
	struct tfs_contents *contents, const void *target, size_t bytes)
{
	const uint64_t key = ((uint64_t)(uintptr_t)target ^ (uint64_t)bytes << 40) *
			     UINT64_C(0x9E3779B97F4A7C15);
	struct tfs_contents_known *known = &contents->known[key >> 57];
	const uint32_t now = atomic_load_explicit(&window, memory_order_relaxed);

	if (known->key != key || known->window != now)
		*known = (struct tfs_contents_known){.key = key, .window = now};
	return known;
}

/* Whether all of them are to be read, now that the places are known. */
static bool worth_all(
	struct tfs_contents_known *known, const struct tfs_content *content, size_t bytes)
{
	const bool again = known->sample == content->sample;

	known->sample = content->sample;
	if ((!again && !content->pattern) || bytes > TFS_CONTENTS_LONGEST)
		return false;
	if (known->alike++ >= TFS_CONTENTS_PROOFS && known->alike % TFS_CONTENTS_EVERY != 0)
		return false;
	if (atomic_fetch_sub(&bytes_left, (int64_t)bytes) >= (int64_t)bytes)
		return true;
	atomic_fetch_add(&bytes_left, (int64_t)bytes);
	return false;
}

/* 0 says that nothing was read. */
static uint64_t told(uint64_t hash)
{
	return hash | (hash == 0);
}

bool tfs_contents_look(struct tfs_contents *contents, const void *target, const void *source,
	size_t bytes, struct tfs_content *out_content)
{
	struct tfs_content content = {0};
	struct tfs_pattern pattern;

	if (bytes == 0 || atomic_fetch_sub(&uploads_left, 1) <= 0)
		return false;
	if (bytes > TFS_CONTENTS_WHOLE) {
		if (!look_at_places(contents, source, bytes, &pattern))
			return false;
		content.sample = told(pattern.hash);
		content.pattern = tfs_pattern_kind(&pattern, bytes);
	}
	if (bytes <= TFS_CONTENTS_WHOLE ||
		worth_all(known_of(contents, target, bytes), &content, bytes)) {
		if (!look_at_all(contents, source, bytes, &pattern))
			return false;
		content.whole = told(pattern.hash);
		content.pattern = tfs_pattern_kind(&pattern, bytes);
	}
	*out_content = content;
	return true;
}

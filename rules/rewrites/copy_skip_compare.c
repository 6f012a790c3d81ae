/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/copy_skip_compare.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "rules/rewrites/content_kernel.h"
#include "shim/env.h"

#define BLOCK ((size_t)64 << 10)

static struct tfs_content_key key; /* constant from the start on */

/* Only who has set `busy` may use what follows it. */
static atomic_bool busy;
static struct tfs_content_work work;
static char read_back[BLOCK];
static struct {
	const void *target;
	struct tfs_content_hash hash;
} latest; /* for the naive version */

bool tfs_skip_draw(void)
{
	char *at = (char *)&key;

	/* More than 256 bytes may come in parts. */
	for (size_t done = 0; done < sizeof(key);) {
		const ssize_t got = getrandom(at + done, sizeof(key) - done, GRND_NONBLOCK);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

bool tfs_skip_take(void)
{
	return !atomic_exchange(&busy, true);
}

void tfs_skip_give(void)
{
	atomic_store(&busy, false);
}

static bool start(const struct tfs_copy_call *call, const struct tfs_staging_context *context)
{
	return tfs_content_start((void *)(uintptr_t)context->key, (uint32_t)context->device,
		call->target, call->bytes, &key);
}

bool tfs_skip_hash_target(const struct tfs_copy_call *call,
	const struct tfs_staging_context *context, struct tfs_content_hash *out_hash)
{
	return start(call, context) && tfs_content_finish(out_hash);
}

void tfs_skip_hash_source(const struct tfs_copy_call *call, struct tfs_content_hash *out_hash)
{
	tfs_content_hash(call->source, call->bytes, &key, &work, out_hash);
}

bool tfs_skip_hash_both(const struct tfs_copy_call *call, const struct tfs_staging_context *context,
	struct tfs_content_hash *out_source, struct tfs_content_hash *out_target)
{
	if (!start(call, context))
		return false;
	tfs_skip_hash_source(call, out_source);
	return tfs_content_finish(out_target);
}

bool tfs_skip_is_equal(const struct tfs_copy_call *call, const struct tfs_content_hash *source,
	const struct tfs_content_hash *target)
{
	bool equal = memcmp(source, target, sizeof(*source)) == 0;

	if ((tfs_options.naive & TFS_SKIP_NAIVE_EQUAL) != 0)
		return true;
	if ((tfs_options.naive & TFS_SKIP_NAIVE_SOURCE) != 0 && latest.target == call->target)
		equal = memcmp(source, &latest.hash, sizeof(*source)) == 0;
	latest.target = call->target;
	latest.hash = *source;
	return equal;
}

size_t tfs_skip_differs_at(const struct tfs_copy_call *call, size_t most)
{
	const size_t blocks = (call->bytes + BLOCK - 1) / BLOCK;
	const size_t count = blocks < most ? blocks : most;

	for (size_t i = 0; i < count; i++) {
		const size_t at = (count > 1 ? i * (blocks - 1) / (count - 1) : 0) * BLOCK;
		const size_t bytes = call->bytes - at < BLOCK ? call->bytes - at : BLOCK;
		const char *source = (const char *)call->source + at;

		if (!tfs_content_read(read_back, (const char *)call->target + at, bytes))
			return call->bytes;
		for (size_t k = 0; k < bytes; k++)
			if (read_back[k] != source[k])
				return at + k;
	}
	return call->bytes;
}

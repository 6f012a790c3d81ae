/* SPDX-License-Identifier: MIT */
/* The CPU version of the one kernel that the library itself brings (content_kernel.h). */
#include "core_function.h"
#include "rules/rewrites/content_hash.h"

static void content(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	const char *data = *(const char **)args[0];
	const uint64_t bytes = *(uint64_t *)args[1];
	const uint64_t *key = *(uint64_t **)args[2];
	struct tfs_content_hash *out = *(struct tfs_content_hash **)args[3];
	const uint64_t warps = (uint64_t)grid.x * (block.x / 32);

	(void)shared_bytes;
	for (uint64_t i = 0; i < warps && i * TFS_CONTENT_BLOCK < bytes; i++) {
		const uint64_t left = bytes - i * TFS_CONTENT_BLOCK;

		tfs_content_block(data + i * TFS_CONTENT_BLOCK,
			left < TFS_CONTENT_BLOCK ? left : TFS_CONTENT_BLOCK, key, &out[i]);
	}
}

__attribute__((constructor)) static void provide(void)
{
	static const struct tfsim_kernel kernel = {
		"tfshim_content", content, {8, 8, 8, 8}, 4, TFS_CONTENT_BLOCK / 32, 0};

	tfsim_kernel_register(&kernel);
}

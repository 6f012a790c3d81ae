/* SPDX-License-Identifier: MIT */
#include "rules/device/products.h"

#include "rules/device/used.h"
#include "rules/evidence/steady.h"

/* Which operand a call of a library writes, and does not read; NULL = none, or several. */
static const struct tfs_operand *result_of(const struct tfs_used *operands)
{
	const struct tfs_operand *result = NULL;

	for (unsigned i = 0; i < operands->count; i++) {
		if (!(operands->items[i].role & TFS_ROLE_WRITE) ||
			operands->items[i].role & TFS_ROLE_SCRATCH)
			continue;
		if (result || operands->items[i].role & TFS_ROLE_READ)
			return NULL;
		result = &operands->items[i];
	}
	return result;
}

bool tfs_product_batched(const struct tfs_host_call *call)
{
	return call->family == TFS_FAMILY_gemm && !call->record->status &&
	       tfs_steady_attribute(call, TFS_ATTRIBUTE_count, 0) > 1;
}

bool tfs_product_describe(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_product *out_product)
{
	const uint64_t order = tfs_steady_attribute(call, TFS_ATTRIBUTE_alignment, 0);
	const struct tfs_used operands = tfs_used_by(timeline, call);
	const struct tfs_operand *result = result_of(&operands);

	if (!tfs_product_batched(call) || !(order & TFS_PRODUCT_ORDERED) || operands.count < 3 ||
		!result)
		return false;
	*out_product = (struct tfs_product){
		.m = tfs_steady_attribute(call, TFS_ATTRIBUTE_shape_m, 0),
		.n = tfs_steady_attribute(call, TFS_ATTRIBUTE_shape_n, 0),
		.k = tfs_steady_attribute(call, TFS_ATTRIBUTE_shape_k, 0),
		.batch = tfs_steady_attribute(call, TFS_ATTRIBUTE_count, 0),
		.first_transposed = order & TFS_PRODUCT_FIRST_TRANSPOSED,
		.second_transposed = order & TFS_PRODUCT_SECOND_TRANSPOSED,
		.first = operands.items[0],
		.second = operands.items[1],
		.result = *result,
	};
	return result->range != TFS_NONE;
}

uint64_t tfs_product_elements(const struct tfs_product *product)
{
	return product->m * product->n * product->batch;
}

unsigned tfs_product_element(const struct tfs_product *product, uint64_t all)
{
	const uint64_t elements = tfs_product_elements(product);

	for (unsigned bytes = TFS_PRODUCT_NARROWEST; bytes <= 8; bytes *= 2)
		if (elements && all == elements * bytes)
			return bytes;
	return 0;
}

bool tfs_product_asked(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	const struct tfs_function_record *function =
		tfs_trace_find(timeline->trace, TFS_RECORD_function, call->function);

	return call->family == TFS_FAMILY_workspace_query && function &&
	       function->library == TFS_LIBRARY_cublaslt;
}

/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cudart/cudart.h"

#include "shim/hooks/memory.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/take.h"
#include "shim/resolve/direct.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

/* Memory with a shape: arrays, which have no address, and rows that are padded. */

static size_t bytes_of(const struct cudaChannelFormatDesc *element)
{
	return (size_t)(element->x + element->y + element->z + element->w) / 8;
}

size_t tfs_cudart_element(cudaArray_const_t array)
{
	struct cudaChannelFormatDesc element = {0};
	struct cudaExtent extent;
	unsigned flags;

	if (!tfs_lookup_steady(TFS_LIBRARY_cudart))
		return 1;
	const __typeof__(&cudaArrayGetInfo) get = TFS_DIRECT(cudaArrayGetInfo);
	/* Cannot fail: the array was just used. */
	if (!get || get(&element, &extent, &flags, (cudaArray_t)array) != cudaSuccess ||
		bytes_of(&element) == 0)
		return 1;
	return bytes_of(&element);
}

/* A side that an array does not have counts once. */
static size_t elements(struct cudaExtent extent)
{
	return extent.width * (extent.height > 0 ? extent.height : 1) *
	       (extent.depth > 0 ? extent.depth : 1);
}

static void note_array(struct tfs_frame *frame, cudaError_t status,
	const struct cudaChannelFormatDesc *element, struct cudaExtent extent)
{
	const bool good = status == cudaSuccess;

	if (TFS_END(frame, status, good ? elements(extent) * bytes_of(element) : 0)) {
		struct tfs_details details;

		tfs_details_init(&details, TFS_NO_STREAM);
		tfs_put_attribute(&details, TFS_ATTRIBUTE_device, good ? tfs_cudart_device() : 0);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

/* Without padding, and without the further levels of a mipmapped one. */
static size_t array_bytes(const struct cudaChannelFormatDesc *element, struct cudaExtent extent)
{
	return element ? elements(extent) * bytes_of(element) : 0;
}

/* Blocks that a rewrite holds are free memory: an out-of-memory comes after them. */
#define ARRAY(name, parameters, arguments, extent)                                                 \
	TFS_HOOK(cudaError_t, name, parameters)                                                    \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		cudaError_t status;                                                                \
                                                                                                   \
		tfs_before_alloc(array_bytes(element, extent), false, TFS_BY_DRIVER);              \
		do                                                                                 \
			status = TFS_REAL(name) arguments;                                         \
		while (tfs_make_room(status, TFS_BY_DRIVER));                                      \
		note_array(&frame, status, element, extent);                                       \
		return status;                                                                     \
	}

ARRAY(cudaMallocArray,
	(cudaArray_t * out, const struct cudaChannelFormatDesc *element, size_t width,
		size_t height, unsigned flags),
	(out, element, width, height, flags), ((struct cudaExtent){width, height, 0}))
ARRAY(cudaMalloc3DArray,
	(cudaArray_t * out, const struct cudaChannelFormatDesc *element, struct cudaExtent extent,
		unsigned flags),
	(out, element, extent, flags), extent)
ARRAY(cudaMallocMipmappedArray,
	(cudaMipmappedArray_t * out, const struct cudaChannelFormatDesc *element,
		struct cudaExtent extent, unsigned levels, unsigned flags),
	(out, element, extent, levels, flags), extent)

TFS_PLAIN_HOOK(cudaError_t, cudaFreeArray, (cudaArray_t array), (array))
TFS_PLAIN_HOOK(cudaError_t, cudaFreeMipmappedArray, (cudaMipmappedArray_t array), (array))

TFS_HOOK(cudaError_t, cudaMalloc3D, (struct cudaPitchedPtr * out, struct cudaExtent extent))
{
	struct tfs_frame frame = TFS_ENTER(cudaMalloc3D);
	cudaError_t status;

	tfs_before_alloc(extent.width * extent.height * extent.depth, false, TFS_BY_DRIVER);
	do
		status = TFS_REAL(cudaMalloc3D)(out, extent);
	while (tfs_make_room(status, TFS_BY_DRIVER));
	const bool good = status == cudaSuccess;
	tfs_end_alloc(&frame, status, good ? &out->ptr : NULL,
		good ? out->pitch * extent.height * extent.depth : 0, TFS_MEMORY_DEVICE, 0,
		TFS_BY_DRIVER);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cudaMallocArray, alloc)                                                                  \
	X(cudaMalloc3DArray, alloc)                                                                \
	X(cudaMallocMipmappedArray, alloc)                                                         \
	X(cudaFreeArray, free)                                                                     \
	X(cudaFreeMipmappedArray, free)                                                            \
	X(cudaMalloc3D, alloc)

FUNCTIONS(TFS_FUNCTION_ROW)

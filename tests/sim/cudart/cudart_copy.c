/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
	ENTER_TWIN(cudaMemcpy_v3020, cudaMemcpy_ptds_v7000, dst, src, count, kind);
	return LEAVE(tfsim_memcpy(dst, src, count, kind, STREAM(NULL), false));
}

cudaError_t cudaMemcpyAsync(
	void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	ENTER_TWIN(
		cudaMemcpyAsync_v3020, cudaMemcpyAsync_ptsz_v7000, dst, src, count, kind, stream);
	return LEAVE(tfsim_memcpy(dst, src, count, kind, STREAM(stream), true));
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
	size_t height, enum cudaMemcpyKind kind)
{
	ENTER_TWIN(cudaMemcpy2D_v3020, cudaMemcpy2D_ptds_v7000, dst, dpitch, src, spitch, width,
		height, kind);
	return LEAVE(width > dpitch || width > spitch
			     ? cudaErrorInvalidPitchValue
			     : tfsim_memcpy_2d(dst, dpitch, src, spitch, width, height, kind,
				       STREAM(NULL), false));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
	size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	ENTER_TWIN(cudaMemcpy2DAsync_v3020, cudaMemcpy2DAsync_ptsz_v7000, dst, dpitch, src, spitch,
		width, height, kind, stream);
	return LEAVE(width > dpitch || width > spitch
			     ? cudaErrorInvalidPitchValue
			     : tfsim_memcpy_2d(dst, dpitch, src, spitch, width, height, kind,
				       STREAM(stream), true));
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t count, size_t offset,
	enum cudaMemcpyKind kind, cudaStream_t stream, bool async)
{
	size_t size;
	char *address = cudart_symbol(symbol, &size);

	if (!address)
		return cudaErrorInvalidSymbol;
	if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
		return cudaErrorInvalidMemcpyDirection;
	if (offset > size || count > size - offset)
		return cudaErrorInvalidValue;
	return tfsim_memcpy(address + offset, src, count, kind, stream, async);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t count, size_t offset,
	enum cudaMemcpyKind kind, cudaStream_t stream, bool async)
{
	size_t size;
	char *address = cudart_symbol(symbol, &size);

	if (!address)
		return cudaErrorInvalidSymbol;
	if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
		return cudaErrorInvalidMemcpyDirection;
	if (offset > size || count > size - offset)
		return cudaErrorInvalidValue;
	return tfsim_memcpy(dst, address + offset, count, kind, stream, async);
}

cudaError_t cudaMemcpyToSymbol(
	const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
	ENTER_TWIN(cudaMemcpyToSymbol_v3020, cudaMemcpyToSymbol_ptds_v7000, symbol, src, count,
		offset, kind);
	return LEAVE(to_symbol(symbol, src, count, offset, kind, STREAM(NULL), false));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
	size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	ENTER_TWIN(cudaMemcpyToSymbolAsync_v3020, cudaMemcpyToSymbolAsync_ptsz_v7000, symbol, src,
		count, offset, kind, stream);
	return LEAVE(to_symbol(symbol, src, count, offset, kind, STREAM(stream), true));
}

cudaError_t cudaMemcpyFromSymbol(
	void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
	ENTER_TWIN(cudaMemcpyFromSymbol_v3020, cudaMemcpyFromSymbol_ptds_v7000, dst, symbol, count,
		offset, kind);
	return LEAVE(from_symbol(dst, symbol, count, offset, kind, STREAM(NULL), false));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
	enum cudaMemcpyKind kind, cudaStream_t stream)
{
	ENTER_TWIN(cudaMemcpyFromSymbolAsync_v3020, cudaMemcpyFromSymbolAsync_ptsz_v7000, dst,
		symbol, count, offset, kind, stream);
	return LEAVE(from_symbol(dst, symbol, count, offset, kind, STREAM(stream), true));
}

cudaError_t cudaMemset(void *ptr, int value, size_t count)
{
	ENTER_TWIN(cudaMemset_v3020, cudaMemset_ptds_v7000, ptr, value, count);
	return LEAVE(
		tfsim_memset(ptr, count, (unsigned char)value, 1, count, 1, STREAM(NULL), false));
}

cudaError_t cudaMemsetAsync(void *ptr, int value, size_t count, cudaStream_t stream)
{
	ENTER_TWIN(cudaMemsetAsync_v3020, cudaMemsetAsync_ptsz_v7000, ptr, value, count, stream);
	return LEAVE(
		tfsim_memset(ptr, count, (unsigned char)value, 1, count, 1, STREAM(stream), true));
}

cudaError_t cudaMemset2D(void *ptr, size_t pitch, int value, size_t width, size_t height)
{
	ENTER_TWIN(cudaMemset2D_v3020, cudaMemset2D_ptds_v7000, ptr, pitch, value, width, height);
	return LEAVE(tfsim_memset(
		ptr, pitch, (unsigned char)value, 1, width, height, STREAM(NULL), false));
}

cudaError_t cudaMemset2DAsync(
	void *ptr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
	ENTER_TWIN(cudaMemset2DAsync_v3020, cudaMemset2DAsync_ptsz_v7000, ptr, pitch, value, width,
		height, stream);
	return LEAVE(tfsim_memset(
		ptr, pitch, (unsigned char)value, 1, width, height, STREAM(stream), true));
}

/* The unit of asynchronous pools: also the calls of these have twins. */
cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaStream_t stream)
{
	ENTER_TWIN(cudaMallocAsync_v11020, cudaMallocAsync_ptsz_v11020, ptr, size, stream);
	return LEAVE(tfsim_malloc_async(ptr, size, NULL, STREAM(stream)));
}

cudaError_t cudaMallocFromPoolAsync(
	void **ptr, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
	ENTER_TWIN(cudaMallocFromPoolAsync_v11020, cudaMallocFromPoolAsync_ptsz_v11020, ptr, size,
		pool, stream);
	return LEAVE(
		pool ? tfsim_malloc_async(ptr, size, pool, STREAM(stream)) : cudaErrorInvalidValue);
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
	ENTER_TWIN(cudaFreeAsync_v11020, cudaFreeAsync_ptsz_v11020, ptr, stream);
	return LEAVE(tfsim_free_async(ptr, STREAM(stream)));
}

/* Managed memory is one memory here: a prefetch takes time, and nothing is copied. */
cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t count, struct cudaMemLocation location,
	unsigned flags, cudaStream_t stream)
{
	struct tfsim_work work = {.kind = TFSIM_EMPTY,
		.prefetch = true,
		.to_host = location.type != cudaMemLocationTypeDevice,
		.spans = {{ptr, count, false}}};
	struct tfsim_range range;
	cudaError_t error = cudaErrorInvalidValue;
	ENTER_TWIN(cudaMemPrefetchAsync_v12020, cudaMemPrefetchAsync_ptsz_v12020, ptr, count,
		location, flags, stream);

	if (count && flags == 0 && tfsim_memory_find(ptr, &range) && range.kind == TFSIM_MANAGED)
		error = tfsim_enqueue(STREAM(stream), &work);
	return LEAVE(error);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
	struct cudart_box b;
	cudaError_t error = cudart_flatten(p, &b);
	ENTER_TWIN(cudaMemcpy3D_v3020, cudaMemcpy3D_ptds_v7000, p);

	return LEAVE(error != cudaSuccess
			     ? error
			     : tfsim_memcpy_2d(b.dst, b.dst_pitch, b.src, b.src_pitch, b.width,
				       b.height, p->kind, STREAM(NULL), false));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
	struct cudart_box b;
	cudaError_t error = cudart_flatten(p, &b);
	ENTER_TWIN(cudaMemcpy3DAsync_v3020, cudaMemcpy3DAsync_ptsz_v7000, p, stream);

	return LEAVE(error != cudaSuccess
			     ? error
			     : tfsim_memcpy_2d(b.dst, b.dst_pitch, b.src, b.src_pitch, b.width,
				       b.height, p->kind, STREAM(stream), true));
}

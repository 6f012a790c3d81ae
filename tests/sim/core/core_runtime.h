/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_RUNTIME_H
#define TFS_TESTS_SIM_CORE_RUNTIME_H

/*
 * The semantics that the simulated runtime (libcudart) and driver (libcuda) share; handles of both
 * are the same objects (cudaStream_t = CUstream, cudaEvent_t = CUevent, ...).
 * Results are the runtime's error numbers, which the driver shares where it has the error at all.
 */

#include "tests/sim/core/core.h"

/* Runtime only: stores a failure as the thread's last error; success leaves it. Returns error. */
TFSIM_API cudaError_t tfsim_last_error_set(cudaError_t error);
TFSIM_API cudaError_t tfsim_last_error(bool clear);
/* The error every call must answer (a fault on the device, a fork), or cudaSuccess. */
TFSIM_API cudaError_t tfsim_sticky(void);
/* Called from a run() function: the kernel faulted; sticky from then on. */
TFSIM_API void tfsim_fault(cudaError_t error);
/* Everything the device's primary context owns goes; handles to it are dead. */
TFSIM_API cudaError_t tfsim_device_reset(int device);

/*
 * Contexts: by device and a number, of which 0 is the device's primary one. Memory and streams
 * belong to the context that was the calling thread's; what a device is asked is of all of them.
 */
TFSIM_API cudaError_t tfsim_context_set(int device, unsigned context);
TFSIM_API unsigned tfsim_context_current(void);
/* All that it owns goes, once the device is done. */
TFSIM_API cudaError_t tfsim_context_end(int device, unsigned context);
/* The primary context is there from now on, and, if so, current where no other is. */
TFSIM_API void tfsim_device_enter(int device, bool current);
/* The primary context has ended, and there is none until the device is used again. */
TFSIM_API void tfsim_device_leave(int device);

TFSIM_API cudaError_t tfsim_memcpy(void *dst, const void *src, size_t size,
	enum cudaMemcpyKind kind, cudaStream_t stream, bool async);
TFSIM_API cudaError_t tfsim_memcpy_2d(void *dst, size_t dst_pitch, const void *src,
	size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
	cudaStream_t stream, bool async);
/* Not async: after all earlier work of both devices. */
TFSIM_API cudaError_t tfsim_memcpy_peer(void *dst, int dst_device, const void *src, int src_device,
	size_t size, cudaStream_t stream, bool async);
/* element is 1, 2 or 4 bytes; pitch applies when height > 1. */
TFSIM_API cudaError_t tfsim_memset(void *dst, size_t pitch, uint32_t value, unsigned element,
	size_t width, size_t height, cudaStream_t stream, bool async);

TFSIM_API cudaError_t tfsim_stream_create(cudaStream_t *out_stream, unsigned flags, int priority);
TFSIM_API cudaError_t tfsim_stream_destroy(cudaStream_t stream);
TFSIM_API cudaError_t tfsim_stream_query(cudaStream_t stream);
TFSIM_API cudaError_t tfsim_stream_flags(cudaStream_t stream, unsigned *out_flags);
TFSIM_API cudaError_t tfsim_stream_priority(cudaStream_t stream, int *out_priority);
TFSIM_API cudaError_t tfsim_stream_id(cudaStream_t stream, unsigned long long *out_id);
TFSIM_API cudaError_t tfsim_stream_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags);
TFSIM_API cudaError_t tfsim_stream_host(cudaStream_t stream, cudaHostFn_t fn, void *data);

TFSIM_API cudaError_t tfsim_event_create(cudaEvent_t *out_event, unsigned flags);
TFSIM_API cudaError_t tfsim_event_destroy(cudaEvent_t event);
TFSIM_API cudaError_t tfsim_event_record(cudaEvent_t event, cudaStream_t stream, unsigned flags);
/* Behind all the work of the current device; a capture there is invalidated. */
TFSIM_API cudaError_t tfsim_event_record_device(cudaEvent_t event);
/* All streams that the current device has by now. */
TFSIM_API cudaError_t tfsim_device_wait(cudaEvent_t event);
TFSIM_API cudaError_t tfsim_event_query(cudaEvent_t event);
TFSIM_API cudaError_t tfsim_event_synchronize(cudaEvent_t event);
TFSIM_API cudaError_t tfsim_event_elapsed(float *out_ms, cudaEvent_t start, cudaEvent_t end);

/* Kernels: a function is a name; handles serve as cudaKernel_t, cudaFunction_t, CUfunction. */
struct tfsim_function;
struct tfsim_module;
/* The function of this mangled name, made on first use; lives for ever. NULL without memory. */
TFSIM_API struct tfsim_function *tfsim_function_intern(const char *name);
/* NULL unless the pointer is such a handle. */
TFSIM_API struct tfsim_function *tfsim_function_check(const void *handle);
TFSIM_API const char *tfsim_function_name(const struct tfsim_function *function);
/* False when there is no such parameter, or the layout is not known. */
TFSIM_API bool tfsim_function_param(
	struct tfsim_function *function, size_t index, size_t *out_offset, size_t *out_size);
/* PTX text, a cubin or a fat binary, wrapped or not: read for its kernels and their parameters. An
 * image that is none of these has no list of names. NULL without memory. */
TFSIM_API struct tfsim_module *tfsim_module_load(const void *image);
TFSIM_API cudaError_t tfsim_module_load_file(const char *path, struct tfsim_module **out_module);
TFSIM_API void tfsim_module_unload(struct tfsim_module *module);
/* For an image without a list every name is found. */
TFSIM_API struct tfsim_function *tfsim_module_function(
	struct tfsim_module *module, const char *name);
/* Up to room of the module's functions; returns how many there are. */
TFSIM_API unsigned tfsim_module_functions(
	const struct tfsim_module *module, struct tfsim_function **out_functions, unsigned room);
/* The initial value of a variable, which lives as long as the module. NULL: none, or not known. */
TFSIM_API const void *tfsim_module_value(
	const struct tfsim_module *module, const char *name, size_t *out_size);
/* The largest dynamic shared memory launches may ask for. */
TFSIM_API cudaError_t tfsim_function_shared(struct tfsim_function *function, int bytes);
TFSIM_API cudaError_t tfsim_launch(struct tfsim_function *function, dim3 grid, dim3 block,
	size_t shared_bytes, cudaStream_t stream, void **args);

/* Capture and graphs. */
TFSIM_API cudaError_t tfsim_capture_begin(cudaStream_t stream, enum cudaStreamCaptureMode mode);
TFSIM_API cudaError_t tfsim_capture_end(cudaStream_t stream, cudaGraph_t *out_graph);
TFSIM_API cudaError_t tfsim_user_create(
	cudaUserObject_t *out, void *data, void (*destroy)(void *), unsigned refs);
/* `move`: the caller's reference becomes the graph's. */
TFSIM_API cudaError_t tfsim_graph_retain(cudaGraph_t graph, cudaUserObject_t user, bool move);
/* The graph that is being made; NULL: none. */
TFSIM_API cudaGraph_t tfsim_capture_graph(cudaStream_t stream);
TFSIM_API cudaError_t tfsim_capture_status(
	cudaStream_t stream, enum cudaStreamCaptureStatus *out_status, unsigned long long *out_id);
TFSIM_API enum cudaStreamCaptureMode tfsim_capture_mode(enum cudaStreamCaptureMode mode);
/* Called before a "potentially unsafe" call: 900 and an invalidated capture when it is barred. */
TFSIM_API cudaError_t tfsim_capture_unsafe(void);
TFSIM_API cudaError_t tfsim_capture_begin_into(cudaStream_t stream, enum cudaStreamCaptureMode mode,
	cudaGraph_t graph, const cudaGraphNode_t *deps, unsigned dep_count);
/* The graph and the nodes that the next one will depend on; the list lives until the next call. */
TFSIM_API void tfsim_capture_place(cudaStream_t stream, cudaGraph_t *out_graph,
	const cudaGraphNode_t **out_deps, size_t *out_count);
/* Replaces those nodes, or adds to them. */
TFSIM_API cudaError_t tfsim_capture_depend(
	cudaStream_t stream, const cudaGraphNode_t *deps, unsigned dep_count, bool replace);
TFSIM_API cudaError_t tfsim_graph_instantiate(
	cudaGraphExec_t *out_exec, cudaGraph_t graph, unsigned long long flags);
TFSIM_API cudaError_t tfsim_graph_launch(cudaGraphExec_t exec, cudaStream_t stream);
TFSIM_API cudaError_t tfsim_graph_destroy(cudaGraph_t graph);
TFSIM_API cudaError_t tfsim_graph_exec_destroy(cudaGraphExec_t exec);

#endif

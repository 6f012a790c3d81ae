/* SPDX-License-Identifier: MIT */
/* A thread of the name and kind in which PyTorch runs backward passes, for python_backward.py. */
#include <cuda_runtime_api.h>
#include <thread>

namespace torch::autograd {
struct Engine {
	void thread_main(void *target, const void *source, int count);
};

__attribute__((noinline, visibility("default"))) void Engine::thread_main(
	void *target, const void *source, int count)
{
	for (int i = 0; i < count; i++)
		cudaMemcpy(target, source, 4096, cudaMemcpyHostToDevice);
	asm volatile("");
}
}

extern "C" __attribute__((visibility("default"))) void engine_run(
	void *target, const void *source, int count)
{
	torch::autograd::Engine engine;

	std::thread(&torch::autograd::Engine::thread_main, &engine, target, source, count).join();
}

extern "C" __attribute__((visibility("default"))) void engine_other(void *target, int count)
{
	std::thread([=] {
		for (int i = 0; i < count; i++)
			cudaMemset(target, 0, 4096);
	}).join();
}

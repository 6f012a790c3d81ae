/* SPDX-License-Identifier: MIT */
/* Copies of boxes: rows and slices of them lie where pitch, height and position say. With an
 * argument, what only the simulated device refuses. */
#include "sim_gate.h"

#define WIDTH 5u
#define HEIGHT 3u
#define DEPTH 2u
#define ROOM ((size_t)4096)

static unsigned char host[ROOM], back[ROOM];
static unsigned char *device;

static struct cudaMemcpy3DParms box(
	void *from, size_t from_pitch, void *to, size_t to_pitch, enum cudaMemcpyKind kind)
{
	return (struct cudaMemcpy3DParms){
		.srcPtr = {from, from_pitch, WIDTH, HEIGHT},
		.dstPtr = {to, to_pitch, WIDTH, HEIGHT},
		.extent = {WIDTH, HEIGHT, DEPTH},
		.kind = kind,
	};
}

/* Out at one place and pitch, back to another: each byte of the box, and none beside it. */
static void check_place(void)
{
	struct cudaMemcpy3DParms up = box(host, 11, device, 16, cudaMemcpyHostToDevice);
	struct cudaMemcpy3DParms down = box(device, 16, back, 7, cudaMemcpyDeviceToHost);
	size_t wrong = 0, outside = ROOM;

	up.srcPos = (struct cudaPos){2, 0, 1};
	up.dstPos = (struct cudaPos){1, 0, 2};
	down.srcPos = up.dstPos;
	down.dstPos = (struct cudaPos){2, 0, 1};
	for (size_t i = 0; i < ROOM; i++)
		host[i] = (unsigned char)(1 + i % 251);
	memset(back, 0, ROOM);
	OK(cudaMemcpy3D(&up));
	OK(cudaMemcpy3D(&down));
	for (size_t z = 0; z < DEPTH; z++)
		for (size_t y = 0; y < HEIGHT; y++)
			for (size_t x = 0; x < WIDTH; x++, outside--)
				wrong += back[2 + x + (y + (z + 1) * HEIGHT) * 7] !=
					 host[2 + x + (y + (z + 1) * HEIGHT) * 11];
	TEST_EQ(wrong, 0);
	for (size_t i = 0; i < ROOM; i++)
		outside -= back[i] == 0;
	TEST_EQ(outside, 0);
}

/* One slice asks for no height. */
static void check_slice(void)
{
	struct cudaMemcpy3DParms up = box(host, WIDTH, device, WIDTH, cudaMemcpyHostToDevice);
	struct cudaMemcpy3DParms down = box(device, WIDTH, back, WIDTH, cudaMemcpyDeviceToHost);

	up.extent.depth = down.extent.depth = 1;
	up.srcPtr.ysize = down.dstPtr.ysize = 9;
	memset(back, 0, ROOM);
	OK(cudaMemcpy3D(&up));
	OK(cudaMemcpy3D(&down));
	TEST_EQ(memcmp(back, host, (size_t)WIDTH * HEIGHT), 0);
	TEST_EQ(wrong_bytes(back + WIDTH * HEIGHT, 0, ROOM - WIDTH * HEIGHT), 0);
}

/* Slices with a gap between them, rather than copied wrongly. */
static void check_refused(void)
{
	struct cudaMemcpy3DParms up = box(host, WIDTH, device, WIDTH, cudaMemcpyHostToDevice);

	up.srcPtr.ysize = HEIGHT + 1;
	TEST_EQ(cudaMemcpy3D(&up), cudaErrorNotSupported);
	TEST_EQ(cudaGetLastError(), cudaErrorNotSupported);
	up.srcPtr.ysize = HEIGHT;
	up.dstPtr.ysize = HEIGHT + 1;
	TEST_EQ(cudaMemcpy3D(&up), cudaErrorNotSupported);
	TEST_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (no_device())
		return test_skip("no device");
	OK(cudaMalloc((void **)&device, ROOM));
	check_place();
	check_slice();
	if (argc > 1)
		check_refused();
	OK(cudaFree(device));
	return test_result();
}

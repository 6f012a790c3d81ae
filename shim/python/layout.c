/* SPDX-License-Identifier: MIT */
#include "shim/python/layout.h"

#include <stddef.h>
#include <string.h>

#define VERSION(minor) (3u << 8 | (minor))

static const struct tfs_python_layout layouts[] = {
	{
		.version = VERSION(9),
		.finalizing = 16,
		.thread = {.id = 176, .frame = 24},
		.frame = {.code = 32, .previous = 24, .instruction = 104},
		.scale = 1,
		.code = {.file = 104, .name = 112, .first_line = 40, .table = 120},
		.text = {.state = 32, .ascii = 48, .compact = 72},
		.lines = TFS_PYTHON_LNOTAB,
	},
	{
		.version = VERSION(10),
		.finalizing = 16,
		.thread = {.id = 176, .frame = 24},
		.frame = {.code = 32, .previous = 24, .instruction = 96},
		.scale = 2,
		.code = {.file = 104, .name = 112, .first_line = 40, .table = 120},
		.text = {.state = 32, .ascii = 48, .compact = 72},
		.lines = TFS_PYTHON_RANGES,
	},
	{
		.version = VERSION(11),
		.finalizing = 24,
		.thread = {.id = 152, .frame = 56},
		.holds = true,
		.held = 8,
		.owner = 69,
		.frame = {.code = 32, .previous = 48, .instruction = 56},
		.code = {.file = 112,
			.name = 128,
			.first_line = 72,
			.table = 136,
			.instructions = 184},
		.text = {.state = 32, .ascii = 48, .compact = 72},
		.lines = TFS_PYTHON_LOCATIONS,
	},
	{
		.version = VERSION(12),
		.finalizing = 24,
		.thread = {.id = 136, .frame = 56},
		.holds = true,
		.owner = 70,
		.frame = {.code = 0, .previous = 8, .instruction = 56},
		.code = {.file = 112,
			.name = 128,
			.first_line = 68,
			.table = 136,
			.stamp = 92,
			.instructions = 192},
		.text = {.state = 32, .ascii = 40, .compact = 56},
		.lines = TFS_PYTHON_LOCATIONS,
	},
};

/* _Py_DebugOffsets of 3.13, as far as it is read. */
struct debug_offsets {
	char cookie[8];
	uint64_t version;
	uint64_t free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime;
	uint64_t interpreter[13];
	struct {
		uint64_t size, previous, next, interpreter, current_frame, thread_id;
		uint64_t native_thread_id, datastack_chunk, status;
	} thread;
	struct {
		uint64_t size, previous, executable, instruction, locals, owner;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno;
		uint64_t argcount, localsplusnames, localspluskinds, co_code_adaptive;
	} code;
	uint64_t others[23]; /* objects, types, tuples, lists, dictionaries, numbers, bytes */
	struct {
		uint64_t size, state, length, ascii_size;
	} text;
};

/* The string's two sizes and the code object's stamp are not in the table: 3.13's headers. */
static bool stated(const struct debug_offsets *from, struct tfs_python_layout *out)
{
	if (memcmp(from->cookie, "xdebugpy", sizeof(from->cookie)) != 0 ||
		from->version >> 16 != VERSION(13) || from->free_threaded != 0)
		return false;
	*out = (struct tfs_python_layout){
		.version = VERSION(13),
		.finalizing = (uint32_t)from->runtime.finalizing,
		.thread = {.id = (uint16_t)from->thread.thread_id,
			.frame = (uint16_t)from->thread.current_frame},
		.owner = (uint16_t)from->frame.owner,
		.frame = {.code = (uint16_t)from->frame.executable,
			.previous = (uint16_t)from->frame.previous,
			.instruction = (uint16_t)from->frame.instruction},
		.code = {.file = (uint16_t)from->code.filename,
			.name = (uint16_t)from->code.qualname,
			.first_line = (uint16_t)from->code.firstlineno,
			.table = (uint16_t)from->code.linetable,
			.stamp = (uint16_t)(from->code.firstlineno + 24),
			.instructions = (uint16_t)from->code.co_code_adaptive},
		.text = {.state = (uint16_t)from->text.state,
			.ascii = (uint16_t)from->text.ascii_size,
			.compact = (uint16_t)(from->text.ascii_size + 16)},
		.lines = TFS_PYTHON_LOCATIONS,
	};
	return true;
}

static bool find(
	uint32_t version, const void *runtime, uint64_t bytes, struct tfs_python_layout *out)
{
	const size_t known = sizeof(layouts) / sizeof(layouts[0]);

	if (version >> 16 == VERSION(13))
		return bytes >= sizeof(struct debug_offsets) && stated(runtime, out);
	for (size_t i = 0; i < known; i++)
		if (layouts[i].version == version >> 16) {
			*out = layouts[i];
			return true;
		}
	return false;
}

static uint16_t later(uint16_t one, uint16_t other)
{
	return one > other ? one : other;
}

bool tfs_python_layout(
	uint32_t version, const void *runtime, uint64_t bytes, struct tfs_python_layout *out)
{
	if (!find(version, runtime, bytes, out))
		return false;
	out->frame.bytes =
		(uint16_t)(sizeof(uint64_t) + later(later(out->frame.code, out->frame.previous),
						      later(out->frame.instruction, out->owner)));
	return true;
}

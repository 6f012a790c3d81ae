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

/* _Py_DebugOffsets begins with a word of letters, Py_Version, and whether there is no global lock.
 * Words of offsets follow; which of them says what depends on the version. */
struct debug_offsets {
	char cookie[8];
	uint64_t version;
	uint64_t free_threaded;
	uint64_t words[];
};

struct stated {
	uint32_t version;
	uint8_t finalizing;
	uint8_t thread_frame, thread_id;
	uint8_t previous, executable, instruction, owner;
	uint8_t file, name, table, first_line, instructions;
	uint8_t text_state, text_ascii;
};

static const struct stated all_stated[] = {
	{
		.version = VERSION(13),
		.finalizing = 1,
		.thread_frame = 20,
		.thread_id = 21,
		.previous = 26,
		.executable = 27,
		.instruction = 28,
		.owner = 30,
		.file = 32,
		.name = 34,
		.table = 35,
		.first_line = 36,
		.instructions = 40,
		.text_state = 65,
		.text_ascii = 67,
	},
	{
		.version = VERSION(14),
		.finalizing = 1,
		.thread_frame = 23,
		.thread_id = 24,
		.previous = 29,
		.executable = 30,
		.instruction = 31,
		.owner = 33,
		.file = 37,
		.name = 39,
		.table = 40,
		.first_line = 41,
		.instructions = 45,
		.text_state = 75,
		.text_ascii = 77,
	},
};

/* A string of other characters than ASCII is larger by so much, and a code object's stamp comes so
 * long after its first line: these are not stated. */
#define COMPACT 16u
#define STAMP 24u

static void take(const struct stated *where, const uint64_t *words, struct tfs_python_layout *out)
{
	*out = (struct tfs_python_layout){
		.version = where->version,
		.finalizing = (uint32_t)words[where->finalizing],
		.thread = {.id = (uint16_t)words[where->thread_id],
			.frame = (uint16_t)words[where->thread_frame]},
		.owner = (uint16_t)words[where->owner],
		.frame = {.code = (uint16_t)words[where->executable],
			.previous = (uint16_t)words[where->previous],
			.instruction = (uint16_t)words[where->instruction]},
		.code = {.file = (uint16_t)words[where->file],
			.name = (uint16_t)words[where->name],
			.first_line = (uint16_t)words[where->first_line],
			.table = (uint16_t)words[where->table],
			.stamp = (uint16_t)(words[where->first_line] + STAMP),
			.instructions = (uint16_t)words[where->instructions]},
		.text = {.state = (uint16_t)words[where->text_state],
			.ascii = (uint16_t)words[where->text_ascii],
			.compact = (uint16_t)(words[where->text_ascii] + COMPACT)},
		.lines = TFS_PYTHON_LOCATIONS,
	};
}

/* Does the interpreter state its layout, and is that known to be all there is to know? Without the
 * global lock, threads have copies of the code, and references are counted elsewhere. */
static bool find_stated(
	uint32_t version, const void *runtime, uint64_t bytes, struct tfs_python_layout *out)
{
	const struct debug_offsets *from = runtime;

	for (size_t i = 0; i < sizeof(all_stated) / sizeof(all_stated[0]); i++) {
		const struct stated *where = &all_stated[i];

		if (where->version != version >> 16)
			continue;
		if (bytes < sizeof(*from) + (where->text_ascii + 1u) * sizeof(uint64_t) ||
			memcmp(from->cookie, "xdebugpy", sizeof(from->cookie)) != 0 ||
			from->version >> 16 != where->version || from->free_threaded != 0)
			return false;
		take(where, from->words, out);
		return true;
	}
	return false;
}

static bool find(
	uint32_t version, const void *runtime, uint64_t bytes, struct tfs_python_layout *out)
{
	const size_t known = sizeof(layouts) / sizeof(layouts[0]);

	for (size_t i = 0; i < known; i++)
		if (layouts[i].version == version >> 16) {
			*out = layouts[i];
			return true;
		}
	return find_stated(version, runtime, bytes, out);
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
	const uint32_t bytes_of_frame =
		sizeof(uint64_t) + later(later(out->frame.code, out->frame.previous),
					   later(out->frame.instruction, out->owner));
	out->frame.bytes = (uint16_t)bytes_of_frame;
	return bytes_of_frame <= TFS_PYTHON_FRAME_BYTES;
}

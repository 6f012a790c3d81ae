/* SPDX-License-Identifier: MIT */
#include "reports/formats/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/formats/utf8.h"

void tfs_json_init(struct tfs_json *json, FILE *out, bool for_html)
{
	memset(json, 0, sizeof(*json));
	json->out = out;
	json->for_html = for_html;
	json->compact = for_html;
}

static void break_line(const struct tfs_json *json)
{
	if (json->compact)
		return;
	fputc('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

static void write_text(const struct tfs_json *json, const char *text)
{
	fputc('"', json->out);
	while (*text) {
		uint32_t code;
		unsigned length = tfs_utf8_next(text, &code);
		const bool high = code > 0xffff;
		bool escape = code < 0x20 || code == 0x7f || code == '"' || code == '\\';
		if (tfs_utf8_hides(code))
			escape = true;
		if (json->for_html && (code == '<' || code == '>' || code == '&'))
			escape = true;
		if (code == 0xfffd)
			fputs("\xef\xbf\xbd", json->out);
		else if (code == '"' || code == '\\')
			fprintf(json->out, "\\%c", (char)code);
		else if (escape && high)
			fprintf(json->out, "\\u%04" PRIx32 "\\u%04" PRIx32,
				0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
		else if (escape)
			fprintf(json->out, "\\u%04" PRIx32, code);
		else
			fwrite(text, 1, length, json->out);
		text += length;
	}
	fputc('"', json->out);
}

static void begin(struct tfs_json *json, const char *key)
{
	if (json->filled[json->depth])
		fputc(',', json->out);
	if (json->depth)
		break_line(json);
	json->filled[json->depth] = true;
	if (!key)
		return;
	write_text(json, key);
	fputs(json->compact ? ":" : ": ", json->out);
}

void tfs_json_open(struct tfs_json *json, const char *key, char bracket)
{
	begin(json, key);
	fputc(bracket, json->out);
	if (json->depth + 1 < TFS_JSON_DEPTH)
		json->depth++;
	json->filled[json->depth] = false;
}

void tfs_json_close(struct tfs_json *json, char bracket)
{
	bool filled = json->filled[json->depth];
	if (json->depth)
		json->depth--;
	if (filled)
		break_line(json);
	fputc(bracket, json->out);
	if (!json->depth && !json->compact)
		fputc('\n', json->out);
}

void tfs_json_string(struct tfs_json *json, const char *key, const char *value)
{
	if (!value) {
		tfs_json_null(json, key);
		return;
	}
	begin(json, key);
	write_text(json, value);
}

void tfs_json_unsigned(struct tfs_json *json, const char *key, uint64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void tfs_json_number(struct tfs_json *json, const char *key, double value)
{
	if (!isfinite(value)) {
		tfs_json_null(json, key);
		return;
	}
	begin(json, key);
	/* Six digits after the point are below what any clock here resolves. */
	if (fabs(value) < 1e15 && value == floor(value))
		fprintf(json->out, "%.0f", value == 0 ? 0.0 : value);
	else
		fprintf(json->out, "%.9g", value);
}

void tfs_json_bool(struct tfs_json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

void tfs_json_null(struct tfs_json *json, const char *key)
{
	begin(json, key);
	fputs("null", json->out);
}

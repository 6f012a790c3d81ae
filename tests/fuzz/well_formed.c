/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/well_formed.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MOST_DEPTH 256u
#define MOST_KEYS 4096u

/* Written apart from reports/formats/utf8.c, so that both have to be wrong. */
static int sequence(const unsigned char *bytes, size_t left, uint32_t *out_code)
{
	static const struct {
		unsigned char mask, lead, value;
		uint32_t least;
	} forms[] = {{0x80, 0, 0x7f, 0}, {0xe0, 0xc0, 0x1f, 0x80}, {0xf0, 0xe0, 0x0f, 0x800},
		{0xf8, 0xf0, 0x07, 0x10000}};

	for (int i = 0; i < 4; i++) {
		if ((bytes[0] & forms[i].mask) != forms[i].lead)
			continue;
		uint32_t code = bytes[0] & forms[i].value;

		if ((size_t)i >= left)
			return 0;
		for (int j = 1; j <= i; j++) {
			if ((bytes[j] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (bytes[j] & 0x3f);
		}
		*out_code = code;
		return code >= forms[i].least && code <= 0x10ffff && (code & 0xfffff800) != 0xd800
			       ? i + 1
			       : 0;
	}
	return 0;
}

static bool obeyed(uint32_t code)
{
	return (code >= 0x7f && code < 0xa0) || code == 0x61c || (code & ~1u) == 0x200e ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff || (code >= 0x200b && code <= 0x200d) ||
	       (code >= 0xe0000 && code <= 0xe007f);
}

const char *well_formed_text(const char *text, size_t size, int tabs, size_t *out_at)
{
	uint32_t code;

	for (size_t i = 0; i < size;) {
		const int length = sequence((const unsigned char *)text + i, size - i, &code);

		*out_at = i;
		if (!length)
			return "no UTF-8";
		if (code < 0x20 && code != '\n' && !(tabs && code == '\t'))
			return "a control character";
		if (obeyed(code))
			return "a character that reorders text, or that nobody sees";
		i += (size_t)length;
	}
	return NULL;
}

struct json {
	const char *at;
	const char *wrong;
	struct {
		const char *text;
		size_t length;
	} keys[MOST_KEYS];
	size_t key_count;
	unsigned depth;
};

static void blank(struct json *json)
{
	json->at += strspn(json->at, " \n");
}

static bool string(struct json *json)
{
	const char *at = json->at;

	if (*at++ != '"') {
		json->wrong = "no string";
		return false;
	}
	for (; *at != '"'; at++) {
		json->at = at;
		if ((unsigned char)*at < 0x20) {
			json->wrong = "a control character in a string";
			return false;
		}
		if (*at != '\\')
			continue;
		at++;
		if (*at == 'u' && strspn(at + 1, "0123456789abcdefABCDEF") >= 4)
			at += 4;
		else if (!*at || !strchr("\"\\/bfnrt", *at)) {
			json->wrong = "an escape that is none";
			return false;
		}
	}
	json->at = at + 1;
	return true;
}

static bool number(struct json *json)
{
	static const char digits[] = "0123456789";
	const char *at = json->at;

	at += *at == '-';
	const size_t whole = strspn(at, digits);

	json->wrong = !whole || (whole > 1 && *at == '0') ? "no number" : NULL;
	at += whole;
	if (*at == '.') {
		if (!strspn(at + 1, digits))
			json->wrong = "a point without digits";
		at += 1 + strspn(at + 1, digits);
	}
	if (*at == 'e' || *at == 'E') {
		at += 1 + (at[1] == '+' || at[1] == '-');
		if (!strspn(at, digits))
			json->wrong = "an exponent without digits";
		at += strspn(at, digits);
	}
	json->at = at;
	return !json->wrong;
}

static bool value(struct json *json);

static bool key(struct json *json, size_t first)
{
	const char *start = json->at;

	if (!string(json))
		return false;
	const size_t length = (size_t)(json->at - start);

	for (size_t i = first; i < json->key_count; i++)
		if (json->keys[i].length == length && !memcmp(json->keys[i].text, start, length)) {
			json->wrong = "a key twice in an object";
			return false;
		}
	if (json->key_count < MOST_KEYS) {
		json->keys[json->key_count].text = start;
		json->keys[json->key_count++].length = length;
	}
	blank(json);
	if (*json->at != ':') {
		json->wrong = "no colon behind a key";
		return false;
	}
	json->at++;
	return true;
}

static bool members(struct json *json, char end)
{
	const size_t first = json->key_count;
	bool more = true;

	json->at++;
	blank(json);
	if (*json->at == end) {
		json->at++;
		return true;
	}
	while (more) {
		blank(json);
		if ((end == '}' && !key(json, first)) || !value(json))
			return false;
		blank(json);
		more = *json->at == ',';
		if (!more && *json->at != end) {
			json->wrong = "neither a comma nor an end";
			return false;
		}
		json->at++;
	}
	json->key_count = first;
	return true;
}

static bool value(struct json *json)
{
	static const char *const words[] = {"true", "false", "null"};
	bool right;

	blank(json);
	for (unsigned i = 0; i < 3; i++) {
		if (!strncmp(json->at, words[i], strlen(words[i]))) {
			json->at += strlen(words[i]);
			return true;
		}
	}
	if (*json->at == '"')
		return string(json);
	if (*json->at != '{' && *json->at != '[')
		return number(json);
	if (json->depth++ == MOST_DEPTH) {
		json->wrong = "nested too deep";
		return false;
	}
	right = members(json, *json->at == '{' ? '}' : ']');
	json->depth--;
	return right;
}

const char *well_formed_json(const char *text, size_t size, size_t *out_at)
{
	static struct json json;

	json.at = text;
	json.wrong = NULL;
	json.key_count = json.depth = 0;
	if (value(&json)) {
		blank(&json);
		if (json.at != text + size)
			json.wrong = "something behind the end";
	}
	*out_at = (size_t)(json.at - text);
	return json.wrong;
}

struct html {
	const char *at;
	struct {
		const char *name;
		size_t length;
	} open[MOST_DEPTH];
	unsigned depth;
	unsigned scripts;
};

static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:_";

static bool is_name(const char *name, size_t length, const char *list)
{
	for (const char *word = list; *word; word += strcspn(word, " ") + 1)
		if (strcspn(word, " ") == length && !memcmp(word, name, length))
			return true;
	return false;
}

/* Text up to `end`: only references that exist. */
static const char *run_of_text(struct html *html, char end)
{
	for (; *html->at && *html->at != end; html->at++) {
		if (*html->at == '<' || (*html->at == '>' && end != '<'))
			return "a bracket in an attribute";
		if (*html->at != '&')
			continue;
		const size_t length = strcspn(html->at + 1, "; <\"");

		if (html->at[1 + length] != ';' ||
			!(html->at[1] == '#' ||
				is_name(html->at + 1, length, "lt gt amp quot nbsp ")))
			return "an ampersand that is no reference";
	}
	return NULL;
}

static const char *attributes(struct html *html)
{
	const char *seen[16];
	size_t lengths[16], count = 0;

	while (*html->at && *html->at != '>' && *html->at != '/') {
		html->at += strspn(html->at, " \n");
		const size_t length = strspn(html->at, names);

		if (!length)
			break;
		for (size_t i = 0; i < count; i++)
			if (lengths[i] == length && !memcmp(seen[i], html->at, length))
				return "an attribute twice";
		if (!strncmp(html->at, "on", 2))
			return "a handler";
		if (count < 16) {
			seen[count] = html->at;
			lengths[count++] = length;
		}
		html->at += length;
		if (*html->at != '=')
			continue;
		if (*++html->at != '"')
			return "an attribute without quotes";
		html->at++;
		const char *wrong = run_of_text(html, '"');

		if (wrong)
			return wrong;
		html->at += *html->at == '"';
	}
	return NULL;
}

static const char *close_element(struct html *html)
{
	const char *name = html->at + 2;
	const size_t length = strspn(name, names);

	if (!html->depth || html->open[html->depth - 1].length != length ||
		memcmp(html->open[html->depth - 1].name, name, length) != 0)
		return "an end that closes something else";
	html->depth--;
	html->at = name + length;
	return NULL;
}

static const char *open_element(struct html *html)
{
	const char *name = ++html->at;
	const size_t length = strspn(name, names);
	const bool raw = is_name(name, length, "script style ");

	html->at += length;
	const char *wrong = length ? attributes(html) : "a bracket that opens nothing";

	if (wrong)
		return wrong;
	if (*html->at == '/') {
		html->at++;
		return NULL;
	}
	if (is_name(name, length, "meta link br img input hr "))
		return NULL;
	if (html->depth == MOST_DEPTH)
		return "nested too deep";
	html->open[html->depth].name = name;
	html->open[html->depth++].length = length;
	html->scripts += is_name(name, length, "script ");
	if (!raw || *html->at != '>')
		return NULL;
	for (html->at++; *html->at && strncmp(html->at, "</", 2); html->at++)
		if (!strncmp(html->at, "<!--", 4))
			return "a comment in a script";
	return *html->at ? close_element(html) : "a script without end";
}

const char *well_formed_html(const char *text, size_t size, unsigned scripts, size_t *out_at)
{
	static const char start[] = "<!DOCTYPE html>";
	struct html html = {.at = text};
	const char *wrong = strncmp(text, start, strlen(start)) != 0 ? "no document type" : NULL;

	if (!wrong)
		html.at += strlen(start);
	while (!wrong && html.at < text + size) {
		wrong = run_of_text(&html, '<');
		if (wrong || !*html.at)
			break;
		wrong = html.at[1] == '/' ? close_element(&html) : open_element(&html);
		if (!wrong && *html.at != '>')
			wrong = "an element without end";
		html.at++;
	}
	if (!wrong && html.at != text + size)
		wrong = "a zero byte";
	if (!wrong && html.depth)
		wrong = "an element that is not closed";
	if (!wrong && html.scripts != scripts)
		wrong = "another number of scripts";
	*out_at = (size_t)(html.at - text);
	return wrong;
}

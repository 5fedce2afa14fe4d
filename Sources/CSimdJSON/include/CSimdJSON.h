// A C interface to simdjson's DOM: parse a text, read its values.
//
// Threads: a parser, and every value it gave, belong to one thread at a time. Lifetime: a value and
// its bytes are valid until the next sj_parse of its parser, or sj_parser_free.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sj_parser sj_parser;

/// A value inside the parsed text.
typedef struct {
  const void *document;
  size_t index;
} sj_value;

/// Goes through the members of an object or the elements of an array.
typedef struct {
  sj_value next, end;
  bool is_object;
} sj_iterator;

typedef enum { SJ_NULL, SJ_BOOL, SJ_INTEGER, SJ_NUMBER, SJ_STRING, SJ_ARRAY, SJ_OBJECT } sj_kind;

/// A parser for texts of at most `max_depth` nested objects and arrays, or NULL without memory.
sj_parser *sj_parser_create(size_t max_depth);
void sj_parser_free(sj_parser *parser);

/// Parses `length` bytes, behind which 64 more must be readable. False where the text is no JSON,
/// or is nested too deeply. A number too large for 64 bits or for a double is legal JSON: it
/// becomes an SJ_NUMBER of ±9e99.
bool sj_parse(sj_parser *parser, const char *bytes, size_t length, sj_value *root);

sj_kind sj_kind_of(sj_value value);

/// The value behind a key (the first, where a key stands twice); false where there is none, or
/// `object` is no object.
bool sj_member(sj_value object, const char *key, size_t key_length, sj_value *out);

/// The content of each kind. For another kind they return false, and 0 or NULL.
bool sj_string(sj_value value, const char **bytes, size_t *length);
/// Whether the value is that string.
bool sj_is_string(sj_value value, const char *bytes, size_t length);
bool sj_integer(sj_value value, int64_t *out);
bool sj_number(sj_value value, double *out);
bool sj_bool(sj_value value, bool *out);

/// The number of members or elements; 0 for any other kind.
size_t sj_count(sj_value container);

/// An iterator at the first member or element; over nothing for any other kind.
sj_iterator sj_iterate(sj_value container);
/// The next element; false at the end. `key` and `key_length` are NULL and 0 for an array.
bool sj_next(sj_iterator *iterator, const char **key, size_t *key_length, sj_value *out);

#ifdef __cplusplus
}
#endif

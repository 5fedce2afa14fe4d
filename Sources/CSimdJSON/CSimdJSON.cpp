#include "CSimdJSON.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <simdjson.h>
#include <string>
#include <string_view>

using namespace simdjson;

struct sj_parser {
  dom::parser parser;
  size_t max_depth;
};

// A dom::element is a pointer and an index and may be copied as bytes; so may the iterators.
static_assert(sizeof(dom::element) == sizeof(sj_value) && std::is_trivially_copyable_v<dom::element>);
static_assert(sizeof(dom::array::iterator) == sizeof(sj_value) && sizeof(dom::object::iterator) == sizeof(sj_value));

template <class To, class From> static To cast(const From &from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void *>(&to), &from, sizeof to);
  return to;
}

static dom::element element(sj_value value) { return cast<dom::element>(value); }

sj_parser *sj_parser_create(size_t max_depth) {
  auto *parser = new (std::nothrow) sj_parser;
  if (parser) parser->max_depth = max_depth;
  return parser;
}

void sj_parser_free(sj_parser *parser) { delete parser; }

static bool digit(char c) { return c >= '0' && c <= '9'; }

/// The length of the JSON number at `at`, or 0 where none stands there (RFC 8259, section 6).
static size_t number_length(const char *at, const char *end) {
  const char *c = at;
  if (c < end && *c == '-') c++;
  if (c == end || !digit(*c)) return 0;
  if (*c == '0') c++;
  else while (c < end && digit(*c)) c++;
  if (c < end && *c == '.') {
    if (++c == end || !digit(*c)) return 0;
    while (c < end && digit(*c)) c++;
  }
  if (c < end && (*c == 'e' || *c == 'E')) {
    if (++c < end && (*c == '+' || *c == '-')) c++;
    if (c == end || !digit(*c)) return 0;
    while (c < end && digit(*c)) c++;
  }
  return c - at;
}

/// Whether simdjson refuses the JSON number at `at`, behind which a NUL stands: more than 18 digits
/// may not fit 64 bits, and a decimal number may be larger than any double.
static bool is_huge(const char *at, size_t length) {
  bool is_integer = std::string_view(at, length).find_first_of(".eE") == std::string_view::npos;
  return is_integer ? length - (*at == '-') > 18 : std::isinf(std::strtod(at, nullptr));
}

/// simdjson refuses numbers that fit neither 64 bits nor a double, though they are JSON. Replaces
/// them by ±9e99, which is never longer and is outside of every member's range as well.
static std::string without_huge_numbers(const char *bytes, size_t length) {
  std::string text(bytes, length);
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') i++;
      else if (c == '"') in_string = false;
      i++;
    } else if (c == '-' || digit(c)) {
      size_t n = number_length(text.data() + i, text.data() + text.size());
      if (n && is_huge(text.data() + i, n)) {
        const char *large = c == '-' ? "-9e99" : "9e99";
        text.replace(i, n, large + std::string(n - strlen(large), ' '));
      }
      i += n ? n : 1;
    } else {
      in_string = c == '"';
      i++;
    }
  }
  return text;
}

/// Whether objects and arrays are nested deeper than the parser takes. simdjson itself accepts an
/// empty one a level deeper.
static bool is_too_deep(const sj_parser *parser) {
  const uint64_t *word = parser->parser.doc.tape.get();
  const uint64_t *end = word + (*word & internal::JSON_VALUE_MASK);
  size_t depth = 0;
  for (word++; word < end; word++) {
    switch (static_cast<internal::tape_type>(*word >> 56)) {
    case internal::tape_type::START_ARRAY:
    case internal::tape_type::START_OBJECT:
      if (++depth > parser->max_depth) return true;
      break;
    case internal::tape_type::END_ARRAY:
    case internal::tape_type::END_OBJECT: depth--; break;
    // The number stands in a word of its own.
    case internal::tape_type::INT64:
    case internal::tape_type::UINT64:
    case internal::tape_type::DOUBLE: word++; break;
    default: break;
    }
  }
  return false;
}

bool sj_parse(sj_parser *parser, const char *bytes, size_t length, sj_value *root) {
  // simdjson counts the level that may not be entered.
  size_t forbidden_depth = parser->max_depth + 1;
  if (parser->parser.max_depth() != forbidden_depth || parser->parser.capacity() < length) {
    if (parser->parser.allocate(length < 4096 ? 4096 : length, forbidden_depth)) return false;
  }
  auto result = parser->parser.parse(reinterpret_cast<const uint8_t *>(bytes), length, false);
  if (result.error() == NUMBER_ERROR) {
    padded_string text(without_huge_numbers(bytes, length));
    result = parser->parser.parse(text);
  }
  dom::element parsed;
  if (result.get(parsed) || is_too_deep(parser)) return false;
  *root = cast<sj_value>(parsed);
  return true;
}

sj_kind sj_kind_of(sj_value value) {
  switch (element(value).type()) {
  case dom::element_type::BOOL: return SJ_BOOL;
  case dom::element_type::INT64: return SJ_INTEGER;
  case dom::element_type::UINT64:
  case dom::element_type::DOUBLE: return SJ_NUMBER;
  case dom::element_type::STRING: return SJ_STRING;
  case dom::element_type::ARRAY: return SJ_ARRAY;
  case dom::element_type::OBJECT: return SJ_OBJECT;
  case dom::element_type::NULL_VALUE: break;
  }
  return SJ_NULL;
}

bool sj_member(sj_value object, const char *key, size_t key_length, sj_value *out) {
  dom::object members;
  dom::element found;
  if (element(object).get(members) || members.at_key({key, key_length}).get(found)) return false;
  *out = cast<sj_value>(found);
  return true;
}

bool sj_string(sj_value value, const char **bytes, size_t *length) {
  std::string_view text;
  bool is_string = !element(value).get(text);
  *bytes = is_string ? text.data() : nullptr;
  *length = is_string ? text.size() : 0;
  return is_string;
}

bool sj_is_string(sj_value value, const char *bytes, size_t length) {
  std::string_view text;
  return !element(value).get(text) && text == std::string_view(bytes, length);
}

bool sj_integer(sj_value value, int64_t *out) {
  if (sj_kind_of(value) != SJ_INTEGER) return *out = 0, false;
  return !element(value).get(*out);
}

bool sj_number(sj_value value, double *out) {
  *out = 0;
  return !element(value).get(*out);
}

bool sj_bool(sj_value value, bool *out) {
  *out = false;
  return !element(value).get(*out);
}

size_t sj_count(sj_value container) {
  dom::array elements;
  dom::object members;
  if (!element(container).get(elements)) return elements.size();
  if (!element(container).get(members)) return members.size();
  return 0;
}

sj_iterator sj_iterate(sj_value container) {
  dom::array elements;
  dom::object members;
  if (!element(container).get(elements)) return {cast<sj_value>(elements.begin()), cast<sj_value>(elements.end()), false};
  if (!element(container).get(members)) return {cast<sj_value>(members.begin()), cast<sj_value>(members.end()), true};
  return {container, container, false};
}

bool sj_next(sj_iterator *iterator, const char **key, size_t *key_length, sj_value *out) {
  *key = nullptr;
  *key_length = 0;
  if (iterator->next.index == iterator->end.index) return false;
  if (iterator->is_object) {
    auto at = cast<dom::object::iterator>(iterator->next);
    *key = at.key().data();
    *key_length = at.key().size();
    *out = cast<sj_value>(at.value());
    iterator->next = cast<sj_value>(++at);
  } else {
    auto at = cast<dom::array::iterator>(iterator->next);
    *out = cast<sj_value>(*at);
    iterator->next = cast<sj_value>(++at);
  }
  return true;
}

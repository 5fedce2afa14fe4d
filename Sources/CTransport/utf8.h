#pragma once

#include "base.h"

// Checks the part of a text that has come: false where it cannot be the start of UTF-8. whole: the
// bytes of its complete characters.
bool utf8_check(const uint8_t *text, size_t count, size_t *whole);

// The library's first error line on this thread since it was cleared; may be empty.

#pragma once

#include "base.h"

void process_clear_error(void);
const char *process_first_error(void);

// The system's SQLite for ThrongClient on Linux (libsqlite3-dev). Systems of Apple have a module of it.
#pragma once
#include <sqlite3.h>

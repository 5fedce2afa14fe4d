// Settings of SQLite that Swift cannot call: sqlite3_config has a variable number of arguments.
#pragma once

/// Turns off SQLite's statistics of memory, which take a lock and count at each allocation. Call it
/// before the process opens a database; later it does nothing.
void cs_disable_memory_statistics(void);

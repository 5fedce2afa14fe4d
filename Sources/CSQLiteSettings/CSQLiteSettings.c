#include "CSQLiteSettings.h"

#include <sqlite3.h>

void cs_disable_memory_statistics(void) {
  // SQLITE_MISUSE: a database is open, and the statistics stay, which costs time alone.
  (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

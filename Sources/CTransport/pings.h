// Pings, and what follows when a peer gives no sign of life.

#pragma once

#include "connection.h"

void pings_init(connections *all);
void pings_start(connection *c);

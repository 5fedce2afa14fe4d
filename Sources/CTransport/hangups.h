// Clients that hung up: the library closes a few of them per turn.

#pragma once

#include "connection.h"

typedef struct hangups hangups;

hangups *hangups_create(connections *all);
void hangups_free(hangups *h);
// How many connections the library may close in a turn.
int closes_per_turn(const connections *all);
void hangups_watch(hangups *h, const connection *c);  // until its socket is closed
// Counts a closed connection. Beyond a number per turn, clients that hung up wait for later turns.
void hangups_count(hangups *h);
// Begins a turn with a few of those that wait. Returns whether there are more.
bool hangups_resume(hangups *h);

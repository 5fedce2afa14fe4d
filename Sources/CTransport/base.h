// Below every header of this folder. Everything belongs to one loop's thread unless it says otherwise.
//
// The layers, the lowest first. Each idea has a header and a file of its name; some need only one of
// the two. A file includes its own header and those of lower layers, so no call goes upward:
// a lower layer tells a higher one by a function that it was given. Scripts/check reads this list.
//
//   base
//   bytes refusal offer process tls statistics utf8 first_bytes proxy_header
//   slots frame event_frame wheel inflate other_fields tls_output
//   head mask connection
//   sockets hangups fanout
//   stream cooldown
//   subscription
//   topic
//   closing
//   flush
//   receive pings arrivals event_stream
//   listener http upgrade
//   protocol
//   context
//   loop
//   interface
//
// A struct is in a header for its size, and for the accessors below it, where a delivery may not pay
// for a call. Its fields belong to the files after "Fields:" in the comment on it, or else in that
// on its header; Scripts/check holds the others to the accessors. What no header shows, its file
// alone knows.

#pragma once

#define _GNU_SOURCE
#include "CTransport.h"

# SPDX-License-Identifier: Apache-2.0
"""Times and bounds. What a client takes from a server, whoever runs it, stands in Clients.md, "Bounds"."""

# Waits, in seconds.

# The least delay before the next connection, and the bounds of a random one.
LEAST_BACKOFF = 0.1
FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 20
# A session that lived this long was a good one: the next loss begins with the first delay again.
GOOD_SESSION = 10
CONNECT_TIMEOUT = 20
PING_TIMEOUT = 10
# How long `close` waits for the end of the connection.
CLOSE_TIMEOUT = 2
# How long the token function may take.
TOKEN_TIMEOUT = 30
# A token with less than this left signs nobody in.
LEAST_TOKEN_TIME = 5
# The shortest time from a renewal of the token to the next.
RENEWAL_PAUSE = 10
# A token's `iat` has whole seconds, so that one of the second of a revocation may be refused as well.
REVOCATION_PAUSE = 1
# How long a message is sent again that the server refuses as temporary.
LONGEST_REFUSAL = 120
# How long a message to a live room may wait before it leaves for the first time.
LONGEST_LIVE_WAIT = 120
# A message that waits at the server leaves or is dropped within 1.1 s (Protocol.md, "Waiting messages").
LONGEST_QUEUED = 1.5
# The shortest time from one signal "typing" in a group to the next.
TYPING_PAUSE = 3
# How long the answer to a `POST` of a stream may take: later ones wait for it.
POST_TIMEOUT = 60
# How long the end of a stream waits for an answer that is on its way.
LAST_ANSWER = 10
# Failed WebSockets in a row before a stream is tried; how long streams are left alone that a server does not have.
FAILURES_BEFORE_STREAM = 2
STREAMS_OFF = 600
# The quiet time of a stream before a WebSocket is tried again; it doubles up to the longest.
FIRST_QUIET = 300
LONGEST_QUIET = 3600

# What a client sends.

# Messages under way at the same time; more wait.
WINDOW = 32
# The server takes no longer message (Protocol.md, "Frames").
LARGEST_FRAME = 65_536
GROUPS_PER_SYNC = 50
# A resume looks back so much farther, in milliseconds, because the server's clock may be off.
LOOK_BACK = 60_000
USERS_PER_WATCH = 100
# The requests that one `POST` of a stream holds, and their bytes.
MOST_BATCHED = 20
LARGEST_BATCH = 60_000

# What a client takes.

# What a server may ask for, in seconds.
LONGEST_WAIT = 86_400
LONGEST_HEARTBEAT = 86_400
# A message of the WebSocket: 50 groups of a resume with 100 long messages each. An event is much shorter.
LARGEST_MESSAGE = 1 << 26
LARGEST_EVENT = 1 << 20
MOST_FRAGMENTS = 65_536
DEEPEST_FRAME = 32
LARGEST_NUMBER = 1 << 53
# An ID or epoch: the protocol's longest has 64 bytes.
LONGEST_IDENTIFIER = 256
LONGEST_WORDS = 1024
# The groups of a user; the text that lists them in a resume, and the pages that do.
MOST_GROUPS = 50_000
LARGEST_LIST = 1 << 26
MOST_LIST_PAGES = 1000
# The pages of one group's history in a resume: a million messages. The next one goes on there.
MOST_HISTORY_PAGES = 10_000
# How often a resume asks for a group anew because more events came than may wait.
MOST_REPEATS = 10

# What a client keeps.

# Settled messages that are remembered, so that no history brings them a second time.
REMEMBERED = 1000
# Own messages that failed, which wait for the user.
MOST_FAILED = 100
# Events that wait for the syncs of their groups, and their text; the text of those that wait for one reader.
HELD_LIMIT = 10_000
LARGEST_HELD = 1 << 23
LARGEST_QUEUE = 1 << 25
MOST_LOST_GROUPS = 10_000
# Groups that are not tracked yet: those entered, and those of which the last place is kept.
MOST_NEW_GROUPS = 1000
# Own messages of a group beyond its place.
MOST_OWN_MESSAGES = 1000
# Messages whose changes came before themselves, and changes of each.
MOST_EARLY_CHANGES = 1000
CHANGES_PER_MESSAGE = 10
# Own messages that wait at the server at the same time.
MOST_QUEUED = 100
# Calls of the application that the server has not answered.
MOST_CALLS = 1000
# Users whose status is watched: the most that a server can be set up to allow.
MOST_WATCHED = 10_000
# Groups of which it is remembered when their slow mode lets the user write.
MOST_SLOW_GROUPS = 1000
# Events that wait for the store.
MOST_UNSTORED = 10_000
# Members of a group, and users, that are stored.
MOST_STORED_MEMBERS = 1000
MOST_STORED_PROFILES = 20_000
# The newest messages of a group that are kept where the store is too large.
LEAST_MESSAGES = 20

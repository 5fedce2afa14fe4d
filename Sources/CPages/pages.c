#include "CPages.h"

// A page's files are parts of one text, in this order.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define PAGES_FILE(name) \
  cp_file cp_##name(void) { return (cp_file){name, sizeof name}; }

static const unsigned char demo_html[] = {
#embed "../ThrongServer/Pages/Demo/chat.html"
};
PAGES_FILE(demo_html)

static const unsigned char demo_style[] = {
#embed "../ThrongServer/Pages/Shared/base.css"
  , '\n',
#embed "../ThrongServer/Pages/Demo/chat.css"
};
PAGES_FILE(demo_style)

static const unsigned char demo_script[] = {
#embed "../ThrongServer/Pages/Shared/base.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/client.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/names.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/words.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/drawing.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/timeline.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/groups.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/members.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/presence.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/moderation.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/applications.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/likes.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/stage.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/messages.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/reading.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/changes.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/replies.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/conversations.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/events.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/view.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/keyboard.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/frames.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/identity.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/stored.js"
  , '\n',
#embed "../ThrongServer/Pages/Demo/main.js"
};
PAGES_FILE(demo_script)

static const unsigned char console_html[] = {
#embed "../ThrongServer/Pages/Console/console.html"
};
PAGES_FILE(console_html)

static const unsigned char console_style[] = {
#embed "../ThrongServer/Pages/Shared/base.css"
  , '\n',
#embed "../ThrongServer/Pages/Console/console.css"
};
PAGES_FILE(console_style)

static const unsigned char console_script[] = {
#embed "../ThrongServer/Pages/Shared/base.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/rpc.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/log.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/lists.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/directory.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/group.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/people.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/bans.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/counters.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/pins.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/history.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/search.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/users.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/applications.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/reports.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/webhooks.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/numbers.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/metrics.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/charts.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/nodes.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/overview.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/trace.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/call.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/server.js"
  , '\n',
#embed "../ThrongServer/Pages/Console/start.js"
};
PAGES_FILE(console_script)

static const unsigned char client_script[] = {
#embed "../Clients/js/throng.js"
};
PAGES_FILE(client_script)

static const unsigned char client_types[] = {
#embed "../Clients/js/throng.d.ts"
};
PAGES_FILE(client_types)

static const unsigned char storage_script[] = {
#embed "../Clients/js/throng-storage.js"
};
PAGES_FILE(storage_script)

static const unsigned char storage_types[] = {
#embed "../Clients/js/throng-storage.d.ts"
};
PAGES_FILE(storage_types)

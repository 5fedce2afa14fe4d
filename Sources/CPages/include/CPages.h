#pragma once

#include <stddef.h>

// The pages and the client library that the server serves, which are compiled into it:
// Sources/ThrongServer/Pages and Sources/Clients/js.

// Bytes that live as long as the process.
typedef struct {
  const unsigned char *bytes;
  size_t count;
} cp_file;

// The demo chat: its HTML, and its style and script, which stand in it.
cp_file cp_demo_html(void);
cp_file cp_demo_style(void);
cp_file cp_demo_script(void);
// The same of the administrators' console.
cp_file cp_console_html(void);
cp_file cp_console_style(void);
cp_file cp_console_script(void);
// throng.js and its types in TypeScript.
cp_file cp_client_script(void);
cp_file cp_client_types(void);
// The same of throng-storage.js.
cp_file cp_storage_script(void);
cp_file cp_storage_types(void);

# SPDX-License-Identifier: Apache-2.0
"""A client of Throng for asyncio.

    client = ThrongClient("ws://127.0.0.1:8080/ws", token=fetch_token)
    client.on("onRecvNewMessage", lambda event: print(event["message"]["sender"], event["message"].get("text")))
    await client.connect()
    await client.joinGroup(groupID="hello")
    message = client.send_text("hello", "Hello!")
    print((await message.done).state)

It connects again after a loss, asks for everything that was missed, and sends no message twice, as Protocol.md,
"Reconnecting" describes. Events of the server have its names and parameters; the client's own are `state`, `message`,
`sync`, `ready`, `renewed`, `renewalFailed`, `resumeFailed`, `status`, `watchFailed`, `stored`, `conversation` and
`storageFailed`.

Where no server answers it says so with the logger `throng`, which prints to stderr unless the program has set `logging`
up otherwise: `logging.getLogger("throng").disabled = True` silences it.

As a program:  python -m throng URL TOKEN listen GROUP    |    python -m throng URL TOKEN say GROUP TEXT
"""
from ._generated import CloseCode, ErrorCode
from .client import ThrongClient
from .errors import ClientError, StorageError, ThrongError
from .outbox import Message
from .sqlite_storage import SQLiteStorage
from .storage import MemoryStorage, Storage, StorageLimits

__all__ = [
    "ClientError", "CloseCode", "ErrorCode", "MemoryStorage", "Message", "SQLiteStorage", "Storage", "StorageError", "StorageLimits",
    "ThrongClient", "ThrongError",
]

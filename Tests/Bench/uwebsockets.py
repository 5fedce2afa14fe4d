"""A room over uWebSockets: every text goes to all subscribers, through its shared compressor. Started by peers.py."""
import sys

from socketify import App, AppListenOptions, CompressOptions, OpCode

app = App()


def opened(socket):
    socket.subscribe("room")


def received(_socket, message, _opcode):
    app.publish("room", message, OpCode.TEXT, True)


app.ws("/*", {
    "compression": CompressOptions.SHARED_COMPRESSOR, "max_payload_length": 65_536, "idle_timeout": 120,
    "max_backpressure": 1 << 26, "open": opened, "message": received})
app.listen(AppListenOptions(port=0, host="127.0.0.1"), lambda options: print(f"listening 127.0.0.1:{options.port}", flush=True))
app.run()

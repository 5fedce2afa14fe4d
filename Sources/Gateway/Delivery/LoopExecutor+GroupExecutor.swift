import GroupRuntime
import WebSocketTransport

/// Groups run on the loops, so that a message between a session and a group of one loop needs no hop.
extension LoopExecutor: GroupExecutor {}

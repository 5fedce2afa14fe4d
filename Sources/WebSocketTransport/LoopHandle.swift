import CTransport

/// Owns one C loop. It is freed when the last one who may run something on it has gone.
///
/// @unchecked Sendable: the pointer never changes, and the C functions say which of them any thread may call.
final class LoopHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { ct_loop_destroy(pointer) }

  var isCurrent: Bool { ct_loop_is_current(pointer) }
}

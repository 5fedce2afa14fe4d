import Dispatch
import GroupModel
import Synchronization
import ThrongTestKit

/// Each input is a group's type and a sequence of operations, four bytes each; the model of
/// Tests/GroupRuntimeTests checks their results. An operation does not depend on those before it,
/// so libFuzzer can drop, copy and splice them.
enum GroupFuzzer {
  private static let types = GroupType.allCases.map(\.rawValue)
  private static let longest = 200

  static func sequence(_ input: UnsafeRawBufferPointer) -> ModelSequence {
    let head = UInt64(input.first ?? 0), type = types[Int(head) % types.count]
    var sequence = ModelSequence(type: type, seed: head, length: 1)
    let opening = sequence.operations.count
    let numbers = stride(from: 1, to: input.count - 3, by: 4).prefix(longest)
    for number in numbers {
      let seed = UInt64(input.loadUnaligned(fromByteOffset: number, as: UInt32.self))
      let made = ModelSequence(type: type, seed: seed, length: opening + 8).operations
      sequence.operations += made.suffix(1)
    }
    return sequence
  }

  static func run(_ input: UnsafeRawBufferPointer) {
    let sequence = sequence(input)
    let failure = Mutex<String?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task {
      if let found = await sequence.run().failure {
        let text = await sequence.shrunk(found)
        failure.withLock { $0 = text }
      }
      done.signal()
    }
    done.wait()
    if let text = failure.withLock({ $0 }) { fatalError(text) }
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  GroupFuzzer.run(UnsafeRawBufferPointer(start: data, count: count))
  return 0
}

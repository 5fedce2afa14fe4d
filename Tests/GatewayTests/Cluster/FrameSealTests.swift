import Cluster
import Testing
import ThrongTestKit

@testable import Gateway

/// What nodes tell each other is sealed: who has not the cluster's key reads nothing, and says nothing.
@Suite struct FrameSealTests {
  private let one = NodeNumber(1)
  private let two = NodeNumber(2)
  private let sender = FrameSeal(.ofTests)
  private let receiver = FrameSeal(.ofTests)

  private func frame(_ content: LinkFrame.Content) -> LinkFrame { LinkFrame(from: two, to: one, link: 300, content) }

  @Test(
    arguments: [
      LinkFrame.Content.open(at: nil), .open(at: LinkPosition(origin: 2, next: 9)), .entries(origin: 2, number: 7, []),
      .entries(origin: 1, number: 1, Array("a secret text".utf8)),
    ])
  func aFrameComesBackFromANodeOfTheCluster(content: LinkFrame.Content) throws {
    for _ in 0..<3 {
      let sealed = try sender.seal(frame(content))
      #expect(try receiver.open(sealed, as: one) == frame(content))
    }
    // A process that starts again has another salt.
    let restarted = try FrameSeal(.ofTests).seal(frame(content))
    #expect(try receiver.open(restarted, as: one) == frame(content))
    let again = try sender.seal(frame(content))
    #expect(try receiver.open(again, as: one) == frame(content))
  }

  @Test func nothingOfTheEntriesCanBeRead() throws {
    let text = Array("a secret text".utf8)
    let frame = frame(.entries(origin: 1, number: 1, text))
    let (first, second) = (try sender.seal(frame), try sender.seal(frame))
    #expect(!first.contains(text))
    // The same text never looks the same.
    #expect(first.suffix(text.count + 16) != second.suffix(text.count + 16))
  }

  @Test func aFrameThatWasChangedDoesNotOpen() throws {
    let sealed = try sender.seal(frame(.entries(origin: 1, number: 1, [1, 2, 3])))
    for index in sealed.indices {
      for bit in 0..<8 {
        var changed = sealed
        changed[index] ^= 1 << bit
        #expect(throws: FrameSeal.Refusal.self) { try receiver.open(changed, as: one) }
      }
    }
    for length in 0..<sealed.count {
      #expect(throws: FrameSeal.Refusal.self) { try receiver.open(Array(sealed[..<length]), as: one) }
    }
    #expect(throws: FrameSeal.Refusal.seal) { try receiver.open(sealed + [0], as: one) }
    #expect(try receiver.open(sealed, as: one).entries == [1, 2, 3])
  }

  @Test func theReasonIsToldToTheOperator() throws {
    let sealed = try sender.seal(frame(.open(at: nil)))
    #expect(throws: FrameSeal.Refusal.receiver) { try receiver.open(sealed, as: two) }
    #expect(throws: FrameSeal.Refusal.receiver) { try receiver.open(sealed, as: nil) }
    #expect(throws: FrameSeal.Refusal.malformed) { try receiver.open([1, 2, 3], as: one) }
    let other = ClusterKey(configured: "another secret of this length, at least")
    #expect(throws: FrameSeal.Refusal.key) { try FrameSeal(other).open(sealed, as: one) }
    let changed = ClusterKey(number: ClusterKey.ofTests.number, secret: other.secret)
    #expect(throws: FrameSeal.Refusal.seal) { try FrameSeal(changed).open(sealed, as: one) }
  }

  @Test(arguments: 0..<200) func anyBytesAreRefused(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0..<120, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    for bytes in [bytes, [LinkFrame.version, 2] + bytes] {
      #expect(throws: FrameSeal.Refusal.self) { try receiver.open(bytes, as: one) }
    }
  }
}

import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ThrongServer

@Suite struct LogOutputTests {
  private struct Pipe {
    let reading: FileHandle
    let writing: Int32

    init() throws {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
      writing = ends[1]
    }

    /// The lines that came before the writing end was closed.
    func lines() throws -> [Substring] {
      String(decoding: try #require(try reading.readToEnd()), as: UTF8.self).split(separator: "\n")
    }

    /// Begins to read on a thread of its own, because `flush` blocks the test's. The result has the
    /// lines to wait for.
    func readAlongside() -> () throws -> [Substring] {
      let result = Mutex(Result<[Substring], any Error>.success([]))
      let reading = DispatchWorkItem { [self] in result.withLock { $0 = Result { try lines() } } }
      DispatchQueue(label: "reader").async(execute: reading)
      return {
        reading.wait()
        return try result.withLock { $0 }.get()
      }
    }
  }

  private func notice(_ lost: Int) -> String { "lost \(lost)" }

  @Test func linesArriveWholeAndInOrder() throws {
    let pipe = try Pipe()
    let output = LogOutput(pipe.writing)
    for line in ["first", "é"] { output.append(line, afterLosing: notice) }
    output.flush(within: 60_000)
    close(pipe.writing)
    #expect(try pipe.lines() == ["first", "é"])
  }

  @Test(arguments: [0, O_NONBLOCK]) func aReaderThatStandsStillStopsNobodyAndIsToldWhatItLost(flags: Int32) throws {
    let pipe = try Pipe()
    try #require(fcntl(pipe.writing, F_SETFL, flags) == 0)
    let output = LogOutput(pipe.writing, capacity: 20_000)
    let filler = String(repeating: "x", count: 100)
    for number in 0..<2000 { output.append("\(number) \(filler)", afterLosing: notice) }
    let lines = pipe.readAlongside()
    output.flush(within: 60_000)
    output.append("behind", afterLosing: notice)
    output.flush(within: 60_000)
    close(pipe.writing)
    let arrived = try lines()
    var (next, lost) = (0, 0)
    for line in arrived.dropLast() {
      let words = line.split(separator: " ")
      if words[0] == "lost" {
        let count = try #require(Int(words[1]))
        (next, lost) = (next + count, lost + count)
      } else {
        #expect(line == "\(next) \(filler)")
        next += 1
      }
    }
    #expect(next == 2000, "each has arrived or was counted as lost")
    #expect((1..<1900).contains(lost), "what there was no room for, in the pipe and before it")
    #expect(arrived.last == "behind")
  }

  @Test(.timeLimit(.minutes(10))) func aLogThatCannotBeWrittenIsGivenUp() throws {
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    for descriptor in [full, -1] {
      let output = LogOutput(descriptor)
      output.append("lost", afterLosing: notice)
      output.flush(within: 900_000)
    }
  }
}

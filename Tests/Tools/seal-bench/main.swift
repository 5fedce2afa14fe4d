import Cluster
import Foundation
import Gateway

/// What it costs to seal a frame and to open it again: `seal-bench [FRAMES]`, of a release build.
let frames = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 200_000
let key = ClusterKey(number: 1, secret: ClusterKey.makeSecret())
let (sender, receiver) = (FrameSeal(key), FrameSeal(key))
let (one, two) = (NodeNumber(1), NodeNumber(2))

/// The seconds of this process's processor.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

print("bytes of entries, µs to seal, µs to open")
for bytes in [0, 200, 700, 1_700, 16_384] {
  let entries = [UInt8](repeating: 7, count: bytes)
  let frame = LinkFrame(from: one, to: two, link: 1, .entries(origin: 1, number: 1, entries))
  let start = processorTime()
  for _ in 0..<frames { _ = try sender.seal(frame) }
  let sealed = try sender.seal(frame)
  let middle = processorTime()
  for _ in 0..<frames { _ = try receiver.open(sealed, as: two) }
  let end = processorTime()
  let each = { (seconds: Double) in String(format: "%.2f", seconds / Double(frames) * 1e6) }
  print("\(bytes), \(each(middle - start)), \(each(end - middle))")
}

import Foundation

let (lines, input) = AsyncStream.makeStream(of: String.self)
// `readLine` blocks.
Thread.detachNewThread {
  while let line = readLine() { input.yield(line) }
  input.finish()
}

let driver = Driver()
for await line in lines {
  await driver.run(try JSONDecoder().decode(Driver.Command.self, from: Data(line.utf8)))
}
await driver.close()

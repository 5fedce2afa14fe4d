import Foundation
import GroupRuntime
import ServerConfiguration

/// The file of `moderation.wordsFile`.
enum WordFile {
  /// Reads a list.
  /// - Throws: a sentence for the operator, which names the file.
  static func read(_ path: String) throws(StartError) -> WordList {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? file.close() }
      // One byte more than it may have tells that it has too many.
      return try WordList(parsing: [UInt8](try file.read(upToCount: WordList.maxFileBytes + 1) ?? Data()))
    } catch let fault as WordFileFault {
      throw StartError("moderation.wordsFile: \(path): \(fault)")
    } catch {
      throw StartError("moderation.wordsFile: \(path): it cannot be read: \(error.localizedDescription)")
    }
  }
}

extension CurrentWords {
  /// The words of a start; nil where no file is named.
  convenience init?(_ settings: Settings) throws(StartError) {
    guard let path = settings.moderation.wordsFile else { return nil }
    self.init(try WordFile.read(path), Action(settings.moderation.action))
  }
}

extension CurrentWords.Action {
  fileprivate init(_ action: WordAction) {
    self =
      switch action {
      case .refuse: .refuse
      case .mask: .mask
      }
  }
}

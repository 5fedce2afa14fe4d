import GroupModel

/// The users of whom a node has been told something that it has not confirmed.
struct UnconfirmedNews: Sendable {
  /// Beyond, as in an import, it may be any user.
  static let maxUsers = 10_000

  private var counts: [UserID: Int] = [:]
  private var newsCount = 0
  private var isOverfull = false

  /// None.
  init() {}

  var isEmpty: Bool { newsCount == 0 }

  /// Nil = it may be any.
  var users: [UserID]? { isOverfull ? nil : counts.keys.sorted() }

  mutating func add(_ user: UserID) {
    newsCount += 1
    guard !isOverfull else { return }
    counts[user, default: 0] += 1
    guard counts.count > UnconfirmedNews.maxUsers else { return }
    isOverfull = true
    counts = [:]
  }

  mutating func add(_ news: UnconfirmedNews) {
    newsCount += news.newsCount
    isOverfull = isOverfull || news.isOverfull
    if !isOverfull { counts.merge(news.counts, uniquingKeysWith: +) }
    guard isOverfull || counts.count > UnconfirmedNews.maxUsers else { return }
    isOverfull = true
    counts = [:]
  }

  /// Nothing, where it was told again meanwhile.
  mutating func didConfirm(_ user: UserID) {
    guard newsCount > 0 else { return }
    if isOverfull { newsCount -= 1 } else { confirm(1, of: user) }
    if newsCount == 0 { self = UnconfirmedNews() }
  }

  mutating func didConfirm(_ news: UnconfirmedNews) {
    if isOverfull {
      newsCount -= min(newsCount, news.newsCount)
    } else {
      // Those of too many users were told again before these were added.
      for (user, count) in news.counts { confirm(count, of: user) }
    }
    if newsCount == 0 { self = UnconfirmedNews() }
  }

  private mutating func confirm(_ count: Int, of user: UserID) {
    guard let known = counts[user] else { return }
    let confirmed = min(known, count)
    newsCount -= confirmed
    counts[user] = known > confirmed ? known - confirmed : nil
  }
}

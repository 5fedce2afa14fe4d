import GroupModel

/// One row of a table that has a column per group type. A new type stops the build at every row
/// that lacks its cell.
struct TypeRow<Value: Sendable>: Sendable {
  private let work, `public`, meeting, avChatRoom, bChatRoom: Value

  init(_ work: Value, _ public: Value, _ meeting: Value, _ avChatRoom: Value, _ bChatRoom: Value) {
    self.work = work
    self.public = `public`
    self.meeting = meeting
    self.avChatRoom = avChatRoom
    self.bChatRoom = bChatRoom
  }

  subscript(type: GroupType) -> Value {
    switch type {
    case .work: work
    case .public: `public`
    case .meeting: meeting
    case .avChatRoom: avChatRoom
    case .bChatRoom: bChatRoom
    }
  }
}

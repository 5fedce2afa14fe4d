import GroupModel
import GroupRuntime

extension UserDeletion.MessageFate: TextValue {}
extension UserDeletion.Step: TextValue {}

/// `userDeletion` rows.
extension UserDeletion: StoredRow {
  public static let columns = describe()
  public static var blank: UserDeletion {
    UserDeletion(userID: .administrator, messages: .keep, requestTime: .unset)
  }

  public static func code<Coder: ColumnCoder>(_ row: inout UserDeletion, _ coder: inout Coder) throws(StoreError) {
    var (userID, requestTime) = (row.userID, row.requestTime)
    try coder.column("userID", &userID)
    try coder.column("messages", &row.messages)
    try coder.column("step", &row.step)
    try coder.column("place", &row.place.number)
    try coder.column("placeSeq", &row.place.seq)
    try coder.column("requestTime", &requestTime)
    try coder.column("endTime", &row.endTime)
    try coder.column("pass", &row.pass)
    guard Coder.isReader else { return }
    row = UserDeletion(
      userID: userID, messages: row.messages, step: row.step, place: row.place, requestTime: requestTime,
      endTime: row.endTime, pass: row.pass)
  }
}

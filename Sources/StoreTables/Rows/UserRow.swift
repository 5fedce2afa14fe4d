import GroupModel
import GroupRuntime

/// `userInfo` rows.
extension UserInfo: StoredRow {
  public static let columns = describe()
  public static var blank: UserInfo { UserInfo(userID: .administrator) }

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout UserInfo, _ coder: inout Coder) throws(StoreError) {
    var (userID, nickName, faceURL) = (row.userID, Optional(row.nickName), Optional(row.faceURL))
    try coder.column("userID", &userID)
    // NULL where an outer join has found no row.
    try coder.column("nickName", &nickName)
    try coder.column("faceURL", &faceURL)
    try coder.column("customInfo", &row.customInfo)
    guard Coder.isReader else { return }
    row = UserInfo(userID: userID, nickName: nickName ?? "", faceURL: faceURL ?? "", customInfo: row.customInfo)
  }
}

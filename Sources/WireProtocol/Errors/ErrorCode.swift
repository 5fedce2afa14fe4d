/// The closed table of errors a client can get (Reference.md, "Errors").
public enum ErrorCode: Int, CaseIterable, Sendable {
  case parseError = -32700
  case invalidRequest = -32600
  case methodNotFound = -32601
  case invalidParams = -32602
  case internalError = -32603
  case notSignedIn = 6014
  case otherUserSignedIn = 6015
  case requestRate = 7008
  case tokenExpired = 70001
  case tokenMalformed = 70003
  case tokenWrongSignature = 70009
  case userBlocked = 70020
  case tokenRevoked = 70021
  case badNewGroupID = 8501
  case badGroupName = 8502
  case introductionTooLong = 8503
  case notificationTooLong = 8504
  case faceURLTooLong = 8505
  case nameCardTooLong = 8506
  case tooManyMembers = 8507
  case workNotJoinable = 8508
  case ownerInMemberList = 8509
  case emptyUserList = 8510
  case attributeCallsTooOften = 8511
  case temporary = 10002
  case badValue = 10004
  case noRight = 10007
  case ownerMayNotQuit = 10009
  case noSuchGroup = 10010
  case alreadyMember = 10013
  case groupFull = 10014
  case badGroupID = 10015
  case refusedByApplication = 10016
  case muted = 10017
  case userUnknown = 10019
  case groupIDTaken = 10021
  case groupMessageRate = 10023
  case applicationHandled = 10024
  case groupIDTakenByYourself = 10025
  case messageUnknown = 10030
  case recallTooLate = 10031
  case recallNotYours = 10032
  case recallUnsupported = 10033
  case tooManyAVChatRooms = 10036
  case tooManyGroups = 10037
  case maxMemberNumBelowCount = 10038
  case attributeKeyTooLong = 10045
  case attributeValueTooLong = 10046
  case tooManyAttributes = 10047
  case attributesTooLarge = 10048
  case attributeWritesTooOften = 10049
  case attributeUnknown = 10050
  case tooManyMentions = 10053
  case tooManyForReceipts = 10054
  case tooManyReactions = 10055
  case tooManyPinned = 10056
  case tooManyCounters = 10057
  case expectationFailed = 10058
  case attributeHeld = 10059
  case tooManyWatched = 10060
  case groupTooLargeForSignals = 10061
  case application10120 = 10120
  case application10121 = 10121
  case application10122 = 10122
  case application10123 = 10123
  case application10124 = 10124
  case application10125 = 10125
  case application10126 = 10126
  case application10127 = 10127
  case application10128 = 10128
  case application10129 = 10129
  case application10130 = 10130
  case messageTooLong = 80002

  /// The error in a sentence, for developers.
  public var title: String {
    switch self {
    case .parseError: "The text is not JSON, or nested too deeply"
    case .invalidRequest: "Not a JSON-RPC 2.0 request"
    case .methodNotFound: "No such method"
    case .invalidParams: "A required parameter is missing or has the wrong type"
    case .internalError: "A fault of the server"
    case .notSignedIn: "Not signed in"
    case .otherUserSignedIn: "Another user is signed in on this connection"
    case .requestRate: "Too many requests"
    case .tokenExpired: "The token has expired"
    case .tokenMalformed: "The token cannot be accepted"
    case .tokenWrongSignature: "The token was signed with another key"
    case .userBlocked: "The application has blocked the user, or is deleting the user's data"
    case .tokenRevoked: "The application has revoked the token"
    case .badNewGroupID: "A groupID is 1 to 48 visible ASCII characters and does not start with @TGS#"
    case .badGroupName: "The group name is empty or too long"
    case .introductionTooLong: "The introduction is too long"
    case .notificationTooLong: "The notification is too long"
    case .faceURLTooLong: "The faceURL is too long"
    case .nameCardTooLong: "The name card is too long"
    case .tooManyMembers: "More members than the group may have"
    case .workNotJoinable: "Nobody can apply to join a Work group"
    case .ownerInMemberList: "Owner is not a role for a listed member"
    case .emptyUserList: "The list of users is empty"
    case .attributeCallsTooOften: "Too many calls for the attributes or counters of this group, or too many reports"
    case .temporary: "The server cannot do this at the moment; nothing was changed"
    case .badValue: "A value is outside its domain"
    case .noRight: "Not allowed: the role is too low, the type does not support it, or not a member"
    case .ownerMayNotQuit: "The owner may not quit this group"
    case .noSuchGroup: "No such group"
    case .alreadyMember: "Already a member"
    case .groupFull: "The group is full"
    case .badGroupID: "A groupID is 1 to 48 visible ASCII characters"
    case .refusedByApplication: "Refused by the application, or by its words"
    case .muted: "Muted"
    case .userUnknown: "No such user"
    case .groupIDTaken: "The groupID is taken"
    case .groupMessageRate: "More messages than this group takes in a second"
    case .applicationHandled: "Somebody has decided already"
    case .groupIDTakenByYourself: "The groupID is taken by a group of yours"
    case .messageUnknown: "No such message"
    case .recallTooLate: "Too late to recall or edit the message"
    case .recallNotYours: "The message is not yours to change, or a tip"
    case .recallUnsupported: "This type of group stores no messages"
    case .tooManyAVChatRooms: "There are, or the user owns, as many AVChatRooms as this server allows"
    case .tooManyGroups: "The user is in as many groups as this server allows"
    case .maxMemberNumBelowCount: "maxMemberNum is below the number of members"
    case .attributeKeyTooLong: "An attribute's key is at most 32 bytes"
    case .attributeValueTooLong: "An attribute's value is at most 4096 bytes"
    case .tooManyAttributes: "A group has at most 16 attributes"
    case .attributesTooLarge: "The attributes of a group are at most 16384 bytes in all"
    case .attributeWritesTooOften: "Too many writes to the attributes of this group by the application"
    case .attributeUnknown: "No such attribute"
    case .tooManyMentions: "At most 30 users can be mentioned"
    case .tooManyForReceipts: "The group has too many members for read receipts"
    case .tooManyReactions: "The message has as many different reactions as this server allows"
    case .tooManyPinned: "A group has at most 10 pinned messages"
    case .tooManyCounters: "A group has at most 20 counters"
    case .expectationFailed: "The attributes are not as expected; nothing was changed"
    case .attributeHeld: "The attribute belongs to somebody else"
    case .tooManyWatched: "A session watches as many users as this server allows"
    case .groupTooLargeForSignals: "The group has too many members for signals"
    case .application10120, .application10121, .application10122, .application10123, .application10124, .application10125,
      .application10126, .application10127, .application10128, .application10129, .application10130:
      "Refused by the application with its code \(rawValue)"
    case .messageTooLong: "The message is too long"
    }
  }

  /// The refusals of the application (Protocol.md, "Webhooks").
  public static let ofApplication: [ErrorCode] = allCases.filter { $0 == .refusedByApplication || 10120...10130 ~= $0.rawValue }

  /// The refusals of what members would hear: whoever may not speak, and the rate of the group.
  static let ofSpeaking: [ErrorCode] = [.muted, .groupMessageRate]

  /// Whether the same request may succeed later without being changed. A fault of the server does not
  /// say what was changed, so repeating the request is not for a client to decide by itself.
  public var isTemporary: Bool {
    switch self {
    case .temporary, .requestRate, .attributeCallsTooOften, .attributeWritesTooOften, .groupMessageRate: true
    default: false
    }
  }
}

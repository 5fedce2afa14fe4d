import GroupModel

/// The subject of a request to one node, whose owner performs it.
public enum RequestSubject: Sendable, Equatable {
  case group(GroupID)
  /// A group that is made; nil = its groupID is not chosen yet.
  case newGroup(GroupID?)
  /// The group of an application.
  case application(String)
  /// The changes of a user are made one after the other.
  case user(UserID)
  /// The caller, in the same way.
  case caller
}

/// The users of a request of whom the stores know what the group does not: see
/// `MethodTraits.Users`.
public enum RequestUsers: Sendable, Equatable {
  case nobody
  case caller
  case known([UserID])
  case added([UserID])
}

extension Request {
  /// The subject whose owner performs the request, among several nodes; nil = the node that has got
  /// it does.
  public var subject: RequestSubject? {
    if case .group(let id, _) = self { .group(id) } else { accept(SubjectOfRequest()) }
  }

  /// Whether many of them come at once, as in a live room that opens: those of a moment cross the
  /// bus together, and so do their replies (Cluster.md, "Links").
  public var mayWait: Bool { accept(MayWait()) }

  /// The group that the request is for, where that is known before.
  public var groupID: GroupID? {
    switch subject {
    case .group(let id), .newGroup(let id?): id
    case .newGroup(nil), .application, .user, .caller, nil: nil
    }
  }

  /// The request, where the application may be asked about it first.
  public var asked: AskedRequest? {
    if case .group(let id, let request) = self {
      request.accept(AskedOfGroup()).map { .group(id, $0) }
    } else {
      accept(AskedOfServer())
    }
  }
}

extension GroupRequest {
  /// The users of whom the stores are asked.
  public var users: RequestUsers { accept(UsersOfRequest()) }

  /// Whether members may be told of it. Reads, and what concerns the caller's own sessions, are free
  /// of `limits.deliveriesPerSecond`.
  public var tellsMembers: Bool { accept(TellsMembers()) }

  /// The request, where the application may be asked about it first.
  public var asked: AskedGroupRequest? { accept(AskedOfGroup()) }
}

extension Call.Content {
  /// The rows that the request may add to the store. Never inlined: that would copy the request out
  /// of its call. So would `if case`.
  @inline(never)
  public var rows: WrittenRows {
    switch self {
    case .request(let request): request.accept(RowsOfRequest())
    case .badParameters, .unknownMethod, .invalid: .nothing
    }
  }
}

private struct RowsOfRequest: MethodVisitor {
  @inline(__always)
  func visit<M: Method>(_ method: M) -> WrittenRows {
    switch M.traits.rows {
    case .always(let rows): rows
    case .by(let rows): rows(method)
    }
  }
}

private struct SubjectOfRequest: MethodVisitor {
  @inline(__always)
  func visit<M: Method>(_ method: M) -> RequestSubject? {
    switch M.traits.place {
    case .here: nil
    case .owner(_, let subject): subject(method)
    }
  }
}

private struct UsersOfRequest: MethodVisitor {
  @inline(__always)
  func visit<M: Method>(_ method: M) -> RequestUsers {
    switch M.traits.users {
    case .nobody: .nobody
    case .caller: .caller
    case .known(let users): .known(users(method))
    case .added(let users): .added(users(method))
    }
  }
}

private struct AskedOfGroup: MethodVisitor {
  @inline(__always)
  func visit<M: Method>(_ method: M) -> AskedGroupRequest? {
    switch M.traits.asksGroup {
    case .never: nil
    case .before(let asked): asked(method)
    }
  }
}

private struct AskedOfServer: MethodVisitor {
  @inline(__always)
  func visit<M: Method>(_ method: M) -> AskedRequest? {
    switch M.traits.asks {
    case .never: nil
    case .before(let asked): asked(method)
    }
  }
}

private struct MayWait: MethodVisitor {
  @inline(__always)
  func visit<M: Method>(_ method: M) -> Bool { M.traits.mayWait }
}

private struct TellsMembers: MethodVisitor {
  @inline(__always)
  func visit<M: Method>(_ method: M) -> Bool { M.traits.tellsMembers }
}

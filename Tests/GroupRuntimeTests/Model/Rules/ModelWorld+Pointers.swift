import ThrongTestKit

/// Pointers in params, so that a sequence still makes sense when earlier operations are left out.
extension ModelWorld {
  /// The operation with values instead of pointers. A session that is not signed in is the backend
  /// instead.
  func resolved(_ operation: Operation) -> Operation {
    var resolved = operation
    resolved.params = operation.params.mapValues { self.resolved($0) }
    resolved.by = named(operation.by, resolved["applicationID"])
    if let other = operation["$with"].string {
      resolved.params["$with"] = .string(signedIn(named(Operator(other), .null)).description)
    }
    if operation.verb != .signIn, operation.verb != .signOut { resolved.by = signedIn(resolved.by) }
    // The caller is a known user.
    if let unknown = resolved.params["$unknown"]?.strings {
      resolved.params["$unknown"] = .strings(unknown.filter { $0 != resolved.by.name })
    }
    return resolved
  }

  /// Whether there is what the operation points at, and something for it to happen to.
  func canHappen(_ resolved: Operation) -> Bool {
    if resolved["$with"] != .null, group == nil { return false }
    if resolved.verb == .retain { return group?.keepsHistory == true && resolved["seq"].int != nil }
    if resolved.verb == .actTogether { return group.map { $0.keepsHistory && $0.notifies } ?? false }
    if resolved["$whenGone"] != .null, group != nil { return false }
    return resolved["applicationID"].string?.hasPrefix("$") != true
  }

  /// The operator that a pointer stands for.
  private func named(_ who: Operator, _ application: JSON) -> Operator {
    guard case .user(let name, let session) = who, name.hasPrefix("$") else { return who }
    if name == "$decider" {
      let application = applications.first { $0.id == application }
      return .user(application.map { $0.type == "Join" ? owner : $0.toUser } ?? owner, session: session)
    }
    return .user(user(name) ?? owner, session: session)
  }

  private var owner: String { group?.owner?.name ?? ModelWorld.users[0] }

  /// One of the users of some kind, or where there is none, one of all.
  private func user(_ pointer: String) -> String? {
    let parts = pointer.dropFirst().split(separator: "-")
    let members = group?.members ?? []
    let kind: [String]? =
      switch parts[0] {
      case "owner": [owner]
      case "admin": members.filter { $0.role == "Admin" }.map(\.name)
      case "lesser": members.filter { $0.role != "Owner" }.map(\.name)
      case "member": members.map(\.name)
      case "outsider": ModelWorld.users.filter { name in !members.contains { $0.name == name } }
      case "user": ModelWorld.users
      default: nil
      }
    guard let kind, let number = Int(parts.last ?? "0") else { return nil }
    let users = kind.isEmpty ? ModelWorld.users : kind
    return users[number % users.count]
  }

  private func signedIn(_ who: Operator) -> Operator {
    guard case .user(let name, _) = who, let session = who.session, !sessions.contains(session) else { return who }
    return .user(name, session: nil)
  }

  private func resolved(_ value: JSON) -> JSON {
    switch value {
    case .string(let text) where text.hasPrefix("$"): user(text).map { .string($0) } ?? pointed(text) ?? value
    case .array(let elements): .array(elements.map { resolved($0) })
    case .object(let members): .object(members.mapValues { resolved($0) })
    default: value
    }
  }

  private func pointed(_ text: String) -> JSON? {
    let parts = text.dropFirst().split(separator: "-")
    let back = parts.count > 1 ? Int64(parts[1]) ?? 0 : 0
    switch parts[0] {
    case "now": return .int(now - back)
    case "later": return .int(now + back)
    case "last": return .int(max(1, Int64(group?.newestSeq ?? 0) - back))
    case "place": return .int(max(0, Int64(group?.newestSeq ?? 0) - back))
    case "message": return (group?.memory?.messages ?? group?.messages)?.dropLast(Int(back)).last?.id ?? "none"
    case "epoch": return group?.memory?.epoch ?? group?.epoch ?? "none"
    case "application":
      guard !applications.isEmpty else { return nil }
      return applications.reversed()[Int(back) % applications.count].id
    default: return nil
    }
  }
}

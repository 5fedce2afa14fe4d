import GroupModel
import WireProtocol

/// sendGroupSystemNotification (Protocol.md, "Application methods").
extension GroupState {
  /// onReceiveRESTCustomData: "the members named by the administrator, or all"; who is no member is ignored.
  func customData(_ request: SendGroupSystemNotification, by caller: Caller, in context: DecisionContext) -> Decision {
    var decision = Decision(.empty)
    let event = event(.onReceiveRESTCustomData(request.content), in: context)
    let named = request.userIDList?.filter { isMember($0) }
    if let named {
      if !named.isEmpty { decision.effects.append(.send(event, to: named)) }
    } else {
      decision.effects.append(.publish(event, .control, except: nil))
    }
    notify(
      .custom, named ?? Array(members.keys), by: operatorInfo(caller), data: request.content, in: context, into: &decision)
    return decision
  }
}

extension MethodTable { func openRPCx() {} 
  public func openRPC(version: String) -> [UInt8] { [] } }

import GroupModel
import Testing

@Suite struct SeqBlockTests {
  @Test func aBlockHoldsWhatWasInserted() {
    for block: Int64 in [0, 1, 7, 1 << 40] {
      let seqs = [0, 1, 7, 8, 9, 500, 1023].map { block * SeqBlock.size + $0 }
      var bits = SeqBlock()
      for seq in seqs.shuffled() {
        let isNew = bits.insert(seq)
        #expect(isNew)
      }
      for seq in seqs {
        let isNew = bits.insert(seq)
        #expect(!isNew && SeqBlock.number(of: seq) == block)
      }
      #expect(bits.seqs(in: block) == seqs)
      let all = (0..<SeqBlock.size).map { block * SeqBlock.size + $0 }
      #expect(all.filter(bits.contains) == seqs)
      #expect(SeqBlock(bytes: bits.bytes) == bits)
    }
  }

  @Test func zerosAtTheEndAreLeftOut() {
    var bits = SeqBlock()
    #expect(bits.bytes == [])
    bits.insert(1024 + 17)
    bits.insert(1024 + 3)
    #expect(bits.bytes == [8, 0, 2])
    bits.remove(1024 + 17)
    #expect(bits.bytes == [8])
    bits.remove(1024 + 900)
    #expect(bits.bytes == [8])
    bits.remove(1024 + 3)
    #expect(bits == SeqBlock())
  }

  @Test func noBlockIsLongerThanABlock() {
    #expect(SeqBlock(bytes: [UInt8](repeating: 1, count: 128)) != nil)
    #expect(SeqBlock(bytes: [UInt8](repeating: 0, count: 129)) == nil)
  }
}

import TestSupport
import Testing

@testable import TidemarkUpload

@Suite(.tags(.small)) struct RequestShareTests {
  @Test(
    arguments: [
      (nil, 3, 3, nil), (1000, 0, 0, 1000), (1000, 4, 4, 250), (100, 4, 2, 50), (8, 4, 1, 8),
      (149, 9, 2, 74),
    ] as [(Int?, Int, Int, Int?)])
  func `the homes of users share an upload's request limit`(
    most: Int?, used: Int, homes: Int, requests: Int?
  ) {
    let share = RequestShare(of: most, among: used)
    #expect(share.homes == homes && share.requests == requests)
    if let most, let requests { #expect(share.homes * requests <= most) }
  }
}

import Simulation

/// Histories of attached logs that the simulator found.
extension NamedHistory {
  static let attached = [
    NamedHistory(
      "an idle log that grows and is compressed before the next upload", store: "webdav",
      [
        Step(.append(home: 0, file: 0, lines: 1), seed: 2_525_558_138),
        pass(167_400), upload(),
        Step(.append(home: 0, file: 0, lines: 1), seed: 1_276_120_547),
        Step(.rotate(home: 0, file: 0, .compress)),
      ]),
    NamedHistory(
      "an attached session that is deleted, and a pass that dies while the file grows",
      History(
        store: "folder", homes: 1, isShared: false, seed: 1_288_164_436,
        [
          Step(.append(home: 2, file: 1, lines: 1), seed: 2_516_794_277),
          Step(.upload(home: 0), seed: 1_965_562_528),
          Step(
            .delete(home: 0, session: 5, isLocal: true, isRemote: true), seed: 1_104_412_520),
          Step(.append(home: 3, file: 5, lines: 1), seed: 4_284_985_935),
          Step(.upload(home: 0), seed: 4_058_629_066),
          Step(.upload(home: 0), seed: 3_406_003_226, death: 17),
        ])),
    NamedHistory(
      "an attached session that is deleted before its file grows",
      History(
        store: "folder", homes: 1, isShared: false, seed: 1_546_730_169,
        [
          Step(.step(home: 0, seconds: 259_200), seed: 417_815_550),
          Step(.append(home: 0, file: 0, lines: 1), seed: 3_007_204_986),
          Step(.upload(home: 0), seed: 3_919_407_230),
          Step(
            .delete(home: 0, session: 10, isLocal: true, isRemote: true), seed: 2_812_825_973),
        ])),
    NamedHistory(
      "a copy that goes to the trash in part",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 2_785_207_905,
        [
          Step(.start(home: 0), seed: 2_043_519_810),
          Step(.write(home: 0, session: 0, bytes: 3883), seed: 3_978_815_202),
          Step(.upload(home: 0), seed: 1_813_368_923),
          Step(.append(home: 0, file: 0, lines: 1), seed: 690_111_510),
          Step(.cutPower(home: 0), seed: 1_101_909_184),
          Step(.upload(home: 0), seed: 2_026_921_821),
          Step(.pass(seconds: 669_600), seed: 711_406_731),
          Step(.upload(home: 0), seed: 3_232_639_815, death: 78),
        ])),
    NamedHistory(
      "a deletion on request that arrives once all is well",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 2_275_629_461,
        [
          Step(.start(home: 0), seed: 935_569_699),
          Step(.start(home: 0), seed: 4_202_413_786),
          Step(.pass(seconds: 43_200), seed: 4_067_968_528),
          Step(.append(home: 0, file: 0, lines: 1), seed: 107_405_486),
          Step(.pass(seconds: 86_400), seed: 1_159_565_765),
          Step(.upload(home: 0), seed: 2_630_718_714),
          Step(.pass(seconds: 1), seed: 616_790_944),
          Step(
            .reap(home: 3, olderThan: 1, isRemote: true), seed: 4_220_689_267,
            faults: [
              .init(6, .late(6)), .init(7, .late(6)), .init(8, .late(6)), .init(9, .late(6)),
            ]),
        ])),
    NamedHistory(
      "an attached session that is deleted after its file was copied and truncated",
      History(
        store: "folder", homes: 1, isShared: false, seed: 885_228_265,
        [
          Step(.unmount, seed: 2_392_856_017),
          Step(.append(home: 1, file: 7, lines: 1), seed: 1_495_846_696),
          Step(.upload(home: 0), seed: 2_755_812_459),
          Step(.rotate(home: 2, file: 7, .copyTruncate), seed: 3_089_137_637),
          Step(
            .delete(home: 3, session: 0, isLocal: true, isRemote: true), seed: 2_033_239_300),
        ])),
    NamedHistory(
      "a clone that sends a session of another program's log when the original's expires",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 83_610_825,
        [
          Step(.append(home: 0, file: 0, lines: 1), seed: 3_603_655_036),
          Step(.upload(home: 0), seed: 4_091_496_236),
          Step(.pass(seconds: 86_400), seed: 359_846_176),
          Step(.clone(home: 2, keepsMachineId: false), seed: 646_888_452),
          Step(.upload(home: 0), seed: 2_145_482_639),
          Step(.pass(seconds: 2_678_400), seed: 941_180_464),
          Step(.upload(home: 3), seed: 908_174_293),
        ])),
    NamedHistory(
      "a running session that a clone sealed and let expire",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 4_040_559_279,
        [
          Step(.start(home: 0), seed: 1_085_280_855),
          Step(.append(home: 0, file: 0, lines: 1), seed: 2_347_273_134),
          Step(.append(home: 1, file: 3, lines: 1), seed: 287_923_404),
          Step(.clone(home: 0, keepsMachineId: true), seed: 2_645_136_290),
          Step(.upload(home: 0), seed: 1_159_566_223),
          Step(.upload(home: 3), seed: 956_018_766),
          Step(.keep(home: 1, session: 1), beside: .upload(home: 0), seed: 1_257_579_514),
          Step(.upload(home: 0), seed: 2_066_291_689),
          Step(.pass(seconds: 2_678_400), seed: 146_786_374),
        ])),
    NamedHistory(
      "a session of another program's log that a clone ended and the original goes on with",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 3_158_055_905,
        [
          Step(.start(home: 0), seed: 3_003_750_972),
          Step(.start(home: 0), seed: 737_662_133),
          Step(.append(home: 0, file: 0, lines: 2), seed: 3_955_955_036),
          Step(.upload(home: 0), seed: 2_522_860_186),
          Step(.clone(home: 1, keepsMachineId: true), seed: 2_247_359_563),
          Step(.read(home: 1, session: 1), beside: .upload(home: 1), seed: 4_010_545_023),
          Step(.cutPower(home: 0), seed: 158_752_588),
          Step(
            .upload(home: 0), seed: 759_319_870, faults: [.init(0, .refuse(.unauthorized))]),
          Step(.redact(home: 0), seed: 3_769_868_280, faults: [.init(5, .stale(22))]),
        ])),
    NamedHistory(
      "a log that is withheld, then not, and ends before the store is back",
      History(
        store: "folder", homes: 1, isShared: false, seed: 4_144_724_734,
        [
          Step(.consent(home: 0, allowsLogs: false), seed: 2_754_557_549),
          Step(.unmount, seed: 3_180_791_122),
          Step(.append(home: 0, file: 5, lines: 1), seed: 1_577_723_463),
          Step(.upload(home: 0), seed: 752_091_058),
          Step(.consent(home: 0, allowsLogs: true), seed: 2_383_845_631),
          Step(.append(home: 1, file: 1, lines: 1), seed: 87_681_895),
          Step(.upload(home: 0), seed: 3_338_694_083),
        ])),
    NamedHistory(
      "a copied and truncated log, withheld until shortly before",
      History(
        store: "folder", homes: 1, isShared: false, seed: 2_029_902_441,
        [
          Step(.consent(home: 0, allowsLogs: false), seed: 1_421_944_400),
          Step(.append(home: 0, file: 0, lines: 1), seed: 1_183_889_350),
          Step(.pull(home: 1), beside: .upload(home: 1), seed: 817_616_911),
          Step(.consent(home: 0, allowsLogs: true), seed: 3_477_914_820),
          Step(.append(home: 0, file: 0, lines: 1), seed: 3_690_773_114),
          Step(.rotate(home: 0, file: 0, .copyTruncate), seed: 2_012_558_756),
        ])),
    NamedHistory(
      "a log's session that a failing disk did not keep and a pass that died had counted",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 3_199_601_076,
        [
          Step(.start(home: 0), seed: 858_629_192),
          Step(.fail(home: 0, every: 19), seed: 2_945_881_414),
          Step(.append(home: 0, file: 0, lines: 1), seed: 448_069_337),
          Step(.upload(home: 0), seed: 1_155_016_281),
          Step(.upload(home: 0), seed: 324_345_995, death: 18),
          Step(.cutPower(home: 0), seed: 13_354_058),
        ])),
    NamedHistory(
      "an object that a stale listing lacks, damaged on its way when it is sent again",
      History(
        store: "folder", homes: 1, isShared: false, seed: 464_152_278,
        [
          Step(.start(home: 0), seed: 383_489_793),
          Step(.write(home: 0, session: 0, bytes: 1), seed: 1_571_721_092),
          Step(.append(home: 0, file: 0, lines: 1), seed: 2_254_313_723),
          Step(.upload(home: 0), seed: 2_610_481_584, death: 6),
          Step(.cutPower(home: 0), seed: 1_877_612_508),
          Step(
            .upload(home: 0), seed: 1_935_682_677, faults: [.init(7, .refuse(.forbidden))]),
          Step(.pass(seconds: 86400), seed: 3_826_308_770),
          Step(
            .upload(home: 0), seed: 1_968_429_665,
            faults: [
              .init(6, .damage), .init(10, .damage), .init(12, .damage), .init(2, .stale(35)),
            ]),
        ])),
    NamedHistory(
      "a log's sidecar that was lost after half of its object was confirmed",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 382_129_569,
        [
          Step(.append(home: 0, file: 0, lines: 1), seed: 2_064_900_176),
          Step(.upload(home: 0), seed: 104_118_701, faults: [.init(4, .halfAccepted)]),
          Step(.lose(home: 2, .sidecar), seed: 2_532_327_339),
        ])),
    NamedHistory(
      "a compressed log that a clone does not have, and that was not sent",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 1_607_279_048,
        [
          Step(.start(home: 0), seed: 4_219_815_158),
          Step(.append(home: 0, file: 0, lines: 1), seed: 3_263_564_020),
          Step(.rotate(home: 0, file: 0, .compress), seed: 45_314_444),
          Step(.upload(home: 0), seed: 3_342_629_430),
          Step(.clone(home: 1, keepsMachineId: true), seed: 1_853_663_595),
          Step(.round(home: 3), seed: 326_534_976),
        ])),
    NamedHistory(
      "compressed logs with one heading on a disk too full to compare them",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 2_432_792_630,
        habits: .init(heading: 6000, keepsNames: false, attachesRotated: true),
        [
          Step(.nights(home: 1, file: 3, count: 5, .delayCompress), seed: 1_169_616_614),
          Step(.pass(seconds: 129_600), seed: 2_135_625_370),
          Step(.round(home: 0), seed: 3_139_712_895),
          Step(.fill(home: 0, room: 20_000), seed: 1_364_456_315),
          Step(.pull(home: 1), seed: 656_305_441),
          Step(.nights(home: 2, file: 5, count: 4, .delayCompress), seed: 2_278_805_961),
          Step(.upload(home: 0), seed: 4_106_595_924),
        ])),
    NamedHistory(
      "a log that is withheld, then not, and grows idle before its turn comes",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 3_361_093_239,
        [
          Step(.append(home: 0, file: 1, lines: 1), seed: 3_267_631_082),
          Step(.step(home: 1, seconds: 5400), seed: 955_661_551),
          Step(.consent(home: 0, allowsLogs: false), seed: 745_235_914),
          Step(.start(home: 0), seed: 4_209_738_309),
          Step(.upload(home: 0), seed: 662_071_378),
          Step(.consent(home: 0, allowsLogs: true), seed: 1_103_256_985),
          Step(.append(home: 2, file: 3, lines: 1), seed: 3_551_910_891),
          Step(.start(home: 0), seed: 2_186_050_358),
        ])),
    NamedHistory(
      "a log's damaged object, and its session deleted on request without a sidecar",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 582_924_382,
        [
          Step(.append(home: 0, file: 0, lines: 1), seed: 1_356_959_398),
          Step(
            .upload(home: 0), seed: 2_405_695_577,
            faults: [.init(5, .damage), .init(0, .loseAnswer)]),
          Step(.lose(home: 1, .sidecar), seed: 1_334_431_817),
          Step(
            .delete(home: 1, session: 11, isLocal: false, isRemote: true), seed: 2_042_807_338),
        ])),
    NamedHistory(
      "an object that a stale listing lacks, half stored when it is sent again",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 3_869_685_565,
        [
          Step(.append(home: 0, file: 0, lines: 1), seed: 856_150_826),
          Step(.upload(home: 0), seed: 579_197_732),
          Step(.fill(home: 0, room: 1000), seed: 420_590_948),
          Step(
            .upload(home: 0), seed: 758_519_832,
            faults: [
              .init(2, .stale(33)), .init(4, .half), .init(5, .half), .init(6, .half),
              .init(7, .half),
            ]),
        ])),
  ]
}

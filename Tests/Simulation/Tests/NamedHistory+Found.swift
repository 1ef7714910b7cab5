import Simulation

/// Histories of recorded sessions that the simulator found.
extension NamedHistory {
  static let found = [
    NamedHistory(
      "half of a tick is stored and confirmed", store: "webdav",
      [
        Step(.start(home: 0)), upload(), Step(.write(home: 0, session: 0, bytes: 300)),
        Step(.upload(home: 0), faults: (0..<4).map { .init($0, .halfAccepted) }),
      ]),
    NamedHistory(
      "a seal just after a boot that is credited with much time", store: "webdav",
      [
        Step(.start(home: 0)), upload(), pass(15 * day), Step(.reboot(home: 0, losesTime: false)),
        upload(), upload(),
      ]),
    NamedHistory(
      "a local copy that ages by the server's word on the time before its seal",
      [
        Step(.start(home: 0)), upload(), Step(.reboot(home: 0, losesTime: true)),
        pass(39 * day), upload(),
      ]),
    NamedHistory(
      "a session that the store refuses for good, and another home of the machine",
      History(
        store: "folder", homes: 2, isShared: true, seed: 169_685_024,
        [
          Step(.start(home: 0), seed: 129_629_813),
          Step(.refuse(home: 2, session: 1, isLasting: true), seed: 1_464_189_878),
          Step(.start(home: 3), seed: 3_950_627_586),
        ])),
    NamedHistory(
      "a lost marker and a lost sidecar",
      [
        Step(.start(home: 0)), Step(.lose(home: 0, .open)), Step(.lose(home: 0, .sidecar)),
      ]),
    NamedHistory(
      "a seal that somebody deletes after the local copy has gone",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 3_042_557_021,
        [
          Step(.start(home: 0), seed: 2_412_242_075),
          Step(.write(home: 0, session: 0, bytes: 5145), seed: 2_965_729_039),
          upload(), Step(.end(home: 0, session: 0)), upload(), pass(hour), upload(),
          Step(.reap(home: 0, olderThan: hour, isRemote: false)), pass(4 * day),
          Step(.remove(object: 3)), pass(8 * day), upload(),
        ])),
    NamedHistory(
      "a copy that goes to the trash before a server has confirmed the time before the boot",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 2_915_522_717,
        [
          Step(.start(home: 0), seed: 739_016_614),
          Step(.end(home: 0, session: 0), seed: 1_883_145_166),
          Step(.upload(home: 0), seed: 1_121_311_805),
          Step(.reboot(home: 0, losesTime: false), seed: 1_374_850_554),
          Step(.pass(seconds: 669_600), seed: 2_458_213_790),
          Step(
            .upload(home: 0), seed: 3_837_958_680,
            faults: [
              .init(1, .refuse(.unavailable)), .init(2, .loseAnswer), .init(3, .loseAnswer),
              .init(4, .loseAnswer),
            ]),
          Step(.pass(seconds: 669_600), seed: 736_234_626),
          Step(.upload(home: 0)),
          Step(.upload(home: 0)),
        ])),
    NamedHistory(
      "a session of a home that has used no store, which ages by itself",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 2_222_949_049,
        [
          Step(.start(home: 0), seed: 1_774_318_262),
          Step(.kill(home: 0, session: 0), seed: 1_747_203_270),
          Step(.reapWithoutStore(home: 0), seed: 1_140_715_149),
          Step(.pass(seconds: 691_200), seed: 2_585_851_190),
          Step(.reapWithoutStore(home: 0), seed: 2_447_394_775),
        ])),
    NamedHistory(
      "a session restored from the trash while an upload prunes its parts",
      History(
        store: "folder", homes: 1, isShared: false, seed: 1_690_471_361,
        [
          Step(.start(home: 0), seed: 3_897_130_311),
          Step(.write(home: 0, session: 0, bytes: 3575), seed: 2_312_874_132),
          Step(.write(home: 0, session: 0, bytes: 2098), seed: 2_708_822_902),
          Step(.reboot(home: 0, losesTime: false), seed: 148_334_321),
          Step(.upload(home: 0), seed: 804_971_065),
          Step(.pass(seconds: 669_600), seed: 472_181_929),
          Step(.upload(home: 0), seed: 3_681_667_571),
          Step(
            .restore(home: 0, session: 0), beside: .upload(home: 0), seed: 3_286_800_925),
        ])),
    NamedHistory(
      "a deletion that arrives while another home's command runs",
      History(
        store: "bucket", homes: 2, isShared: false, seed: 3_229_121_759,
        [
          Step(.start(home: 0), seed: 214_104_900),
          Step(.kill(home: 0, session: 0), seed: 3_489_168_939),
          Step(.upload(home: 0), seed: 1_829_612_389),
          Step(.pass(seconds: 2_678_400), seed: 2_109_592_319),
          Step(
            .upload(home: 0), seed: 2_927_167_762,
            faults: [
              .init(5, .late(4)), .init(6, .late(4)), .init(7, .late(4)), .init(8, .late(4)),
            ]
          ),
          Step(.repair(home: 3), seed: 3_881_351_672),
        ])),
    NamedHistory(
      "a seal put into a folder between two steps of the clock",
      History(
        store: "folder", homes: 1, isShared: false, seed: 404_577_683,
        [
          Step(.start(home: 0), seed: 307_000_547),
          Step(.upload(home: 0), seed: 2_701_603_440),
          Step(.reap(home: 3, olderThan: nil, isRemote: true), seed: 3_795_179_722),
          Step(.step(home: 0, seconds: -2_678_400), seed: 2_297_094_902),
          Step(.end(home: 0, session: 0), seed: 3_574_609_282),
          Step(.pass(seconds: 2_678_400), seed: 1_903_729_168),
          Step(.upload(home: 0), seed: 2_772_545_480),
          Step(.pass(seconds: 259_200), seed: 1_196_231_767),
        ])),
    NamedHistory(
      "a server that is heard for the first time after a session went to the trash",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 75_047_749,
        [
          Step(.start(home: 0), seed: 3_971_363_449),
          Step(.kill(home: 0, session: 0), seed: 1_349_083_794),
          Step(.upload(home: 0), seed: 1_481_965_081),
          Step(.pass(seconds: 2_678_400), seed: 2_133_780_276),
          Step(
            .read(home: 2, session: 11),
            beside: .reap(home: 0, olderThan: nil, isRemote: true), seed: 1_020_023_173),
          Step(.pass(seconds: 669_600), seed: 69_569_661),
          Step(.cutPower(home: 0), seed: 4_191_179_231),
        ])),
    NamedHistory(
      "a doubled PUT that arrives long after its object was deleted",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 903_849_148,
        [
          Step(.start(home: 0), seed: 3_273_326_149),
          Step(.upload(home: 0), seed: 1_998_881_765),
          Step(.end(home: 0, session: 0), seed: 381_628_546),
          Step(.upload(home: 0), seed: 2_555_298_629, faults: [.init(1, .double(6))]),
          Step(.upload(home: 0), seed: 413_692_049),
          Step(.pass(seconds: 334_800), seed: 154_143_365),
        ])),
    NamedHistory(
      "a log changed after its recorder died before a rotation that it had noted",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 795_451_901,
        [
          Step(.start(home: 0), seed: 3_574_370_695),
          Step(.write(home: 0, session: 0, bytes: 2361), seed: 1_876_674_132, death: 8),
          Step(.upload(home: 0), seed: 3_163_098_151),
          Step(.edit(home: 0, session: 10), seed: 682_890_803),
        ])),
    NamedHistory(
      "two sessions that the store refuses, and another one",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 3_302_477_768,
        [
          Step(.start(home: 0), seed: 2_467_239_288),
          Step(.start(home: 0), seed: 2_043_421_141),
          Step(.refuse(home: 2, session: 5, isLasting: true), seed: 2_431_741_032),
          Step(.identify(home: 0, id: 2), seed: 3_156_797_334),
          Step(.refuse(home: 0, session: 6, isLasting: true), seed: 2_277_253_493),
        ])),
    NamedHistory(
      "a recorder that is killed while it writes after a lost part",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 2_981_706_926,
        [
          Step(.start(home: 0), seed: 3_152_449_458),
          Step(.write(home: 0, session: 0, bytes: 3305), seed: 2_316_968_789),
          Step(.write(home: 0, session: 0, bytes: 2763), seed: 195_255_809),
          Step(.lose(home: 3, .part), seed: 3_626_696_687),
          Step(.write(home: 0, session: 0, bytes: 1), seed: 349_662_699, death: 1),
        ])),
    NamedHistory(
      "an unfinished text written while the clock was ahead",
      History(
        store: "folder", homes: 1, isShared: false, seed: 725_467_264,
        [
          Step(.start(home: 0), seed: 1_802_404_708),
          Step(.step(home: 0, seconds: 334_800), seed: 4_206_682_407),
          Step(.write(home: 0, session: 0, bytes: 1647), seed: 1_769_537_073),
        ])),
    NamedHistory(
      "another machine's session, written while the clock was ahead",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 800_744_768,
        [
          Step(.start(home: 0), seed: 143_925_792),
          Step(.step(home: 2, seconds: 345_600), seed: 217_008_267),
          Step(.identify(home: 2, id: 1), seed: 794_234_880),
          Step(.write(home: 0, session: 0, bytes: 1), seed: 2_892_659_126),
          Step(.reboot(home: 0, losesTime: true), seed: 4_267_588_199),
        ])),
    NamedHistory(
      "a clone of a home with a session in its trash",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 1_579_294_662,
        [
          Step(.start(home: 0), seed: 1_219_401_035),
          Step(.end(home: 0, session: 0), seed: 3_349_923_713),
          Step(.upload(home: 0), seed: 1_892_875_011),
          Step(.pass(seconds: 691_200), seed: 3_820_232_379),
          Step(.upload(home: 0), seed: 623_733_573),
          Step(.clone(home: 1, keepsMachineId: true), seed: 3_181_353_611),
          Step(.pass(seconds: 669_600), seed: 1_079_025_531),
        ])),
    NamedHistory(
      "an object of a running session that was damaged on its way",
      History(
        store: "folder", homes: 1, isShared: false, seed: 1_004_776_614,
        [
          Step(.start(home: 0), seed: 960_909_072),
          Step(.start(home: 0), seed: 3_152_251_715),
          Step(.upload(home: 0), seed: 2_594_429_711),
          Step(.end(home: 0, session: 0), seed: 3_732_883_630),
          Step(.write(home: 0, session: 0, bytes: 37), seed: 2_080_699_279),
          Step(.upload(home: 0), seed: 2_951_734_815, faults: [.init(7, .damage)]),
        ])),
    NamedHistory(
      "a clone's hold on a session that the original sends under a new device id",
      History(
        store: "folder", homes: 2, isShared: false, seed: 3_136_763_725,
        [
          Step(.start(home: 0), seed: 40_911_699),
          Step(.clone(home: 0, keepsMachineId: true), seed: 3_475_747_193),
          Step(.end(home: 0, session: 0), seed: 855_481_983),
          Step(.upload(home: 2), seed: 2_996_380_790),
          Step(.identify(home: 0, id: 1), seed: 3_029_032_674),
          Step(.keep(home: 2, session: 4), seed: 3_007_980_570),
          Step(.upload(home: 0), seed: 4_253_959_059),
          Step(.pass(seconds: 2_678_400), seed: 3_570_073_395),
        ])),
    NamedHistory(
      "a clone's longer copy of a session that expires before the original's",
      History(
        store: "bucket", homes: 1, isShared: false, seed: 2_536_372_201,
        [
          Step(.start(home: 0), seed: 603_528_108),
          Step(.clone(home: 0, keepsMachineId: false), seed: 920_838_460),
          Step(.cutPower(home: 0), seed: 3_866_884_845),
          Step(.pass(seconds: 86_400), seed: 134_943_053),
          Step(.round(home: 3), seed: 3_106_907_240),
          Step(.pass(seconds: 2_678_400), seed: 739_894_634),
        ])),
    NamedHistory(
      "a session that goes to the trash of a full disk",
      History(
        store: "webdav", homes: 1, isShared: false, seed: 3_855_668_830,
        [
          Step(.start(home: 0), seed: 2_649_782_544),
          Step(.end(home: 0, session: 0), seed: 307_201_509),
          Step(.upload(home: 0), seed: 3_253_010_109),
          Step(.pass(seconds: 691_200), seed: 1_800_730_707),
          Step(.fill(home: 0, room: 20_000), seed: 2_787_410_298),
          Step(.upload(home: 0), seed: 3_432_889_695),
          Step(.pass(seconds: 691_200), seed: 347_130_505),
        ])),
    NamedHistory(
      "a log withheld after the upload of a full disk, of which the cache knows nothing",
      History(
        store: "folder", homes: 1, isShared: false, seed: 3_078_949_349,
        [
          Step(.start(home: 0), seed: 1_475_372_627),
          Step(
            .retry(home: 2, session: 7), beside: .upload(home: 2), seed: 235_017_849),
          Step(.write(home: 0, session: 0, bytes: 1), seed: 3_201_075_516),
          Step(.fill(home: 0, room: 1000), seed: 759_406_389),
          Step(.upload(home: 0), seed: 3_493_754_640),
          Step(.end(home: 0, session: 0), seed: 2_743_706_146),
          Step(.consent(home: 0, allowsLogs: false), seed: 2_369_704_533),
          Step(.upload(home: 0), seed: 3_960_079_245),
        ])),
    NamedHistory(
      "a running session that a clone deletes from the store",
      History(
        store: "bucket", homes: 2, isShared: false, seed: 581_898_970,
        [
          Step(.start(home: 0), seed: 2_165_161_747),
          Step(.clone(home: 0, keepsMachineId: true), seed: 2_908_983_551),
          Step(.upload(home: 0), seed: 1_235_843_646),
          Step(
            .delete(home: 2, session: 11, isLocal: false, isRemote: true),
            seed: 1_864_393_100),
        ])),
    NamedHistory(
      "a rotation that fails, and a power failure that cuts its note",
      History(
        store: "bucket", homes: 2, isShared: true, seed: 2_104_750_724,
        [
          Step(.start(home: 0), seed: 2_032_260_079),
          Step(.fail(home: 0, every: 51), seed: 3_764_439_798),
          Step(.reapWithoutStore(home: 3), seed: 3_107_116_304),
          Step(.read(home: 0, session: 5), seed: 4_162_755_198),
          Step(.start(home: 0), seed: 809_735_421),
          Step(.kill(home: 0, session: 1), seed: 2_598_251_096),
          Step(.write(home: 0, session: 0, bytes: 2467), seed: 2_778_250_045),
          Step(.upload(home: 0), seed: 2_112_342_597),
          Step(.cutPower(home: 0), seed: 2_350_821_874),
        ])),
    NamedHistory(
      "a revision that is damaged on its way, and half stored when it is sent again",
      History(
        store: "folder", homes: 2, isShared: false, seed: 3_581_945_100,
        [
          Step(.start(home: 0), seed: 1_962_341_676),
          Step(.redact(home: 0), seed: 1_766_637_771),
          Step(.kill(home: 0, session: 0), seed: 2_279_764_914),
          Step(
            .upload(home: 0), seed: 3_892_634_188, faults: [.init(3, .damage), .init(5, .damage)]),
          Step(.reboot(home: 3, losesTime: false), seed: 3_239_263_222),
          Step(
            .upload(home: 0), seed: 3_076_414_780,
            faults: [.init(3, .half), .init(4, .half), .init(5, .half), .init(6, .half)]),
        ])),
  ]
}

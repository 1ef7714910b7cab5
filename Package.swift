// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "tidemark",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "tidemark", targets: ["tidemark"]),
    .library(name: "SessionLog", targets: ["SessionLog"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(name: "CFileUser"),

    .target(
      name: "Delta",
      dependencies: ["CZstd", .product(name: "Crypto", package: "swift-crypto")]),
    .target(name: "HTTPTransport", dependencies: ["CCurl"]),
    .target(name: "SessionLog", dependencies: ["Delta"]),

    .target(
      name: "ObjectStore",
      dependencies: [
        "CFileUser", "HTTPTransport", .product(name: "Crypto", package: "swift-crypto"),
      ]),

    .target(
      name: "Replica",
      dependencies: [
        "Delta", "ObjectStore", "SessionLog", .product(name: "Crypto", package: "swift-crypto"),
      ]),

    .target(
      name: "Sync",
      dependencies: [
        "CZlib", "CZstd", "Delta", "ObjectStore", "Replica", "SessionLog",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),

    .executableTarget(
      name: "tidemark",
      dependencies: [
        "Delta", "ObjectStore", "Replica", "SessionLog", "Sync",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Yams", package: "Yams"),
      ]),

    .target(
      name: "TestSupport",
      dependencies: [
        "Delta", "ObjectStore", "SessionLog", .product(name: "Crypto", package: "swift-crypto"),
      ], path: "Tests/TestSupport"),
    .target(name: "TestServers", path: "Tests/TestServers"),
    .testTarget(name: "HTTPTransportTests", dependencies: ["HTTPTransport", "TestServers"]),
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: [
        "HTTPTransport", "ObjectStore", "TestServers", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "EndToEnd", dependencies: ["tidemark", "TestServers"], path: "Tests/EndToEnd"),
    .testTarget(name: "DeltaTests", dependencies: ["Delta", "TestSupport"]),
    .testTarget(name: "SessionLogTests", dependencies: ["SessionLog", "TestSupport"]),
    .testTarget(
      name: "ReplicaTests",
      dependencies: [
        "Delta", "ObjectStore", "Replica", "SessionLog", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .testTarget(
      name: "SyncTests",
      dependencies: ["ObjectStore", "Replica", "SessionLog", "Sync", "TestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)

// Only for `Scripts/bench --micro`: nothing else needs this dependency.
if Context.environment["TIDEMARK_BENCHMARKS"] != nil {
  package.dependencies.append(
    .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []))
  package.targets.append(
    .executableTarget(
      name: "Micro",
      dependencies: [
        "Delta", "ObjectStore", "SessionLog", "TestSupport",
        .product(name: "Benchmark", package: "benchmark"),
        .product(name: "Crypto", package: "swift-crypto"),
      ], path: "Tests/Benchmarks/Micro",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]))
  // The parsers of listings are internal.
  for target in package.targets where target.name == "ObjectStore" {
    target.swiftSettings = [.unsafeFlags(["-enable-testing"])]
  }
}

// Only for `Scripts/fuzz`, which brings the flags that such a target needs.
if Context.environment["TIDEMARK_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Delta", "Replica", "TestSupport", .product(name: "Crypto", package: "swift-crypto"),
      ], path: "Tests/Fuzz", exclude: ["Seeds"]))
}

for target in package.targets where target.type != .system {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("MemberImportVisibility"),
      .enableUpcomingFeature("InternalImportsByDefault"),
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      .treatAllWarnings(as: .error),
    ]
}

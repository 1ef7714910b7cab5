import Benchmark
import Workloads

// The benchmarks of the package; one iteration of each does what its name says.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .throughput], warmupIterations: 3, maxDuration: .seconds(3))
  for workload in Workload.all {
    let scale: BenchmarkScalingFactor = workload.scale == 1 ? .one : .kilo
    Benchmark(workload.name, configuration: .init(scalingFactor: scale)) { benchmark in
      let run = try workload.prepare()
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations { try run() }
    }
  }
}

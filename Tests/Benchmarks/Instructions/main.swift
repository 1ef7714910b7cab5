import Workloads

// For `Scripts/bench --instructions`: runs a workload a number of times, or lists all workloads.
//
// Not asynchronous, because callgrind does not survive the end of the main thread.
let arguments = CommandLine.arguments
if arguments.count == 3, let times = Int(arguments[2]),
  let workload = Workload.all.first(where: { $0.name == arguments[1] })
{
  let run = try workload.prepare()
  for _ in 0..<times { try run() }
} else {
  for workload in Workload.all { print(workload.name) }
}

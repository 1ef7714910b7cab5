/// Waits until the task is cancelled: a pause that is long enough on any machine.
func untilCancelled() async {
  let (never, source) = AsyncStream<Void>.makeStream()
  for await _ in never {}
  withExtendedLifetime(source) {}
}

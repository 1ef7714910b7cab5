/// Waits until the task is cancelled: a pause that no busy machine makes too short.
func untilCancelled() async {
  let (never, source) = AsyncStream<Void>.makeStream()
  for await _ in never {}
  withExtendedLifetime(source) {}
}

import ArgumentParser
import Foundation
import ObjectStore
import Replica
import SessionLog
import Sync

/// `tidemark init URL`.
struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a configuration and try the store.",
    discussion: """
      Puts, reads back and deletes a scratch object; nothing is configured when that fails. \
      Credentials come from the AWS environment variables or profile files, or from \
      TIDEMARK_WEBDAV_USER and TIDEMARK_WEBDAV_PASSWORD.
      """)

  @Argument(help: "s3://bucket/prefix, https://host/dav/folder, or file:///folder.")
  var url: String

  func run() async throws {
    let store = try StoreURL(url)
    let place = try Workplace()
    let context = try place.context(store: store)
    try await probe(context.store)
    try write(store: store.description, to: place.home.configurationPath)
    Console.say("Ready: \(store) takes, gives back and deletes objects.")
    Console.say("Configuration: \(place.home.configurationPath) (consent: logs)")
    Console.say("Next: tidemark run -- PROGRAM   and in crontab: * * * * * tidemark upload")
    let secrets = ["AWS_SECRET_ACCESS_KEY", "TIDEMARK_WEBDAV_PASSWORD"].filter {
      place.environment[$0]?.isEmpty == false
    }
    if let name = secrets.first {
      Console.remark(
        "Note: cron will not see \(name). Name a file with the secret in the configuration.")
    }
  }

  private func probe(_ store: any ObjectStore) async throws {
    try await FormatMarker.check(store, create: false)
    let key = "scratch/\(SessionID.make(at: .now()))"
    let content = Array("tidemark \(key)\n".utf8)
    _ = try await store.put(key, content)
    guard try await store.get(key) == content else {
      throw ReplicaError(.damagedObject, "\(store.location)/\(key) came back with other bytes")
    }
    if let error = try await store.delete([key]).first?.error { throw error }
  }

  private func write(store: String, to path: String) throws {
    let text: String
    if let data = FileManager.default.contents(atPath: path) {
      text = SettingsTemplate.replacing(
        storeIn: String(decoding: data, as: UTF8.self), with: store)
    } else {
      text = SettingsTemplate.text(store: store)
    }
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}

/** The exit codes of all commands, as `headgate --help` and docs/cli.md document them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  wrongUsage: 2,
  noDaemon: 3,
  /** A call was denied, or a question was left without an answer. */
  denied: 4,
  timeout: 5,
  /** As shells report a program that SIGINT ended (128 + 2). */
  interrupted: 130,
  /** As shells report a program whose output pipe was closed (128 + SIGPIPE). */
  readerGone: 141,
} as const;

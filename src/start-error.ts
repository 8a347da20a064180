/** Why a command cannot go on, told to a person as one line: what is wrong and what to do about it. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
  /** What the process ends with. */
  readonly exitCode: number = 1;
}

/** The command line or the environment says something that cannot be meant. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
  override readonly exitCode = 2;
}

/** There is no daemon to speak to. */
export class NoDaemonError extends StartError {
  override readonly name = 'NoDaemonError';
  override readonly exitCode = 3;
}

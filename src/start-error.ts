/** Why a command cannot continue, printed as one line: what is wrong and how to fix it. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
  /** The exit code of the process. */
  readonly exitCode: number = 1;
}

/** The command line or the environment is wrong. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
  override readonly exitCode = 2;
}

/** No daemon answers. */
export class NoDaemonError extends StartError {
  override readonly name = 'NoDaemonError';
  override readonly exitCode = 3;
}

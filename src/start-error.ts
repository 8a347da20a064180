import { EXIT } from './exit-codes.ts';

/** Why a command cannot continue, printed as one line: what is wrong and how to fix it. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
  /** The exit code of the process. */
  readonly exitCode: number = EXIT.failed;
}

/** Nothing on this daemon has the id or name that was asked for. */
export class NotFoundError extends StartError {
  override readonly name = 'NotFoundError';
}

/** The command line or the environment is wrong. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
  override readonly exitCode = EXIT.wrongUsage;
}

/** A signal ended the command before it was done. */
export class InterruptedError extends StartError {
  override readonly name = 'InterruptedError';
  override readonly exitCode = EXIT.interrupted;
}

/** No daemon answers. */
export class NoDaemonError extends StartError {
  override readonly name = 'NoDaemonError';
  override readonly exitCode = EXIT.noDaemon;
}

import type { z } from 'zod';
import { StopReason } from '../agent/stop-reason.ts';

/** One command that this machine lends. */
export interface LentCommand<P = unknown> {
  name: string;
  params: z.ZodType<P>;
  /** The result is sent as JSON. Rejects with CommandProblem for problems that the caller can understand. */
  run(params: P, signal: AbortSignal): Promise<unknown>;
}

/** Their names, sorted. */
export const namesOf = (commands: readonly LentCommand[]): string[] => commands.map(({ name }) => name).sort();

/** Their kinds, such as `system` and `file`. */
export const capsOf = (commands: readonly LentCommand[]): string[] => [
  ...new Set(namesOf(commands).flatMap((name) => name.split('.').slice(0, 1))),
];

/** The error of a command that was stopped, by the reason of its signal. */
export function toProblem(reason: unknown): CommandProblem {
  const kind = reason instanceof StopReason ? reason.kind : 'shutdown';
  if (kind === 'cancel') return new CommandProblem('CANCELLED', 'the command was cancelled');
  if (kind === 'timeout') return new CommandProblem('TIMEOUT', 'the command was stopped');
  return new CommandProblem('UNAVAILABLE', 'the node was stopped');
}

/** Why a command failed, for the caller. */
export class CommandProblem extends Error {
  override readonly name = 'CommandProblem';
  readonly code:
    | 'INVALID_REQUEST'
    | 'FORBIDDEN'
    | 'NOT_FOUND'
    | 'TIMEOUT'
    | 'PAYLOAD_TOO_LARGE'
    | 'BUSY'
    | 'CANCELLED'
    | 'UNAVAILABLE';

  constructor(code: CommandProblem['code'], message: string) {
    super(message);
    this.code = code;
  }
}

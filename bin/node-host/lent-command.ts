import type { z } from 'zod';

/** One command that this machine lends. */
export interface LentCommand<P = unknown> {
  name: string;
  params: z.ZodType<P>;
  /** The answer goes over the wire as JSON. Rejects with CommandProblem for what the caller can understand. */
  run(params: P, signal: AbortSignal): Promise<unknown>;
}

/** Sorted. */
export const namesOf = (commands: readonly LentCommand[]): string[] => commands.map(({ name }) => name).sort();

/** What kinds of commands they are: `system`, `file`. */
export const capsOf = (commands: readonly LentCommand[]): string[] => [
  ...new Set(namesOf(commands).flatMap((name) => name.split('.').slice(0, 1))),
];

/** Why a command did not do what was asked, told to whoever asked. */
export class CommandProblem extends Error {
  override readonly name = 'CommandProblem';
  readonly code:
    | 'INVALID_REQUEST'
    | 'FORBIDDEN'
    | 'NOT_FOUND'
    | 'TIMEOUT'
    | 'PAYLOAD_TOO_LARGE'
    | 'BUSY'
    | 'UNAVAILABLE';

  constructor(code: CommandProblem['code'], message: string) {
    super(message);
    this.code = code;
  }
}

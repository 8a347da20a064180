import { GatewayError } from '../../../protocol/errors.ts';
import type { Message } from '../../agent/message.ts';
import type { Call } from '../call.ts';
import type { Sender } from '../rights.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Workstream } from '../workstreams/workstream.ts';

/** A slash command. */
export interface Command {
  /**
   * `idle`: it is refused while a run is in progress; `alone`: also, no run may start meanwhile, because it changes the
   * context of the next turn.
   */
  when: 'always' | 'idle' | 'alone';
  run(argument: string, workstream: Workstream, by: CommandCaller): Promise<void>;
}

/** A refusal for a reason that not everyone who follows the workstream may know: the answer to the caller has it. */
export class ToldToCaller extends GatewayError {}

/** Whether a name could not be given, because another workstream has it. That one may be private. */
export const isNameInUse = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'CONFLICT';

export const toldToCaller = (error: GatewayError): ToldToCaller =>
  new ToldToCaller(error.code, error.message, { cause: error });

/** Who enters a command. */
export interface CommandCaller extends Sender {
  viewer: Viewer;
  call: Pick<Call, 'principal' | 'perform'>;
}

/** Why a context is cleared; undefined: it stays. */
export type ReasonIn = (context: readonly Message[]) => Promise<string | undefined>;

import { z } from 'zod';
import { commandResultShape } from './command-result.ts';

/** Why a command in the background ended. */
export const BACKGROUND_ENDS = [
  'exited', // by itself; `exit_code` says how
  'signal', // a signal that Headgate did not send ended it, or one of its limits
  'failed', // it could not be run
  'killed', // the model or a person ended it
  'timeout',
  'cancelled', // a person cancelled the run, or what the workstream does
  'closed', // its workstream was closed or deleted
  'reset', // a new conversation began in its workstream
  'shutdown', // the daemon was stopped
  'lost', // the daemon died, or its end could not be recorded
] as const;
/** One of BACKGROUND_ENDS. */
export type BackgroundEnd = (typeof BACKGROUND_ENDS)[number];

/** A command that runs in the background, as far as it is known now. */
export const backgroundCommandShape = {
  command_id: z.string(),
  /** The call of `bash` that started it. */
  call_id: z.string(),
  /** Its beginning, if it is long. */
  command: z.string(),
  state: z.enum(['running', 'ended']),
  started_ms: z.int().min(0),
  /** It is ended then. */
  until_ms: z.int().min(0),
  ended_ms: z.int().min(0).optional(),
  /** Why it ended; clients should accept further reasons. */
  end: z.enum(BACKGROUND_ENDS).optional(),
  exit_code: z.int().optional(),
  ...commandResultShape,
  /** Of all of its output so far. */
  output_bytes: z.int().min(0),
  /** The last lines of its output. */
  last_output: z.string(),
};

/** A command in the background, as lists show it. */
export const BackgroundCommand = z.object(backgroundCommandShape).meta({ id: 'BackgroundCommand' });
export type BackgroundCommand = z.infer<typeof BackgroundCommand>;

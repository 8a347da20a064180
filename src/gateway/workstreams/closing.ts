import { GatewayError } from '../../../protocol/errors.ts';
import { StopReason } from '../../agent/stop-reason.ts';

/** Why a workstream no longer accepts anything. */
export type Closing = 'close' | 'shutdown';

const WORDS: Record<Closing, string> = {
  close: 'The workstream is being closed',
  shutdown: 'Headgate is shutting down',
};

/** The error for a message that arrives too late. */
export const closed = (closing: Closing) => new GatewayError('UNAVAILABLE', WORDS[closing], { retryAfterMs: 2_000 });

/** The stop reason for a run that the next start continues. */
export const shuttingDown = () => new StopReason('shutdown', WORDS.shutdown);

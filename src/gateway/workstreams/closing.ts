import { GatewayError } from '../../../protocol/errors.ts';
import { StopReason } from '../../agent/stop-reason.ts';

/** Why a workstream accepts nothing any more. */
export type Closing = 'close' | 'shutdown';

const WORDS: Record<Closing, string> = {
  close: 'The workstream is being closed',
  shutdown: 'Headgate is shutting down',
};

/** What a message hears that comes too late. */
export const closed = (closing: Closing) => new GatewayError('UNAVAILABLE', WORDS[closing], { retryAfterMs: 2_000 });

/** What a run hears that the next start continues. */
export const shuttingDown = () => new StopReason('shutdown', WORDS.shutdown);

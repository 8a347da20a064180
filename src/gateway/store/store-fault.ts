import { GatewayError } from '../../../protocol/errors.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';

/** Converts a store error for callers: retry later, or the data is damaged. */
export function toReadError(error: unknown): unknown {
  switch (faultOf(error)) {
    case 'damaged':
      return damaged(error);
    case 'disk':
    case 'locked':
      return unavailable('The disk cannot be read', error);
    case 'taken':
    case 'other':
      return error;
  }
}

/** Only a repair of the file helps; other data stays available. */
export const damaged = (cause: unknown): GatewayError =>
  new GatewayError('INTERNAL', 'The part of the database that holds this is damaged', { cause });

export const unavailable = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('UNAVAILABLE', message, { retryAfterMs: 1_000, cause });

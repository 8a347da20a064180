import { GatewayError } from '../../../protocol/errors.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';

/** What a failure of the store tells whoever asked: to try again, or that what they asked for is damaged. */
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

/** Nothing helps but a repair of the file; the rest of it goes on. */
export const damaged = (cause: unknown): GatewayError =>
  new GatewayError('INTERNAL', 'The part of the database that holds this is damaged', { cause });

export const unavailable = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('UNAVAILABLE', message, { retryAfterMs: 1_000, cause });

/** Why a socket is closed, as its client reads it. */
export interface Closing {
  code: number;
  reason: string;
}

export const UNAUTHORIZED: Closing = { code: 1008, reason: 'unauthorized' };
export const INVALID_HANDSHAKE: Closing = { code: 1008, reason: 'invalid handshake' };

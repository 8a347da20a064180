import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Clock } from '../../../clock.ts';
import { createTokenBucket } from '../../../timing/token-bucket.ts';

/** Messages that no request of ours asked for. */
const UNASKED = { burst: 2_000, perSecond: 200 };

/** Why a server was ended; for people. */
export const TOO_MANY_UNASKED = 'sent more messages than anybody asked for';

/** Tells with each message of a server whether it is one too many. Answers always may come. */
export function createUnaskedLimit(clock: Clock): (message: JSONRPCMessage) => boolean {
  const bucket = createTokenBucket({ limit: () => UNASKED, clock });
  return (message) => {
    const isAnswer = 'id' in message && !('method' in message);
    return !isAnswer && bucket.take() > 0;
  };
}

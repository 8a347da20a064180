import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';

/** Limits how many bodies of more than the usual size are in memory at the same time. Throws BUSY beyond it. */
export type AdmitBody = (req: IncomingMessage, res: ServerResponse) => void;

interface LargeBodies {
  /** How many at the same time. */
  most: number;
  /** What they are, for a refusal: "imports". */
  what: string;
  /** The body may take long to arrive. */
  onLarge?(req: IncomingMessage): void;
}

export function createLargeBodies({ most, what, onLarge }: LargeBodies): AdmitBody {
  const held = new Set<ServerResponse>();
  return (req, res) => {
    if (Number(req.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= LIMITS.maxPayloadBytes) return;
    if (res.destroyed) return; // the client left before it was known: nothing of the body comes, and `close` has passed
    if (held.size >= most) throw tooMany(what, most);
    held.add(res);
    res.once('close', () => held.delete(res));
    onLarge?.(req);
  };
}

const tooMany = (what: string, most: number) =>
  new GatewayError('BUSY', `Too many simultaneous ${what} (limit ${most}); retry later`, { retryAfterMs: 2_000 });

import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';

/** Limits how many bodies of more than the usual size are in memory at the same time. Throws BUSY beyond it. */
export type AdmitBody = (req: IncomingMessage, res: ServerResponse) => void;

/** `onLarge`: the body may take long to arrive. */
export function createLargeBodies(onLarge: (req: IncomingMessage) => void): AdmitBody {
  const held = new Set<ServerResponse>();
  return (req, res) => {
    if (Number(req.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= LIMITS.maxPayloadBytes) return;
    if (held.size >= LIMITS.importsAtOnce) throw tooMany();
    held.add(res);
    res.once('close', () => held.delete(res));
    onLarge(req);
  };
}

const tooMany = () =>
  new GatewayError('BUSY', `Too many simultaneous imports (limit ${LIMITS.importsAtOnce}); retry later`, {
    retryAfterMs: 2_000,
  });

import { boundedBody } from '../../gateway/channels/calls/bounded-body.ts';
import type { Answer } from '../exchange.ts';

const ASK_MS = 3_000;
const MOST_BYTES = 64 * 1024;

/** What a standby says about itself, without a credential of the caller. Rejects if it cannot be asked. */
export async function askStandby(address: string, path: string, requestId: string): Promise<Answer> {
  const answer = await fetch(new URL(path, address), { redirect: 'error', signal: AbortSignal.timeout(ASK_MS) });
  const pieces: Uint8Array[] = [];
  for await (const piece of boundedBody(answer, { maxBytes: MOST_BYTES, onPiece: () => undefined })) pieces.push(piece);
  const body = Buffer.concat(pieces).toString();
  const contentType = answer.headers.get('content-type') ?? 'text/plain';
  if (contentType !== 'application/json') return { status: answer.status, contentType, body };
  const named = Object.assign({}, JSON.parse(body), { request_id: requestId }); // of this answer, not of the standby's
  return { status: answer.status, contentType, body: JSON.stringify(named) };
}

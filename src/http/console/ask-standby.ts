import { boundedBody } from '../../gateway/channels/calls/bounded-body.ts';
import type { Answer } from '../exchange.ts';

const ASK_MS = 3_000;
const MOST_BYTES = 64 * 1024;
const JSON_TYPE = 'application/json';
/** What a standby answers with. Another program at its address must not show a page as one of this daemon. */
const TYPES: ReadonlySet<string> = new Set([JSON_TYPE, 'text/plain; version=0.0.4; charset=utf-8']);
const HEADERS = { 'X-Content-Type-Options': 'nosniff' };

/** What a standby says about itself, without a credential of the caller. Rejects if it cannot be asked, or answers anything else. */
export async function askStandby(address: string, path: string, requestId: string): Promise<Answer> {
  const answer = await fetch(new URL(path, address), { redirect: 'error', signal: AbortSignal.timeout(ASK_MS) });
  const contentType = answer.headers.get('content-type') ?? '';
  if (!TYPES.has(contentType)) {
    await answer.body?.cancel();
    throw new Error('it answers like another program');
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of boundedBody(answer, { maxBytes: MOST_BYTES, onPiece: () => undefined })) pieces.push(piece);
  const body = Buffer.concat(pieces).toString();
  if (contentType !== JSON_TYPE) return { status: answer.status, contentType, headers: HEADERS, body };
  const named = Object.assign({}, JSON.parse(body), { request_id: requestId }); // of this answer, not of the standby's
  return { status: answer.status, contentType, headers: HEADERS, body: JSON.stringify(named) };
}

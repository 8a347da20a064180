import type { Answer } from '../exchange.ts';

const ASK_MS = 3_000;
const MOST_BYTES = 64 * 1024;

/** What a standby says about itself, without a credential of the caller. Rejects if it cannot be asked. */
export async function askStandby(address: string, path: string, requestId: string): Promise<Answer> {
  const answer = await fetch(new URL(path, address), { redirect: 'error', signal: AbortSignal.timeout(ASK_MS) });
  const body = await answer.text();
  if (body.length > MOST_BYTES) throw new Error('its answer is too long');
  const contentType = answer.headers.get('content-type') ?? 'text/plain';
  if (contentType !== 'application/json') return { status: answer.status, contentType, body };
  const named = Object.assign({}, JSON.parse(body), { request_id: requestId }); // of this answer, not of the standby's
  return { status: answer.status, contentType, body: JSON.stringify(named) };
}

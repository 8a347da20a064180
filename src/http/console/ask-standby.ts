import { unreachableNode } from '../../gateway/cluster/node-ids.ts';
import type { Answer } from '../exchange.ts';

const ASK_MS = 3_000;
const MOST_BYTES = 64 * 1024;

/** What a standby says about itself. It gets no credential of the caller. */
export async function askStandby(address: string | undefined, path: string): Promise<Answer> {
  if (address === undefined) throw unreachableNode();
  try {
    const answer = await fetch(new URL(path, address), { redirect: 'error', signal: AbortSignal.timeout(ASK_MS) });
    const body = await answer.text();
    if (body.length > MOST_BYTES) throw unreachableNode();
    return { status: answer.status, contentType: answer.headers.get('content-type') ?? 'text/plain', body };
  } catch (error) {
    throw unreachableNode(error);
  }
}

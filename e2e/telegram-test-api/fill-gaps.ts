import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, listen } from '../../src/listen.ts';

/** What the package does not know, answered as Telegram would for a new bot. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  getWebhookInfo: { url: '', has_custom_certificate: false, pending_update_count: 0 },
  getMyCommands: [],
  setMyCommands: true,
  sendChatAction: true,
};

/** A server in front of the Bot API at `behind`, on a free port of this machine. */
export async function fillGaps(behind: string): Promise<{ root: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const method = request.url?.split('/').at(-1) ?? '';
    const known = ANSWERS[method];
    const { status, body } =
      known === undefined
        ? await pass(request, behind)
        : { status: 200, body: Buffer.from(JSON.stringify({ ok: true, result: known })) };
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return { root: `http://127.0.0.1:${port}`, close: () => closeServer(server) };
}

async function pass(request: IncomingMessage, behind: string): Promise<{ status: number; body: Buffer }> {
  const headers = { 'content-type': request.headers['content-type'] ?? 'application/json' };
  const init = { method: 'POST', headers, body: await buffer(request) };
  const answer = await fetch(`${behind}${request.url}`, init);
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

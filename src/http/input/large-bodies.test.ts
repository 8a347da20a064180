import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { createLargeBodies } from './large-bodies.ts';

/** A request; without a length, as one that is sent in chunks. */
function exchange(length?: number) {
  const req = new IncomingMessage(new Socket());
  if (length !== undefined) req.headers['content-length'] = String(length);
  return { req, res: new ServerResponse(req) };
}

test('so many large bodies are taken at once, each kind in its own places; usual ones take none', () => {
  const late: IncomingMessage[] = [];
  const imports = createLargeBodies({ most: 1, what: 'imports', onLarge: (req) => late.push(req) });
  const calls = createLargeBodies({ most: 2, what: 'large calls' });
  for (let n = 0; n < 3; n += 1) {
    const { req, res } = exchange(1_000);
    calls(req, res);
  }
  const held = [exchange(), exchange()];
  for (const { req, res } of held) calls(req, res);
  const more = exchange();
  assert.throws(() => calls(more.req, more.res), {
    code: 'BUSY',
    message: /^Too many simultaneous large calls \(limit 2\)/,
  });
  imports(more.req, more.res);
  assert.deepEqual(late, [more.req]);
  held[0]?.res.emit('close');
  const next = exchange();
  calls(next.req, next.res);
});

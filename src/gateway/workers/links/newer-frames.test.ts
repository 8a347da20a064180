import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { settle } from './joined-links-fixture.ts';
import { createLink } from './link.ts';
import { toPieces } from './message-pieces.ts';
import { createSeal } from './sealed-messages.ts';

test('a link ignores what only a newer version sends, and goes on', async () => {
  const secret = randomBytes(32);
  const heard: unknown[] = [];
  const link = createLink({
    seal: createSeal(secret, 'answered'),
    send: () => undefined,
    handlers: { answer: async () => null, hear: (what, body) => void heard.push([what, body]) },
    clock: fakeClock(0),
    log: recordingLog(),
  });
  const answer = link.ask('q', 1);
  const other = createSeal(secret, 'asked');
  const send = (frame: unknown) => {
    for (const piece of toPieces(Buffer.from(JSON.stringify(frame)))) link.take(other.close(piece));
  };
  send({ kind: 'later', id: 1, body: 2 });
  send({ kind: 'tell', what: 'news', body: 3, later: true });
  send({ kind: 'answer', id: 1, body: 4, later: true });
  assert.equal(await answer, 4);
  await settle();
  assert.deepEqual([heard, link.ended.aborted], [[['news', 3]], false]);
  link.end('over');
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSeal, type Seal } from './sealed-messages.ts';

/** Both ends of a session. */
function bothEnds(secret = randomBytes(32)): { asked: Seal; answered: Seal } {
  return { asked: createSeal(secret, 'asked'), answered: createSeal(secret, 'answered') };
}

const opened = (seal: Seal, sealed: Uint8Array): string => seal.open(sealed).toString();
const closed = (seal: Seal, text: string): Buffer => seal.close(Buffer.from(text));

test('messages of any size arrive unchanged in both directions', () => {
  const { asked, answered } = bothEnds();
  for (const size of [0, 1, 1_000, 600_000]) {
    const text = randomBytes(size);
    assert.deepEqual(answered.open(asked.close(text)), text);
    assert.deepEqual(asked.open(answered.close(text)), text);
  }
});

test('the same text is never sealed into the same message, and its content is hidden', () => {
  const { asked, answered } = bothEnds();
  const sealed = [closed(asked, 'a secret'), closed(asked, 'a secret'), closed(answered, 'a secret')];
  assert.equal(new Set(sealed.map((one) => one.subarray(8).toString('hex'))).size, 3);
  assert.ok(sealed.every((one) => !one.includes('secret')));
});

test('a repeated message is refused', () => {
  const { asked, answered } = bothEnds();
  const first = closed(asked, '1');
  assert.equal(opened(answered, first), '1');
  assert.throws(() => answered.open(first), /a message is missing/);
  assert.equal(opened(answered, closed(asked, '2')), '2', 'the next one is taken');
});

test('a message after a missing one is refused', () => {
  const { asked, answered } = bothEnds();
  const [first, second] = [closed(asked, '1'), closed(asked, '2')];
  assert.throws(() => answered.open(second), /a message is missing/);
  assert.deepEqual([opened(answered, first), opened(answered, second)], ['1', '2']);
});

test('a message with the number of another one is refused', () => {
  const { asked, answered } = bothEnds();
  const [first, second] = [closed(asked, '1'), closed(asked, '2')];
  const renumbered = Buffer.concat([first.subarray(0, 8), second.subarray(8)]);
  assert.throws(() => answered.open(renumbered));
});

test('a message that is sent back to its sender is refused', () => {
  const { asked, answered } = bothEnds();
  assert.throws(() => asked.open(closed(asked, '1')));
  assert.throws(() => answered.open(closed(answered, '1')));
});

test('a message is refused if any bit of it was altered', () => {
  const sent = bothEnds();
  const message = closed(sent.asked, 'pay 10 to Ada');
  for (let bit = 0; bit < message.length * 8; bit += 1) {
    const altered = Buffer.from(message);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => sent.answered.open(altered), `bit ${bit}`);
  }
  assert.equal(opened(sent.answered, message), 'pay 10 to Ada', 'refusals change nothing');
});

test('a message is refused if its end is cut off, or something is added', () => {
  const { asked, answered } = bothEnds();
  const message = closed(asked, 'a text');
  for (let length = 0; length < message.length; length += 1)
    assert.throws(() => answered.open(message.subarray(0, length)), `${length} bytes`);
  assert.throws(() => answered.open(Buffer.concat([message, Buffer.of(0)])));
});

test('a message of another session is refused', () => {
  const [here, other] = [bothEnds(), bothEnds()];
  assert.throws(() => here.answered.open(closed(other.asked, '1')));
  assert.equal(opened(here.answered, closed(here.asked, '1')), '1');
});

import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { type Envelope, readEnvelope, writeEnvelope } from './envelope.ts';

const HELLO: Envelope = { kind: 'hello', hello: { from: 'a', to: 'b', once: 'o', signature: 's' } };
const WELCOME: Envelope = { kind: 'welcome', once: 'o', welcome: { session: 'x', once: 'p', signature: 't' } };

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

test('greetings and sealed messages are read as they were written', () => {
  for (const envelope of [HELLO, WELCOME]) assert.deepEqual(readEnvelope(writeEnvelope(envelope)), envelope);
  for (const size of [0, 1, 600_000]) {
    const sealed = randomBytes(size);
    assert.deepEqual(readEnvelope(writeEnvelope({ kind: 'sealed', session: 'ab12', sealed })), {
      kind: 'sealed',
      session: 'ab12',
      sealed,
    });
  }
});

test('what no daemon sends is undefined', () => {
  const others: [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['no JSON', Buffer.from('hello')],
    ['half of a greeting', writeEnvelope(HELLO).subarray(0, 20)],
    ['another kind', json({ ...HELLO, kind: 'bye' })],
    ['JSON of a sealed message', json({ kind: 'sealed', session: 'x', sealed: 'y' })],
    ['a hello without its fields', json({ kind: 'hello', hello: {} })],
    [
      'a hello whose fields are no texts',
      json({ kind: 'hello', hello: { from: 1, to: [], once: {}, signature: null } }),
    ],
    ['a welcome without a session', json({ kind: 'welcome', once: 'o', welcome: { once: 'p', signature: 't' } })],
    ['null', json(null)],
    ['a list', json([HELLO])],
    ['bytes that are no UTF-8', Buffer.of(0xff, 0xfe, 0x80)],
  ];
  for (const [name, message] of others) assert.equal(readEnvelope(message), undefined, name);
});

test('long greetings, and greetings with long fields, are refused', () => {
  const signature = 's'.repeat(200);
  const hello = { from: 'a', to: 'b', once: 'o', signature };
  assert.ok(readEnvelope(json({ kind: 'hello', hello })));
  assert.equal(readEnvelope(json({ kind: 'hello', hello: { ...hello, signature: `${signature}s` } })), undefined);
  assert.equal(readEnvelope(json({ kind: 'hello', hello, more: 'x'.repeat(2_000) })), undefined);
});

test('random bytes cause no exception', () => {
  for (let n = 0; n < 500; n += 1) {
    const message = randomBytes(randomInt(0, 300));
    const read = readEnvelope(message);
    if (message[0] === 0) assert.equal(read?.kind, 'sealed');
    else assert.equal(read, undefined);
  }
});

test('a sealed message that ends early causes no exception', () => {
  const whole = writeEnvelope({ kind: 'sealed', session: 'ab12', sealed: Buffer.of(1, 2, 3) });
  for (let length = 1; length < whole.length; length += 1) assert.ok(readEnvelope(whole.subarray(0, length)));
});

test('a greeting with altered bytes is read as another one, or not at all', () => {
  const whole = writeEnvelope(HELLO);
  for (let n = 0; n < 500; n += 1) {
    const altered = Buffer.from(whole);
    altered[randomInt(altered.length)] = randomInt(1, 256); // 0 begins a sealed message
    const read = readEnvelope(altered);
    assert.ok(read === undefined || read.kind === 'hello');
  }
});

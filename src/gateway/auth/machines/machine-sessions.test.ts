import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { FORWARDED, type ForwardedHead, type ForwardedRequest, sealHead } from './forwarded-head.ts';
import { beginGreeting, type Hello, type Welcome } from './greeting.ts';
import { createMachineKey, type MachineKey } from './machine-key.ts';
import { createMachineSessions } from './machine-sessions.ts';

const ASKED: ForwardedRequest = { method: 'POST', target: '/v1/api/send?x=1', host: 'headgate.example' };
const ADDRESS = '192.0.2.7';

/** A daemon, and another one that its database knows. */
function setUp() {
  const key = createMachineKey();
  const other = { process: 'other', key: createMachineKey() };
  const known = new Map([[other.process, other.key.publicKey]]);
  const asked: string[] = [];
  const sessions = createMachineSessions({
    process: 'here',
    key,
    async findKey(process) {
      asked.push(process);
      return known.get(process);
    },
    ids: randomIds,
  });
  const greet = async () => {
    const greeting = beginGreeting(other, 'here');
    const welcome = await sessions.greet(greeting.hello);
    assert.ok(welcome);
    const secret = greeting.secretOf(welcome, key.publicKey);
    assert.ok(secret);
    return { session: welcome.session, secret };
  };
  return { key, other, known, asked, sessions, greet };
}

const asking = (value: string | undefined, { method, target, host }: ForwardedRequest = ASKED) => ({
  method,
  url: target,
  headers: { host, ...(value !== undefined && { [FORWARDED]: value }) },
});

/** What the daemon makes of a request with this number, sealed as the other daemon would. */
const sealed = (
  { session, secret }: { session: string; secret: Buffer },
  number: number,
  head: Partial<ForwardedHead> = {},
): string => sealHead({ session, number, address: ADDRESS, ...head }, ASKED, secret);

test('two daemons that the database knows agree on a session, and a request in it has the address of its client', async () => {
  const { sessions, greet, asked } = setUp();
  const session = await greet();
  assert.deepEqual(asked, ['other']);
  assert.deepEqual(sessions.clientOf(asking(sealed(session, 1))), { address: ADDRESS });
  assert.deepEqual(sessions.clientOf(asking(sealed(session, 2, { address: '2001:db8::7' }))), {
    address: '2001:db8::7',
  });
  assert.deepEqual(sessions.clientOf(asking(sealed(session, 3, { address: '' }))), { address: '' });
  assert.equal(sessions.clientOf(asking(undefined)), undefined);
});

const signedBy = (key: MachineKey, hello: Hello): Hello => ({
  ...hello,
  signature: key.sign(['headgate hello 1', hello.from, hello.to, hello.once].join('\n')),
});

test('a greeting that does not prove who sent it, or that means another process, gives no session', async () => {
  const { sessions, other, known } = setUp();
  const stranger = { process: 'stranger', key: createMachineKey() };
  const { hello } = beginGreeting(other, 'here');
  const { once } = beginGreeting(other, 'here').hello;
  known.set('odd', 'no key');
  const bad: Record<string, Hello> = {
    'another process is meant': beginGreeting(other, 'elsewhere').hello,
    'an unknown process': beginGreeting(stranger, 'here').hello,
    'a process that claims to be another': beginGreeting({ ...stranger, process: 'other' }, 'here').hello,
    'the signature of another greeting': { ...hello, signature: beginGreeting(other, 'here').hello.signature },
    'no signature': { ...hello, signature: '' },
    'a malformed signature': { ...hello, signature: '%%%' },
    'another one-time key': { ...hello, once },
    'a malformed one-time key': signedBy(other.key, { ...hello, once: 'x' }),
    'a greeting to another process, sent here': { ...beginGreeting(other, 'elsewhere').hello, to: 'here' },
    'a process with a malformed key in the database': beginGreeting({ ...other, process: 'odd' }, 'here').hello,
  };
  for (const [what, greeting] of Object.entries(bad)) assert.equal(await sessions.greet(greeting), undefined, what);
  assert.ok(await sessions.greet(hello), 'the greeting itself is good');
});

test('a recorded greeting gives its sender no secret', async () => {
  const { sessions, other, key } = setUp();
  const { hello, secretOf } = beginGreeting(other, 'here');
  const first = await sessions.greet(hello);
  const second = await sessions.greet(hello);
  assert.ok(first && second);
  assert.notEqual(first.session, second.session);
  const known = secretOf(first, key.publicKey);
  assert.ok(known);
  // Whoever replays it has at most the secret of the first session.
  assert.equal(sessions.clientOf(asking(sealed({ session: second.session, secret: known }, 1))), 'unknown');
});

test('an answer to a greeting from anybody else is refused', async () => {
  const { sessions, other, key } = setUp();
  const { hello, secretOf } = beginGreeting(other, 'here');
  const welcome = await sessions.greet(hello);
  const later = await sessions.greet(beginGreeting(other, 'here').hello);
  assert.ok(welcome && later);
  const bad: Record<string, Welcome> = {
    'another session': { ...welcome, session: later.session },
    'another one-time key': { ...welcome, once: later.once },
    'another signature': { ...welcome, signature: later.signature },
    'the answer to another greeting': later,
    'no signature': { ...welcome, signature: '' },
    'a malformed one-time key': { ...welcome, once: '' },
  };
  for (const [what, answer] of Object.entries(bad)) assert.equal(secretOf(answer, key.publicKey), undefined, what);
  assert.equal(secretOf(welcome, createMachineKey().publicKey), undefined, 'a public key of another daemon');
  assert.equal(secretOf(welcome, ''), undefined, 'no public key');
  assert.ok(secretOf(welcome, key.publicKey));
});

test('a sealed head is accepted once, and only with its own request', async () => {
  const { sessions, greet } = setUp();
  const session = await greet();
  const value = sealed(session, 1);
  for (const other of [{ method: 'GET' }, { target: '/v1/api/send' }, { host: 'evil.example' }])
    assert.equal(sessions.clientOf(asking(value, { ...ASKED, ...other })), 'unknown', JSON.stringify(other));
  assert.equal(sessions.clientOf(asking(value.replace(ADDRESS, '127.0.0.1'))), 'unknown', 'another address');
  assert.equal(sessions.clientOf(asking(value.replace(';1;', ';2;'))), 'unknown', 'another number');
  const request = asking(value);
  assert.deepEqual(sessions.clientOf(request), { address: ADDRESS });
  assert.deepEqual(sessions.clientOf(request), { address: ADDRESS }, 'asked again for the same request');
  assert.equal(sessions.clientOf(asking(value)), 'unknown', 'sent again');
  assert.equal(sessions.clientOf(asking(value.replace(';1;', ';01;'))), 'unknown', 'sent again, written differently');
});

test('a head from another session is refused', async () => {
  const { sessions, greet } = setUp();
  const [one, two] = [await greet(), await greet()];
  const crossed = [
    { session: one.session, secret: two.secret },
    { session: two.session, secret: one.secret },
    { session: 'f'.repeat(32), secret: one.secret },
  ];
  for (const session of crossed) assert.equal(sessions.clientOf(asking(sealed(session, 1))), 'unknown');
  for (const session of [one, two])
    assert.deepEqual(sessions.clientOf(asking(sealed(session, 1))), { address: ADDRESS });
});

test('a malformed head is refused', async () => {
  const { sessions, greet } = setUp();
  const session = await greet();
  const value = sealed(session, 1);
  const [id, , address, code] = value.split(';');
  const bad = [
    ...['', ';', ';;;', 'x', `${value};`, `${value}, ${value}`, `;1;${address};${code}`, `${id};1;${address}`],
    ...['', '-1', '+1', '1.5', '1e1', '0x1', ' 1', '9'.repeat(16)].map((n) => `${id};${n};${address};${code}`),
    ...[`${id};1;${address};`, `${id};1;${address};${code?.slice(1)}`, `${id};1;${address};${code}AAAA`],
    ...[`__proto__;1;${address};${code}`],
  ];
  for (const text of bad) assert.equal(sessions.clientOf(asking(text)), 'unknown', text);
  const repeated = { ...asking(undefined), headers: { host: ASKED.host, [FORWARDED]: [value, value] } };
  assert.equal(sessions.clientOf(repeated), 'unknown');
  assert.deepEqual(sessions.clientOf(asking(value)), { address: ADDRESS });
});

test('requests that overtake each other are accepted, those that come much too late are not', async () => {
  const { sessions, greet } = setUp();
  const session = await greet();
  const accepts = (number: number) => sessions.clientOf(asking(sealed(session, number))) !== 'unknown';
  assert.deepEqual([3, 1, 2, 5_000, 4_999, 905].map(accepts), [true, true, true, true, true, true]);
  assert.deepEqual([3, 1, 2, 5_000, 4_999, 905, 904].map(accepts), Array(7).fill(false));
  // More than are remembered: still none twice.
  for (let number = 5_001; number <= 20_000; number += 1) assert.equal(accepts(number), true);
  assert.deepEqual([5_001, 15_904, 15_905, 19_999, 20_000].map(accepts), Array(5).fill(false));
});

test('the oldest of too many sessions is forgotten', async () => {
  const { sessions, greet } = setUp();
  const all = [];
  for (let count = 0; count < 257; count += 1) all.push(await greet());
  const known = all.map((session) => sessions.clientOf(asking(sealed(session, 1))) !== 'unknown');
  assert.deepEqual([known.indexOf(true), known.lastIndexOf(false)], [1, 0]);
});

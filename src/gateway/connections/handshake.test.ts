import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSINGS } from '../../../protocol/closings.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import type { Principal } from '../auth/principal.ts';
import { CONNECT } from '../testing/test-client.ts';
import { NO_PERMISSIONS } from '../users/grant.ts';
import { noNodes } from './connection-fixture.ts';
import { shakeHands } from './handshake.ts';

const ada: Principal = {
  id: 'ada',
  scopes: new Set(['write']),
  permissions: NO_PERMISSIONS,
  source: { kind: 'operator' },
  ended: new AbortController().signal,
};

const authenticator = {
  authenticate: async (token: string | undefined) => (token === 'good' ? ada : undefined),
};

const shake = (text: string | undefined, token?: string) =>
  shakeHands(text, {
    ...{ authenticator, upgrade: { token, via: 'cookie' }, nodes: noNodes },
    ...{ address: '::1', hasOrigin: false, log: recordingLog() },
  });
const connect = (params?: unknown) => JSON.stringify({ type: 'req', id: '1', method: 'connect', params });
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** An outcome as the client sees it: the answer, then how the socket closes. */
async function read(text: string | undefined, upgradeToken?: string) {
  const outcome = await shake(text, upgradeToken);
  if (outcome.kind === 'accepted') return outcome.principal.id;
  const { answer, closing } = outcome;
  const error = answer && `${answer.id} ${answer.error.code} ${answer.error.message}`;
  const { code, reason } = CLOSINGS[closing];
  return [error, code, reason];
}

const INVALID = [undefined, 1008, 'invalid handshake'];
const REFUSED: [what: string, text: string | undefined, read: unknown][] = [
  ['not JSON', '{', [undefined, 1000, '']],
  ['a binary frame', undefined, [undefined, 1000, '']],
  ['a number', '42', INVALID],
  ['null', 'null', INVALID],
  ['an array', '[]', INVALID],
  ['a response frame', '{"type":"res","id":"1","ok":true}', INVALID],
  ['a frame without id', '{"type":"req","method":"connect"}', INVALID],
  ['a frame with an empty id', '{"type":"req","id":"","method":"connect"}', INVALID],
  ['a frame with an unknown property', '{"type":"req","id":"1","method":"connect","x":1}', INVALID],
  ['a frame with a key called __proto__', '{"type":"req","id":"1","method":"connect","__proto__":{}}', INVALID],
  ['a value nested more than 32 deep', connect(JSON.parse(nested(32))), INVALID],
  [
    'another method first',
    '{"type":"req","id":"1","method":"health"}',
    ['1 INVALID_REQUEST invalid handshake: first request must be connect', 1008, 'invalid handshake'],
  ],
  [
    'max below ours',
    connect({ ...CONNECT, maxProtocol: 1 }),
    ['1 INVALID_REQUEST protocol mismatch', 1002, 'protocol mismatch'],
  ],
  [
    'min above ours',
    connect({ ...CONNECT, minProtocol: 3, maxProtocol: 9 }),
    ['1 INVALID_REQUEST protocol mismatch', 1002, 'protocol mismatch'],
  ],
  ['no token', connect(CONNECT), ['1 UNAUTHORIZED unauthorized', 1008, 'unauthorized']],
  ['an empty auth object', connect({ ...CONNECT, auth: {} }), ['1 UNAUTHORIZED unauthorized', 1008, 'unauthorized']],
  [
    'a wrong token',
    connect({ ...CONNECT, auth: { token: 'bad' } }),
    ['1 UNAUTHORIZED unauthorized', 1008, 'unauthorized'],
  ],
  [
    'the token __proto__',
    connect({ ...CONNECT, auth: { token: '__proto__' } }),
    ['1 UNAUTHORIZED unauthorized', 1008, 'unauthorized'],
  ],
];

for (const [what, text, expected] of REFUSED) {
  test(`${what} is refused according to the protocol`, async () => {
    assert.deepEqual(await read(text), expected);
  });
}

const BAD_PARAMS: [what: string, params: unknown, problem: RegExp][] = [
  ['no params', undefined, /minProtocol/],
  ['params that are an array', [], /must be an object, not a list/],
  ['an unknown property', { ...CONNECT, role: 'admin' }, /"role"/],
  ['scopes in the frame', { ...CONNECT, scopes: ['approve'] }, /"scopes"/],
  ['a client without mode', { ...CONNECT, client: { ...CONNECT.client, mode: undefined } }, /client\.mode/],
  ['an empty client name', { ...CONNECT, client: { ...CONNECT.client, name: '' } }, /client\.name/],
  ['a token that is an array', { ...CONNECT, auth: { token: ['good'] } }, /auth\.token/],
  ['a token that is an object', { ...CONNECT, auth: { token: { length: 4 } } }, /auth\.token/],
  ['protocol 0', { ...CONNECT, minProtocol: 0 }, /minProtocol/],
];

for (const [what, params, problem] of BAD_PARAMS) {
  test(`connect with ${what} is refused, naming the field`, async () => {
    const [error, ...closing] = (await read(connect(params), 'good')) as [string, number, string];
    assert.match(error, /^1 INVALID_REQUEST invalid connect params: /);
    assert.match(error, problem);
    assert.deepEqual(closing, [1008, 'invalid handshake']);
  });
}

test('a protocol mismatch names our version', async () => {
  const outcome = await shake(connect({ ...CONNECT, minProtocol: 3, maxProtocol: 3 }));
  assert.deepEqual(outcome.kind === 'refused' && outcome.answer?.error.details, { expectedProtocol: 2 });
});

/** A connect of a later version: with a range, a role, and other names for known fields. */
const LATER = {
  minProtocol: 3,
  maxProtocol: 4,
  client: { id: 'cli', mode: 'cli' },
  role: 'operator',
  device: { id: 'd' },
};

test('a valid range that excludes our version is reported first, whatever else is wrong', async () => {
  const mismatch = ['1 INVALID_REQUEST protocol mismatch', 1002, 'protocol mismatch'];
  for (const params of [
    { ...CONNECT, maxProtocol: 1 },
    { minProtocol: 1, maxProtocol: 1 },
    { ...LATER, auth: { token: 'bad' } },
    { ...LATER, client: { ...CONNECT.client, mode: 'node' } },
    { ...CONNECT, minProtocol: 3, maxProtocol: 3, caps: 'none' },
  ]) {
    assert.deepEqual(await read(connect(params)), mismatch, JSON.stringify(params));
  }
});

test('with an invalid or matching range, the other params are checked before the credential', async () => {
  for (const params of [
    { ...CONNECT, maxProtocol: 'x' },
    { ...CONNECT, maxProtocol: 1.5 },
    { ...LATER, minProtocol: undefined },
    { ...LATER, minProtocol: 1 },
    [LATER],
  ]) {
    assert.match(String(await read(connect(params))), /invalid connect params/, JSON.stringify(params));
  }
});

test('a token in the first frame is accepted', async () => {
  assert.equal(await read(connect({ ...CONNECT, auth: { token: 'good' } })), 'ada');
});

test('the token of the upgrade request is used when the frame has none', async () => {
  assert.equal(await read(connect(CONNECT), 'good'), 'ada');
  assert.equal(await read(connect({ ...CONNECT, auth: {} }), 'good'), 'ada');
});

test('a wrong token in the frame is refused despite a valid one in the upgrade', async () => {
  const outcome = await read(connect({ ...CONNECT, auth: { token: 'bad' } }), 'good');
  assert.deepEqual(outcome, ['1 UNAUTHORIZED unauthorized', 1008, 'unauthorized']);
});

test('32 levels of nesting are accepted', async () => {
  // The frame and its params are two of them.
  assert.match(String(await read(connect({ x: JSON.parse(nested(30)) }))), /invalid connect params/);
});

for (const [how, broken] of Object.entries({
  throws: () => {
    throw new Error('broken');
  },
  rejects: () => Promise.reject(new Error('broken')),
})) {
  test(`a check of the credential that ${how} refuses the client`, async () => {
    const log = recordingLog();
    const outcome = await shakeHands(connect({ ...CONNECT, auth: { token: 'good' } }), {
      ...{ authenticator: { authenticate: broken }, upgrade: { token: undefined, via: 'bearer' as const } },
      ...{ nodes: noNodes, address: '::1', hasOrigin: false, log },
    });
    assert.deepEqual(outcome, { kind: 'refused', closing: 'handshake_failed' });
    assert.deepEqual(log.lines, [['error', 'a handshake failed']]);
  });
}

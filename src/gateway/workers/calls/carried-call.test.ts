import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STEP_UP_MS } from '../../../../protocol/methods/accounts/step-up.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { requireFreshProof } from '../../auth/fresh-proof.ts';
import type { Principal } from '../../auth/principal.ts';
import { Proof } from '../../auth/proof.ts';
import type { Caller } from '../../call.ts';
import { type Followed, readCaller, readPrincipal, writeCaller, writePrincipal } from './carried-call.ts';

const over = new AbortController();
const clock = fakeClock(1_000_000);
/** Ada in a browser, who has proved who she is now. */
const browserOf = (): Principal => ({
  id: 'login of ada',
  scopes: new Set(['read', 'approve']),
  permissions: new Set(['tools.approve', 'workstreams.all']),
  userId: 'ada',
  source: {
    kind: 'login',
    jti: 'j',
    parent: { kind: 'user', id: 'ada' },
    version: 3,
    browser: true,
    proof: new Proof(clock, clock.now()),
    expiresAtMs: 9_000_000,
  },
  ended: over.signal,
});
const ADA: Principal = { ...browserOf(), source: { kind: 'token', tokenId: 't' } };
const CALLER: Caller = {
  principal: ADA,
  signal: over.signal,
  address: '192.0.2.1',
  requestId: 'r',
  connId: 'c',
  frameId: 'f',
  traceparent: '00-1-2-01',
  interim: () => undefined,
  link: { send: () => undefined, close: () => undefined, isAlive: async () => true },
  subscriptions: { add: () => undefined, remove: () => true },
};

const carried = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const asked = { signal: new AbortController().signal, interim: () => undefined };

test('a principal has the same rights at another daemon, and its end is noticed where it is connected', () => {
  const { ended, ...same } = readPrincipal(carried(writePrincipal(ADA)));
  const { ended: _, ...own } = ADA;
  assert.deepEqual(same, own);
  over.abort();
  assert.equal(ended.aborted, false);
});

test('a proof of identity in a browser counts at another daemon, as long as it is fresh', () => {
  const principal = browserOf();
  const there = () => readPrincipal(carried(writePrincipal(principal)));
  assert.doesNotThrow(() => requireFreshProof(there()));
  clock.jump(STEP_UP_MS);
  assert.throws(() => requireFreshProof(principal), { code: 'FORBIDDEN' });
  assert.throws(() => requireFreshProof(there()), { code: 'FORBIDDEN' });
});

test('a caller is carried with all that names the call, but nothing of its connection', () => {
  const { principal: _, ...written } = carried(writeCaller(CALLER));
  assert.deepEqual(written, {
    address: '192.0.2.1',
    requestId: 'r',
    connId: 'c',
    frameId: 'f',
    traceparent: '00-1-2-01',
  });
  const { signal, interim, link } = readCaller(carried(writeCaller(CALLER)), asked, []);
  assert.deepEqual([signal === asked.signal, interim === asked.interim, link], [true, true, undefined]);
});

test('a caller without a credential has none at another daemon', () => {
  const { principal, ...others } = CALLER;
  const written = carried(writeCaller({ ...others, principal: undefined }));
  assert.equal('principal' in written, false);
  assert.equal(readCaller(written, asked, []).principal, undefined);
});

test('what a call follows is noted for its own daemon, without the rest of the workstream', () => {
  const followed: Followed[] = [];
  const caller = readCaller(carried(writeCaller(CALLER)), asked, followed);
  const about = { wsId: 'w', ownerId: 'ada', visibility: 'private' } as const;
  const data = { ...about, name: 'a secret' };
  caller.subscriptions?.add(data, 4, 2);
  assert.deepEqual(followed, [{ about, offset: 4 }]);
});

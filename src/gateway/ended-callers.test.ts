import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog } from '../testing/temp-store.ts';
import { RightsChanged } from './auth/rights-changed.ts';
import type { Caller } from './call.ts';
import { createDispatch } from './dispatch.ts';
import { createFrameCheck } from './frame-check.ts';
import { ALL_PERMISSIONS } from './users/grant.ts';

/** Changes of one job wait for each other; the first one waits for the test. */
function setUp() {
  const first = Promise.withResolvers<{ ok: true; removed: boolean }>();
  const served: string[] = [];
  const dispatch = createDispatch({
    handlers: {
      'cron.remove': ({ id }) => {
        served.push(id);
        return first.promise;
      },
    },
    idempotency: { answer: async (_, work) => work({ kept: undefined, keep: () => [], momentary: () => undefined }) },
    metrics: { request: () => undefined },
    check: createFrameCheck({ onInvalid: () => undefined }),
    clock: fakeClock(),
    log: recordingLog(),
  });
  const end = new AbortController();
  const caller: Caller = {
    principal: {
      id: 'ada',
      scopes: new Set(['read', 'write', 'approve']),
      permissions: ALL_PERMISSIONS,
      source: { kind: 'operator' },
      ended: end.signal,
    },
    signal: new AbortController().signal,
    address: '127.0.0.1',
    interim: () => undefined,
    subscriptions: undefined,
  };
  const remove = async () => dispatch('cron.remove', { id: 'job' }, caller);
  return { first, served, end, remove };
}

for (const [why, reason, refusal] of [
  ['was revoked', new Error('the token was revoked'), { code: 'UNAUTHORIZED' }],
  ['got other rights', new RightsChanged(), { code: 'UNAVAILABLE' }],
] as const)
  test(`a call that waited while its credential ${why} is refused, and does nothing`, async () => {
    const { first, served, end, remove } = setUp();
    const begun = remove();
    const waits = remove();
    end.abort(reason);
    first.resolve({ ok: true, removed: true });
    await begun;
    await assert.rejects(waits, refusal);
    assert.deepEqual(served, ['job']);
  });

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
  const begun = Promise.withResolvers<void>();
  const served: string[] = [];
  const dispatch = createDispatch({
    handlers: {
      'cron.remove': ({ id }) => {
        served.push(id);
        begun.resolve();
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
  return { first, begun, served, end, remove };
}

for (const [why, reason, refusal] of [
  ['was revoked', new Error('the token was revoked'), { code: 'UNAUTHORIZED' }],
  ['got other rights', new RightsChanged(), { code: 'UNAVAILABLE' }],
] as const)
  test(`a call that waited while its credential ${why} is refused, and does nothing`, async () => {
    const { first, begun, served, end, remove } = setUp();
    const [serving, waits] = [remove(), remove()];
    await begun.promise;
    end.abort(reason);
    first.resolve({ ok: true, removed: true });
    await serving;
    await assert.rejects(waits, refusal);
    assert.deepEqual(served, ['job']);
  });

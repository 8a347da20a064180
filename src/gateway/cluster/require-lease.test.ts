import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { principalWith } from '../../testing/http-edge.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { createDispatch } from '../dispatch.ts';
import { createFrameCheck } from '../frame-check.ts';
import { requireLeaseOf } from './require-lease.ts';

test('while another daemon may be active, calls are refused until the lease is renewed, except about this machine', async () => {
  let mayBeReplaced = true;
  const clock = fakeClock();
  const dispatch = createDispatch({
    handlers: {
      'workstream.list': () => Promise.resolve({ workstreams: [] }),
      'logs.tail': () => Promise.resolve({ file: '', cursor: '', size: 0, lines: [] }),
    },
    idempotency: { answer: () => assert.fail('no call has a key') },
    requireLease: requireLeaseOf({ mayBeReplaced: () => mayBeReplaced }),
    metrics: { request: () => undefined },
    check: createFrameCheck({ every: 0, onInvalid: () => undefined }),
    clock,
    log: recordingLog(),
  });
  const { signal } = new AbortController();
  const call = async (method: string) =>
    dispatch(
      method,
      {},
      {
        principal: principalWith('approve'),
        signal,
        address: '127.0.0.1',
        subscriptions: undefined,
        interim: () => undefined,
      },
    );
  await assert.rejects(call('workstream.list'), { code: 'UNAVAILABLE', retryAfterMs: 1_000 });
  await assert.doesNotReject(call('logs.tail'));
  mayBeReplaced = false;
  await assert.doesNotReject(call('workstream.list'));
});

test('a store of one daemon requires no lease', () => {
  assert.doesNotThrow(() => requireLeaseOf(undefined)('workstream.list'));
});

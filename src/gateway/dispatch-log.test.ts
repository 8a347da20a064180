import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { principalWith } from '../testing/http-edge.ts';
import { recordingLog } from '../testing/temp-store.ts';
import { createDispatch } from './dispatch.ts';
import { createFrameCheck } from './frame-check.ts';

test('the log names the request of a call over HTTP, and the connection and the frame of one over WebSocket', async () => {
  const log = recordingLog();
  const dispatch = createDispatch({
    handlers: { 'workstream.list': () => Promise.reject(new Error('it failed')) },
    idempotency: { answer: () => assert.fail('no call has a key') },
    metrics: { request: () => undefined },
    check: createFrameCheck({ every: 1, onInvalid: () => undefined }),
    clock: fakeClock(),
    log,
  });
  const { signal } = new AbortController();
  const caller = { principal: principalWith('read'), signal, address: '127.0.0.1', subscriptions: undefined };
  for (const name of [{ requestId: 'r-1' }, { connId: 'con_1', frameId: 'x'.repeat(100) }])
    for (const method of ['workstream.list', 'workstream.create'])
      await assert.rejects(async () => dispatch(method, {}, { ...caller, ...name, interim: () => undefined }));
  const named = log.fields.map((fields) => ['requestId', 'connId', 'frameId'].map((name) => Reflect.get(fields, name)));
  const overHttp = ['r-1', undefined, undefined];
  const overWebSocket = [`con_1/${'x'.repeat(64)}`, 'con_1', 'x'.repeat(64)];
  assert.deepEqual(named, [overHttp, overHttp, overWebSocket, overWebSocket]);
  assert.deepEqual(
    log.lines.map(([, message]) => message),
    ['a call failed', 'a call was refused', 'a call failed', 'a call was refused'],
  );
});

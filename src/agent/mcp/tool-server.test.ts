import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { StopReason } from '../stop-reason.ts';
import type { ServerCall, ServerReply, Session, SessionOptions } from './session.ts';
import { ToolServer } from './tool-server.ts';

const NEVER = new AbortController().signal;
const ANSWER: ServerReply = { kind: 'done', answer: { content: [{ type: 'text', text: 'hello' }] } };

/** A server whose sessions the test holds in its hands. */
function fixture({
  open,
  call,
  list = async () => undefined,
}: {
  open?: () => Promise<void>;
  list?: () => Promise<void>;
  call?: (call: ServerCall) => Promise<ServerReply>;
} = {}) {
  const clock = fakeClock();
  const seen: string[] = [];
  const lists: string[][] = [];
  const sessions: { end(reason: string): void; options: SessionOptions }[] = [];
  let openNow = 0;
  let mostOpen = 0;
  let announced: unknown[] = [{ name: 'greet', inputSchema: { type: 'object' } }];
  const server = new ToolServer({
    name: 'fake',
    clock,
    log: recordingLog(),
    idleMs: () => 600_000,
    onLists: ({ tools }) => lists.push(tools.map(({ name }) => name)),
    async open(options): Promise<Session> {
      seen.push('open');
      await open?.();
      openNow += 1;
      mostOpen = Math.max(mostOpen, openNow);
      const ended = Promise.withResolvers<string>();
      sessions.push({ end: ended.resolve, options });
      return {
        about: 'fake 1',
        list: async (what) => {
          await list();
          return what === 'tools' ? announced : [];
        },
        call: async (one) => {
          const work = call?.(one) ?? Promise.resolve(ANSWER);
          return Promise.race([work, ended.promise.then(() => Promise.reject(new Error('Connection closed')))]);
        },
        ended: ended.promise,
        async close() {
          openNow -= 1;
          seen.push('close');
          ended.resolve('was stopped');
        },
      };
    },
  });
  const ask = (signal = NEVER) =>
    server.call({
      method: 'tools/call',
      params: { name: 'greet' },
      signal,
      onProgress: () => undefined,
      onAsked: async () => ({ action: 'cancel' }),
    });
  return {
    ...{ server, clock, seen, lists, sessions, ask },
    mostOpen: () => mostOpen,
    announce: (tools: unknown[]) => {
      announced = tools;
    },
  };
}

test('fifty conversations share one session', async () => {
  const it = fixture();
  await Promise.all(Array.from({ length: 50 }, () => it.ask()));
  await it.ask();
  assert.deepEqual([it.seen, it.mostOpen(), it.server.state], [['open'], 1, 'connected']);
  await it.server.close();
  assert.deepEqual([it.seen, it.server.state], [['open', 'close'], 'idle']);
});

test('a server that nobody uses is ended, and started again when it is needed', async () => {
  const it = fixture();
  await it.ask();
  await it.clock.advance(599_000);
  await it.ask();
  await it.clock.advance(599_000);
  assert.deepEqual(it.seen, ['open']);
  await it.clock.advance(2_000);
  assert.deepEqual([it.seen, it.server.state, it.server.problem], [['open', 'close'], 'idle', undefined]);
  assert.deepEqual(await it.ask(), ANSWER);
  assert.deepEqual([it.seen, it.mostOpen()], [['open', 'close', 'open'], 1]);
});

test('a call under way keeps a server; it is ended after the call', async () => {
  const done = Promise.withResolvers<ServerReply>();
  const it = fixture({ call: () => done.promise });
  const call = it.ask();
  await new Promise(setImmediate);
  await it.clock.advance(3_600_000);
  assert.deepEqual([it.server.state, it.server.callsUnderWay], ['connected', 1]);
  done.resolve(ANSWER);
  await call;
  await it.clock.advance(600_000);
  assert.equal(it.server.state, 'idle');
});

test('a server that ends in a call fails this call with its reason, and is started again after a pause', async () => {
  const it = fixture({ call: () => new Promise(() => undefined) });
  const call = it.ask();
  await new Promise(setImmediate);
  it.sessions[0]?.end('ended with exit code 3');
  await assert.rejects(call, { name: 'ServerProblem', message: 'ended with exit code 3', mayHaveActed: true });
  assert.deepEqual([it.server.state, it.server.problem], ['failed', 'ended with exit code 3']);
  const next = it.server.refresh(NEVER);
  await it.clock.advance(999);
  assert.deepEqual(it.seen, ['open', 'close']);
  await it.clock.advance(1);
  await next;
  assert.deepEqual([it.seen, it.server.state, it.server.problem], [['open', 'close', 'open'], 'connected', undefined]);
});

test('pauses become longer with each failure; a call does not wait for a long one; a person need not wait', async () => {
  let isBroken = true;
  const it = fixture({
    open: () => (isBroken ? Promise.reject(new Error('ended with exit code 1')) : Promise.resolve()),
  });
  const pauses: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    await assert.rejects(it.server.refresh(NEVER, { now: true }), { message: 'ended with exit code 1' });
    const message = await it.ask(AbortSignal.abort(new Error('not now'))).catch(String);
    assert.equal(message, 'Error: not now');
    pauses.push(it.seen.length);
  }
  assert.deepEqual(pauses, [1, 2, 3, 4, 5, 6, 7, 8]);
  await assert.rejects(it.ask(), {
    message: 'ended with exit code 1. It is started again in 60 s at the earliest',
    mayHaveActed: false,
  });
  isBroken = false;
  await it.clock.advance(60_000);
  assert.deepEqual(await it.ask(), ANSWER);
});

test('a server that never answers is given up after 30 seconds', async () => {
  const it = fixture();
  const never = new ToolServer({
    name: 'silent',
    clock: it.clock,
    log: recordingLog(),
    idleMs: () => 1,
    onLists: () => undefined,
    open: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  });
  const refused = assert.rejects(never.refresh(NEVER), { message: 'did not answer within 30 s' });
  await new Promise(setImmediate);
  await it.clock.advance(30_000);
  await refused;
});

test('a cancelled call leaves the server and the other calls alone', async () => {
  const it = fixture({
    call: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  const cancel = new AbortController();
  const call = it.ask(cancel.signal);
  await new Promise(setImmediate);
  cancel.abort(new StopReason('cancel', 'by a person'));
  await assert.rejects(call, { name: 'StopReason', kind: 'cancel' });
  assert.equal(it.server.state, 'connected');
});

test('a change of the tools is read once for many announcements', async () => {
  const it = fixture();
  await it.ask();
  it.announce([{ name: 'greet' }, { name: 'part' }]);
  for (let time = 0; time < 1_000; time += 1) it.sessions[0]?.options.onListsChanged();
  await new Promise(setImmediate);
  await it.clock.advance(10_000);
  assert.deepEqual(it.lists, [['greet'], ['greet', 'part'], ['greet', 'part']]);
});

test('a session that ended while its lists were read does not hold up those of the next one', async () => {
  let hangs = false;
  const it = fixture({ list: async () => (hangs ? new Promise<never>(() => undefined) : undefined) });
  await it.ask();
  hangs = true;
  it.sessions[0]?.options.onListsChanged();
  await new Promise(setImmediate);
  it.sessions[0]?.end('ended with exit code 1');
  hangs = false;
  await new Promise(setImmediate);
  await it.clock.advance(1_000);
  await it.ask();
  it.announce([{ name: 'wave', inputSchema: { type: 'object' } }]);
  it.sessions[0]?.options.onListsChanged(); // too late
  it.sessions[1]?.options.onListsChanged();
  await new Promise(setImmediate);
  assert.deepEqual(it.lists, [['greet'], ['greet'], ['wave']]);
});

test('more calls at once than a server should have wait for their turn, in order; far more are refused', async () => {
  const started: PromiseWithResolvers<ServerReply>[] = [];
  const it = fixture({
    call() {
      const call = Promise.withResolvers<ServerReply>();
      started.push(call);
      return call.promise;
    },
  });
  const calls = Array.from({ length: 64 + 1_000 }, () => it.ask());
  await assert.rejects(it.ask(), { message: 'has 1000 calls that wait for their turn; try again later' });
  await new Promise(setImmediate);
  assert.equal(started.length, 64);
  for (let next = 0; next < calls.length; next += 1) {
    started[next]?.resolve(ANSWER);
    await calls[next];
    await new Promise(setImmediate);
    assert.equal(started.length, Math.min(calls.length, 64 + next + 1));
  }
  assert.deepEqual([it.seen, it.server.callsUnderWay], [['open'], 0]);
});

test('a call that is cancelled while it waits for its turn leaves its place to the next', async () => {
  const first = Promise.withResolvers<ServerReply>();
  const it = fixture({ call: () => first.promise });
  const calls = Array.from({ length: 64 }, () => it.ask());
  const cancel = new AbortController();
  const cancelled = assert.rejects(it.ask(cancel.signal), { kind: 'cancel' });
  const last = it.ask();
  await new Promise(setImmediate);
  cancel.abort(new StopReason('cancel', 'by a person'));
  await cancelled;
  first.resolve(ANSWER);
  await Promise.all(calls);
  assert.deepEqual(await last, ANSWER);
});

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import { createPaint } from '../terminal/paint.ts';
import { createPlainScreen } from '../terminal/screen.ts';
import { IDLE_SNAPSHOT } from './idle-snapshot-fixture.ts';
import { PipedChat } from './piped-chat.ts';

function open(call: GatewayClient['call']) {
  let subscription: SubscriptionOptions | undefined;
  let subscriptions = 0;
  const heard = new EventEmitter();
  const client: GatewayClient = {
    connect: () => new Promise(() => undefined),
    call,
    on(event, listener) {
      heard.on(event, listener);
      return () => void heard.off(event, listener);
    },
    subscribe: (_, options) => {
      subscription = options;
      subscriptions += 1;
      return { cursor: 'e:1', hurry: () => undefined, close: () => undefined };
    },
    retryNow: () => undefined,
    close: () => undefined,
  };
  const piped = new PipedChat({
    client,
    wsId: 'w',
    screen: createPlainScreen(() => undefined),
    sheet: () => ({ paint: createPaint(false), columns: 80 }),
    newKey: () => 'k1',
    files: {
      uploadFile: () => assert.fail('no upload'),
      isLocal: true,
      downloadAttachment: () => assert.fail('no download'),
      upload: () => assert.fail('no upload'),
      exportTo: () => assert.fail('no export'),
      importFrom: () => assert.fail('no import'),
    },
    here: () => ({ nowMs: 1_000, tz: 'UTC' }),
    tell: () => undefined,
  });
  const becomes = (state: WorkstreamState) => subscription?.onEvent({ type: 'ws_state', ws_id: 'w', state }, 'e:1');
  /** The connection was lost for longer than the daemon keeps events; the workstream is idle. */
  const loses = () => {
    subscription?.onReset?.('expired');
    subscription?.onSnapshot(IDLE_SNAPSHOT, 'e:9');
  };
  const ends = (error: Error) => subscription?.onError?.(error);
  /** The workstream was closed, or hidden from this person; resolves how often it is followed by then. */
  const closes = async (wsId = 'w') => {
    heard.emit('workstream.closed', { wsId });
    await new Promise(setImmediate);
    return subscriptions;
  };
  return { piped, becomes, loses, ends, closes };
}

async function* linesOf(...lines: string[]) {
  yield* lines;
}

test('/quit ends the chat; neither it nor later lines reach the daemon', async () => {
  const calls: string[] = [];
  const { piped } = open(async (method, ..._params) => {
    calls.push(method);
    return { status: 'ok' } as never; // the test follows the method's contract
  });
  assert.equal(await piped.run(linesOf('/quit', '/help')), 'done');
  assert.deepEqual(calls, []);
});

test('a run that ends before its message is answered does not hold up the next message', async () => {
  const calls: string[] = [];
  const { piped, becomes } = open(async (method, ..._params) => {
    calls.push(method);
    becomes('thinking');
    becomes('idle');
    return { status: 'ok' } as never; // the test follows the method's contract
  });
  assert.equal(await piped.run(linesOf('one', 'two')), 'done');
  assert.deepEqual(calls, ['workstream.send', 'workstream.send']);
});

/** Answers calls about messages and runs; the chat also asks for the queue. */
function answering(answers: { send(): void; wait(): 'ok' | 'timeout' }) {
  const calls: string[] = [];
  const chat = open(async (method, ..._params) => {
    if (method !== 'workstream.send' && method !== 'agent.wait') throw new Error('not here');
    calls.push(method);
    if (method === 'workstream.send') answers.send();
    return { status: method === 'agent.wait' ? answers.wait() : 'ok' } as never; // the test follows the method's contract
  });
  return { ...chat, calls };
}

for (const when of ['before', 'after'] as const) {
  test(`a run whose events are all lost ${when} its message is answered does not hold up the next one`, async () => {
    const { piped, loses, calls } = answering({
      send: () => (when === 'before' ? loses() : void setImmediate(loses)),
      wait: () => 'ok',
    });
    assert.equal(await piped.run(linesOf('one', 'two')), 'done');
    const each = ['workstream.send', 'agent.wait'];
    assert.deepEqual(calls, [...each, ...each]);
  });
}

test('a chat that waits for an answer ends with the reason when the workstream can no longer be followed', async () => {
  const { piped, becomes, loses, ends } = open(async (_method, ..._params) => {
    becomes('thinking');
    setImmediate(() => ends(new Error('Unknown workstream')));
    return { status: 'ok' } as never; // the test follows the method's contract
  });
  loses(); // the first snapshot
  await assert.rejects(piped.run(linesOf('one', 'two')), { message: 'Unknown workstream' });
});

test('a chat that waits for an answer ends when its workstream is hidden, and another one changes nothing', async () => {
  const followed: number[] = [];
  const chat = answering({
    send() {
      chat.becomes('thinking');
      setImmediate(async () => {
        followed.push(await chat.closes('other'), await chat.closes());
        chat.ends(new Error('Unknown workstream'));
      });
    },
    wait: () => 'timeout',
  });
  chat.loses(); // the first snapshot
  await assert.rejects(chat.piped.run(linesOf('one', 'two')), { message: 'Unknown workstream' });
  assert.deepEqual(followed, [1, 2]);
});

test('a workstream that is unloaded while nothing is awaited is not followed again', async () => {
  const chat = open(async (_method, ..._params) => ({ status: 'ok' }) as never); // nothing is sent
  assert.equal(await chat.closes(), 1);
  chat.piped.close();
});

test('a run that begins after events were lost is waited for', async () => {
  const { piped, becomes, loses, calls } = answering({
    send: () => loses(),
    wait() {
      setImmediate(() => {
        becomes('thinking');
        setImmediate(() => becomes('idle'));
      });
      return 'timeout';
    },
  });
  assert.equal(await piped.run(linesOf('one')), 'done');
  assert.deepEqual(calls, ['workstream.send', 'agent.wait']);
});

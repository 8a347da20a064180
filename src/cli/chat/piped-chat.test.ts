import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import { createPaint } from '../terminal/paint.ts';
import { createPlainScreen } from '../terminal/screen.ts';
import { PipedChat } from './piped-chat.ts';

function open(call: GatewayClient['call']) {
  let subscription: SubscriptionOptions | undefined;
  const client: GatewayClient = {
    connect: () => new Promise(() => undefined),
    call,
    on: () => () => undefined,
    subscribe: (_, options) => {
      subscription = options;
      return { cursor: undefined, close: () => undefined };
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
    files: { upload: () => assert.fail('no upload'), exportTo: () => assert.fail('no export') },
    tell: () => undefined,
  });
  const becomes = (state: WorkstreamState) => subscription?.onEvent({ type: 'ws_state', ws_id: 'w', state }, 'e:1');
  return { piped, becomes };
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

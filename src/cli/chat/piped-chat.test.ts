import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { createPaint } from '../terminal/paint.ts';
import { createPlainScreen } from '../terminal/screen.ts';
import { PipedChat } from './piped-chat.ts';

test('/quit ends the chat; neither it nor later lines reach the daemon', async () => {
  const calls: string[] = [];
  const client: GatewayClient = {
    connect: () => new Promise(() => undefined),
    async call(method, ..._params) {
      calls.push(method);
      return { status: 'ok' } as never; // the test follows the method's contract
    },
    on: () => () => undefined,
    subscribe: () => ({ cursor: undefined, close: () => undefined }),
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
  async function* lines() {
    yield '/quit';
    yield '/help';
  }
  assert.equal(await piped.run(lines()), 'done');
  assert.deepEqual(calls, []);
});

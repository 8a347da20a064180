import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError } from '../../../protocol/client/request-error.ts';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { IDLE_SNAPSHOT } from '../chat/idle-snapshot-fixture.ts';
import { Session } from './session.ts';

/** A session over a client whose answers the test gives. */
async function openSession(answers: Record<string, (params: never) => unknown>) {
  const calls: [method: string, params: unknown][] = [];
  let followed: SubscriptionOptions | undefined;
  const client: GatewayClient = {
    connect: () => new Promise(() => undefined),
    async call(method, ...[params]) {
      calls.push([method, params]);
      const answer = answers[method];
      if (answer === undefined) throw new Error(`no answer to ${method}`);
      return answer(params as never) as never; // the test gives what the method's contract says
    },
    on: () => () => undefined,
    subscribe(_, options) {
      followed = options;
      return { cursor: undefined, hurry: () => undefined, close: () => undefined };
    },
    retryNow: () => undefined,
    close: () => undefined,
  };
  const session = new Session({
    client,
    wsId: 'w',
    upload: () => assert.fail('nothing is attached'),
    outgoing: { send: async () => undefined },
    editorWith: () => assert.fail('nothing is asked'),
    newKey: () => 'key',
    tell: () => undefined,
    onEnd: () => undefined,
  });
  const opened = session.open({ replays: false });
  followed?.onSnapshot(IDLE_SNAPSHOT, 'e:0');
  await opened;
  return {
    session,
    calls,
    send: (...event: Parameters<SubscriptionOptions['onEvent']>) => followed?.onEvent(...event),
  };
}

test('a cancel whose answer was lost also stops the run of a typed command', async () => {
  const { session, calls, send } = await openSession({
    'models.list': () => ({ models: [] }),
    'workstream.command': () => {
      send({ type: 'user_turn', message: 'again', run_id: 'begun', source: 'person' }, 'e:1');
      return {};
    },
    'workstream.get': () => ({ cursor: 'e:1' }),
    'workstream.cancel': () => {
      throw new ConnectionLostError('gone');
    },
    'chat.abort': () => ({ ok: true, aborted: true }),
    'agent.wait': ({ runId }: { runId: string }) => ({ runId, status: 'error', error: 'cancelled' }),
  });
  const prompted = session.prompt([{ type: 'text', text: '/retry' }], new AbortController().signal);
  while (calls.at(-1)?.[0] !== 'workstream.get') await new Promise(setImmediate);
  await new Promise(setImmediate);
  await session.cancel();
  assert.deepEqual(
    calls.filter(([method]) => method === 'chat.abort'),
    [['chat.abort', { sessionKey: 'w', runId: 'begun' }]],
  );
  assert.deepEqual(await prompted, { stopReason: 'cancelled' });
});

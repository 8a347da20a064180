import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubscriptionOptions } from '../../../protocol/client/subscriptions.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { untilTrue } from '../../testing/until-true.ts';
import { itemOf } from './item-fixture.ts';
import { Session } from './session.ts';

const APPROVAL = {
  ...{ approvalId: 'a', wsId: 'w', sessionKey: 'w', kind: 'tools', items: [itemOf()], expiresAtMs: 1, createdAtMs: 1 },
};
const SNAPSHOT = {
  workstream: { state: 'idle', mode: 'ask', modelAlias: 'm' },
  ...{ effort: 'medium', workdir: '/w', messages: [], pendingApprovals: [APPROVAL], truncated: false },
};

/** A session whose daemon answers everything; its models when they are let go. */
function setUp() {
  const subscribed: SubscriptionOptions[] = [];
  const models = Promise.withResolvers<void>();
  const asked: string[] = [];
  const ANSWERS: Record<string, object> = {
    'models.list': { models: [] },
    'workstream.get': { cursor: 'e:1' },
    'workstream.command': {},
  };
  const call: GatewayClient['call'] = async (method, ..._params) => {
    if (method === 'models.list') await models.promise;
    return ANSWERS[method] as never; // only these are called
  };
  const session = new Session({
    client: {
      call,
      subscribe(_, options) {
        subscribed.push(options);
        return { cursor: undefined, hurry: () => undefined, close: () => undefined };
      },
    },
    wsId: 'w',
    upload: () => Promise.reject(new Error('there is no file')),
    outgoing: { send: async () => undefined },
    editorWith: () => ({
      permit({ toolCall }) {
        asked.push(toolCall.toolCallId);
        return new Promise(() => undefined);
      },
      fill: undefined,
    }),
    newKey: () => 'key',
    tell: () => undefined,
    onEnd: () => undefined,
  });
  const opening = session.open({ replays: false });
  opening.catch(() => undefined);
  const [stream] = subscribed;
  return {
    session,
    opening,
    models,
    asked,
    onSnapshot: () => stream?.onSnapshot(SNAPSHOT as unknown as WorkstreamSnapshot, 'e:0'), // what a session reads of it
    onEvent: (event: StreamEvent) => stream?.onEvent(event, 'e:1'),
  };
}

test('a session that is closed before it was open answers, and asks nothing any more', async () => {
  const { session, opening, models, asked, onSnapshot } = setUp();
  onSnapshot();
  session.close();
  await assert.rejects(opening, { message: 'The session was closed, or loaded again, before it was open' });
  models.resolve();
  await new Promise(setImmediate);
  assert.deepEqual(asked, []);
});

test('a command that begins no run does not wait for the run of another client', async () => {
  const { session, opening, models, asked, onSnapshot, onEvent } = setUp();
  models.resolve();
  onSnapshot();
  await opening;
  await untilTrue(() => asked.length === 1);
  onEvent({ type: 'user_turn', message: 'x', run_id: 'other', source: 'person' });
  await new Promise(setImmediate);
  const answer = session.prompt([{ type: 'text', text: '/help' }], new AbortController().signal);
  assert.deepEqual(await answer, { stopReason: 'end_turn' });
});

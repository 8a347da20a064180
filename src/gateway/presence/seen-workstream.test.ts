import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_ROLES } from '../../../protocol/methods/accounts/permissions.ts';
import { hearingOf } from '../connections/hearing.ts';
import { framesOf } from '../testing/fake-wire.ts';
import { type CallAs, callerOf, wholeGateway } from '../testing/whole-gateway.ts';

const MEMBER = new Set(BUILTIN_ROLES['builtin-operator'].permissions);
const user = (name: string): CallAs => ({
  ...{ id: `login of ${name}`, userId: `user_${name}`, permissions: MEMBER },
  subscriptions: { add: () => undefined, remove: () => false },
});

test('who sees a workstream is told when it is hidden from one of them', async () => {
  await using it = await wholeGateway();
  const [ada, bob] = [user('ada'), user('bob')];
  const { wsId } = await it.call('workstream.create', {}, ada);
  for (const as of [ada, bob]) await it.call('events.view', { wsId }, as);
  const viewer = callerOf(ada).principal ?? assert.fail('no caller');
  const heard: unknown[] = [];
  const receiver = {
    deliver(chunk: Buffer) {
      for (const frame of framesOf(chunk)) if (frame.type === 'event') heard.push([frame.event, frame.payload]);
    },
  };
  it.parts.broadcast.join(receiver, { viewer, hearing: hearingOf(viewer) });
  await it.call('workstream.share', { wsId, visibility: 'private' }, ada);
  assert.deepEqual(heard, [['workstream.viewers', { wsId, userIds: ['user_ada'] }]]);
});

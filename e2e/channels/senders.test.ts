import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../support/channels/stored-rows.ts';
import { type AttackStage, lastUpdate, openAttackStage, PEOPLE, untilHandled } from './attacks/attack-stage.ts';
import {
  type Attempt,
  DIRECT_ATTEMPTS,
  GROUP_ATTEMPTS,
  ODD_ATTEMPTS,
  UNASKED_ATTEMPTS,
} from './attacks/message-attempts.ts';

const ASKED_FOR = [...DIRECT_ATTEMPTS, ...ODD_ATTEMPTS, ...GROUP_ATTEMPTS];
const COUNT = UNASKED_ATTEMPTS.length + ASKED_FOR.length;

/** Sends everything; returns the update of each. */
const sendAll = (stage: AttackStage, attempts: readonly Attempt[]) =>
  attempts.map((attempt) => {
    tags += 1;
    const tag = `attempt-${tags}-of-all`;
    attempt.send(stage, tag);
    return { attempt, tag, updateId: lastUpdate(stage.telegram) };
  });
let tags = 0;

/** What happened because of each attempt. */
function findings(stage: AttackStage, sent: ReturnType<typeof sendAll>): string[] {
  const { inbox } = readRows(stage.daemon.home);
  const asked = JSON.stringify(stage.model.requests.map(({ body }) => body.messages));
  return sent.flatMap(({ attempt, tag, updateId }) => {
    const state = inbox.find((row) => row.update_id === String(updateId))?.state ?? 'ignored';
    const wrong = [
      ...(state === attempt.outcome ? [] : [`is ${state}`]),
      ...(asked.includes(tag) ? ['was read by the model'] : []),
    ];
    return wrong.map((what) => `${attempt.name} ${what}`);
  });
}

/** All at once: first what the bot never asks for, then the rest, when Rex has been revoked. */
async function play(stage: AttackStage, attempts: readonly Attempt[] = ASKED_FOR) {
  stage.telegram.updates.hold();
  const early = sendAll(stage, UNASKED_ATTEMPTS);
  const client = await stage.start();
  await client.call('channel.revoke', { channel: 'telegram', senderId: String(PEOPLE.rex) });
  const sent = [...early, ...sendAll(stage, attempts)];
  stage.telegram.updates.release();
  await untilHandled(stage);
  return { client, sent };
}

for (const [name, settings] of [
  ['pairing', {}],
  ['allowlist', { dmPolicy: 'allowlist' }],
  ['disabled', { dmPolicy: 'disabled', allowFrom: [] }],
] as const)
  test(`with the policy ${name}, none of ${COUNT} attempts starts anything`, async () => {
    await using stage = await openAttackStage({ ...settings });
    const { client, sent } = await play(stage);
    const rows = readRows(stage.daemon.home);
    assert.deepEqual([findings(stage, sent), rows.runs, stage.model.requests.length, rows.workstreams], [[], 0, 0, []]);
    const blocked = new Map(rows.inbox.map(({ sender_id: id }) => [id, 0]));
    for (const { sender_id: id, state } of rows.inbox)
      if (state === 'blocked') blocked.set(id, (blocked.get(id) ?? 0) + 1);
    blocked.delete(''); // nobody in particular
    const { senders } = await client.call('channel.sender.list', {});
    const shown = senders
      .filter((sender) => sender.blocked > 0)
      .map((sender) => [sender.senderId, sender.blocked] as const);
    assert.deepEqual(new Map(shown), blocked);
    const { channels } = await client.call('channel.list', {});
    assert.equal(channels[0]?.blocked, rows.inbox.filter(({ state }) => state === 'blocked').length);
  });

const REVOKED = DIRECT_ATTEMPTS.filter(({ name }) => name === 'a revoked person');

test('with the policy open, direct chats are open, and nothing else is', async () => {
  await using stage = await openAttackStage({ dmPolicy: 'open', allowFrom: ['*'] });
  const { sent } = await play(stage, [...GROUP_ATTEMPTS, ...REVOKED]);
  assert.deepEqual([findings(stage, sent), readRows(stage.daemon.home).runs, REVOKED.length], [[], 0, 1]);
  stage.people.eve.says('hello');
  await stage.people.eve.chat.until(({ text }) => text === 'Taken.');
});

const HEARD: Attempt[] = [
  { name: 'an allowed person', outcome: 'accepted', send: ({ people: { ada } }, tag) => void ada.says(tag) },
  {
    name: 'an allowed person whose name and username changed',
    outcome: 'accepted',
    send: ({ telegram }, tag) => void telegram.person({ id: PEOPLE.bob, name: 'Eve', username: 'eve' }).says(tag),
  },
  {
    name: 'an allowed person in the group, with a mention',
    outcome: 'accepted',
    send: ({ people: { bob }, group }, tag) => void bob.says(`hi @Headgate_bot ${tag}`, { in: group }),
  },
];

test('the same messages of people who may write are read, so that the attempts above can fail', async () => {
  await using stage = await openAttackStage();
  const { sent } = await play(stage, HEARD);
  const asked = stage.model.requests.map(({ body }) => JSON.stringify(body.messages));
  const heard = sent.filter(({ tag }) => asked.some((text) => text.includes(tag))).map(({ attempt }) => attempt.name);
  assert.deepEqual(
    heard,
    HEARD.map(({ name }) => name),
  );
});

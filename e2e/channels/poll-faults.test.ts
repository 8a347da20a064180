import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { readRows } from '../support/channels/stored-rows.ts';
import type { Fault } from '../support/channels/telegram/scripted-faults.ts';
import { pause, within } from '../support/deadline.ts';
import { elapse, openAttackStage, untilHandled } from './attacks/attack-stage.ts';

const stateOf = async (client: GatewayClient) => (await client.call('channel.list', {})).channels[0];

/** Nothing tells a change of the state. */
async function untilState(client: GatewayClient, state: string) {
  const wait = async () => {
    for (;;) {
      const row = await stateOf(client);
      if (row?.state === state) return row;
      await pause(10);
    }
  };
  return within(wait(), 60_000, () => `the state ${state}`);
}

test('a poll without an answer is given up after its time, and the next one begins only after its end', async () => {
  await using stage = await openAttackStage();
  stage.telegram.faults.add('getUpdates', { kind: 'stall' }, { times: 3 });
  const client = await stage.start();
  const { telegram, clock, people } = stage;
  await telegram.call('getUpdates', 1);
  people.ada.says('hello');
  await elapse(stage, () => people.ada.chat.texts.length > 0, 1_000);
  const polls = telegram.callsOf('getUpdates');
  assert.deepEqual([telegram.mostAtOnce('getUpdates'), telegram.updates.conflicts], [1, 0]);
  // The first poll asks for an immediate answer, so that it is given up early.
  const waits = polls.slice(1, 4).map(({ atMs }, index) => atMs - (polls[index]?.atMs ?? 0));
  assert.ok(
    waits.every((ms) => ms >= 15_000 && ms < 80_000),
    waits.join(),
  );
  assert.equal((await untilState(client, 'polling')).why, undefined);
  assert.ok(clock.now() > 0 && readRows(stage.daemon.home).runs === 1);
});

for (const kind of ['reset', 'truncated', 'bad-gateway-after'] as const)
  test(`${kind} of a poll: it goes on, and a message that came meanwhile is handled once`, async () => {
    await using stage = await openAttackStage();
    const client = await stage.start();
    const { telegram, people } = stage;
    await untilState(client, 'polling');
    telegram.faults.add('getUpdates', { kind } as Fault, { times: 2 });
    people.ada.says('one');
    people.ada.says('two');
    await elapse(stage, () => people.ada.chat.texts.length === 2 && telegram.updates.pending.length === 0);
    await untilHandled(stage);
    assert.deepEqual(
      [telegram.mostAtOnce('getUpdates'), telegram.updates.conflicts, readRows(stage.daemon.home).runs],
      [1, 0, 2],
    );
  });

test('another program that polls is a conflict that people see, no loop; when it stops, messages come again', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const { telegram, clock, people } = stage;
  await untilState(client, 'polling');
  const before = telegram.callsOf('getUpdates').length;
  const sinceMs = clock.now();
  telegram.faults.add('getUpdates', { kind: 'conflict' }, { forMs: 600_000 });
  people.ada.says('hello'); // ends the poll in progress
  await elapse(stage, () => people.ada.chat.texts.length === 1);
  const row = await untilState(client, 'conflict');
  assert.match(row.why ?? '', /Only one program can receive the messages of a bot/);
  await elapse(stage, () => clock.now() >= sinceMs + 600_000, 2_000);
  const asked = telegram.callsOf('getUpdates').length - before;
  assert.ok(asked >= 5 && asked <= 25, `${asked} polls in ten minutes`);
  people.ada.says('again');
  await elapse(stage, () => people.ada.chat.texts.length === 2);
  await untilState(client, 'polling');
  assert.equal(telegram.mostAtOnce('getUpdates'), 1);
});

test('a refused token is final until the settings change', async () => {
  await using stage = await openAttackStage();
  stage.telegram.faults.add('*', { kind: 'unauthorized' }, { forMs: 3_600_000 });
  const client = await stage.start();
  const { telegram, clock } = stage;
  const row = await untilState(client, 'error');
  assert.match(row.why ?? '', /does not accept the bot token/);
  const asked = telegram.calls.length;
  await clock.advance(1_800_000);
  await client.call('health', {});
  assert.equal(telegram.calls.length, asked);
});

test('updates that come twice or out of order are handled once each, in the order in which they were made', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const { telegram, people } = stage;
  await untilState(client, 'polling');
  telegram.updates.hold();
  for (const text of ['one', 'two', 'three', 'four']) people.ada.says(text);
  telegram.updates.release([2, 0, 3, 1]);
  await people.ada.chat.untilTrue(({ texts }) => texts.length === 4);
  await telegram.untilAcknowledged();
  telegram.updates.repeat(4);
  await telegram.untilAcknowledged();
  people.ada.says('five');
  await people.ada.chat.untilTrue(({ texts }) => texts.length === 5);
  await untilHandled(stage);
  const said = stage.model.requests.map(({ body }) => JSON.stringify(body.messages.at(-1)?.content));
  assert.deepEqual(
    said.map((text) => /one|two|three|four|five/.exec(text)?.[0]),
    ['one', 'two', 'three', 'four', 'five'],
  );
});

test('the bot is seen to be connected without waiting for a message', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const row = await untilState(client, 'polling');
  assert.equal(row.bot, 'headgate_bot');
});

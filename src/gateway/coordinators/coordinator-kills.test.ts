import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Unit } from '../store/store.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { coordinatorGateway, LOCAL } from './coordinators-fixture.ts';

const has = (text: RegExp) => (unit: Unit) => (unit.statements ?? []).some(({ sql }) => text.test(sql));
const journals = (kind: string) => (unit: Unit) =>
  (unit.statements ?? []).some(({ sql, parameters }) => /INTO journal/.test(sql) && parameters.includes(kind));

/** What was written to a conversation. */
const asked = (messages: readonly { role: string; content: string | null }[]) =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content);

const KILLS: [string, (unit: Unit) => boolean][] = [
  ['before the child is stored', has(/insert into "workstreams"/)],
  ['before the result of the call is stored', journals('tool_finished')],
  ['before the run of the child begins', (unit) => has(/update "runs" set "status"/)(unit)],
];

test('A spawn must make its workstream and send its message once, also when the daemon is killed', async (t) => {
  for (const [when, isThen] of KILLS) await t.test(`killed ${when}`, () => spawnKilledWhen(isThen));
});

async function spawnKilledWhen(isThen: (unit: Unit) => boolean) {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  gateway.turns.push([
    calling('spawn_batch', { workstreams: ['one', 'two'].map((name) => ({ name, message: name })) }),
  ]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'approve_request');
  let isDead = false;
  gateway.disk.diesAt = (unit) => {
    isDead ||= isThen(unit);
    return isDead;
  };
  await gateway.call('workstream.approve', { wsId, approved: true }, LOCAL);
  await turnsUntil(() => isDead, 'the kill');
  await gateway.crash();
  await gateway.answered(wsId);
  const ids = await gateway.named('one', 'two');
  assert.equal((await gateway.childrenOf()).length, 2);
  for (const [index, id] of ids.entries()) {
    await gateway.isIdle(id);
    const { messages } = await gateway.call('workstream.history', { wsId: id });
    const name = ['one', 'two'][index];
    assert.deepEqual([asked(messages), messages.at(-1)?.content], [[name], `did ${name}`]);
  }
  const spawned = (await gateway.events(wsId)).filter(
    (event) => event.type === 'tool_result' && event.name === 'spawn_batch',
  );
  assert.equal(spawned.length, 1);
}

for (const [when, isThen] of [
  ['before the message is stored', has(/INTO runs/)],
  ['before the result of the call is stored', journals('tool_finished')],
] as const)
  test(`a kill ${when} sends the message of a coordinator once`, async () => {
    await using gateway = await coordinatorGateway();
    const { wsId } = gateway;
    await gateway.coordinate([calling('spawn_workstream', { message: 'first' })]);
    const child = await gateway.child();
    await gateway.isIdle(child.wsId);
    gateway.turns.push([calling('send_to_workstream', { ws_id: child.wsId, message: 'second' })]);
    await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
    await gateway.reaches(wsId, 'approve_request', 2);
    let isDead = false;
    gateway.disk.diesAt = (unit) => {
      isDead ||= isThen(unit);
      return isDead;
    };
    await gateway.call('workstream.approve', { wsId, approved: true }, LOCAL);
    await turnsUntil(() => isDead, 'the kill');
    await gateway.crash();
    await gateway.answered(wsId);
    await gateway.isIdle(child.wsId);
    const { messages } = await gateway.call('workstream.history', { wsId: child.wsId });
    assert.deepEqual(asked(messages), ['first', 'second']);
  });

test('a wait goes on after a restart', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const held = Promise.withResolvers<void>();
  let isHeld = true;
  gateway.children(() => (isHeld ? [held.promise, 'never'] : ['late']));
  await gateway.coordinate([calling('spawn_workstream', { message: 'long' })]);
  const child = await gateway.child();
  gateway.turns.push([calling('wait_for_workstream', { ws_ids: [child.wsId] })]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'tool_info');
  isHeld = false;
  await gateway.crash();
  await gateway.isIdle(wsId);
  const [waited] = gateway.results.at(-1) ?? [];
  assert.deepEqual(
    [Object(waited).done, Object(waited).workstreams[0].messages],
    [true, [{ role: 'assistant', text: 'late' }]],
  );
});

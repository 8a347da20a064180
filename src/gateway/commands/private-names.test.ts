import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_ROLES } from '../../../protocol/methods/accounts/permissions.ts';
import { LIVE } from '../testing/default-deps.ts';
import { type CallAs, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const permissions = new Set(BUILTIN_ROLES['builtin-operator'].permissions);
const BOB: CallAs = { id: 'bob', userId: 'user_bob', permissions };
const DAN: CallAs = { id: 'dan', userId: 'user_dan', permissions };
const ADMINISTRATOR: CallAs = { id: 'root', userId: 'user_root' };
const OPERATOR: CallAs = { id: 'operator' };

/** A workstream with a message, both with this word. */
async function conversation(
  gateway: WholeGateway,
  [word, visibility]: readonly [string, 'private' | 'shared'],
  as = BOB,
): Promise<string> {
  const { wsId } = await gateway.call('workstream.create', { visibility }, as);
  await gateway.call('workstream.update', { wsId, name: `${word}-name` }, as);
  await gateway.call('workstream.send', { wsId, message: `${word} message` }, as);
  await gateway.isIdle(wsId);
  return wsId;
}

/** Enters a command; returns what everyone who follows the workstream reads of it, and what the caller is answered. */
async function enter(gateway: WholeGateway, [wsId, command]: readonly [string, string], as: CallAs) {
  const { length } = await gateway.events(wsId);
  const { error } = await gateway.call('workstream.command', { wsId, command }, as);
  return { log: JSON.stringify((await gateway.events(wsId)).slice(length)), error };
}

test('/workstreams lists what everyone sees who sees this workstream, whoever enters it', async () => {
  await using gateway = await wholeGateway();
  const shared = await conversation(gateway, ['open', 'shared']);
  const own = await conversation(gateway, ['quokka', 'private']);
  await conversation(gateway, ['narwhal', 'private'], DAN);
  const ofOperator = await conversation(gateway, ['pangolin', 'private'], OPERATOR);
  const seen = async (wsId: string, as: CallAs) => {
    const { log } = await enter(gateway, [wsId, '/workstreams message'], as);
    return ['open', 'quokka', 'narwhal', 'pangolin'].filter((word) => log.includes(word));
  };
  const expected = [['open'], ['open', 'quokka']];
  for (const as of [BOB, ADMINISTRATOR, OPERATOR])
    assert.deepEqual([await seen(shared, as), await seen(own, as)], expected, String(as.id));
  assert.deepEqual(await seen(ofOperator, OPERATOR), ['open', 'quokka', 'narwhal', 'pangolin']);
  assert.match((await enter(gateway, [shared, '/workstreams quokka'], BOB)).log, /No conversation has these words/);
});

test('/resume finds only what everyone sees who sees this workstream, and names no other ids', async () => {
  await using gateway = await wholeGateway();
  const shared = await conversation(gateway, ['open', 'shared']);
  const own = await conversation(gateway, ['quokka', 'private']);
  const other = await conversation(gateway, ['quokka', 'private'], DAN);
  for (const as of [BOB, ADMINISTRATOR, OPERATOR]) {
    const { log, error } = await enter(gateway, [shared, '/resume quokka-name'], as);
    assert.equal(error, 'No saved conversation that everyone here sees is called quokka-name', String(as.id));
    assert.ok(![own, other, 'quokka message'].some((word) => log.includes(word)), log);
  }
  assert.equal((await enter(gateway, [own, '/resume open-name'], BOB)).error, undefined);
});

test('/fork does not name a copy that is private', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, visibility: 'private' } });
  const shared = await conversation(gateway, ['open', 'shared']);
  const { log } = await enter(gateway, [shared, '/fork quokka'], BOB);
  assert.match(log, /The conversation was copied to a new private workstream\./);
  assert.ok(!log.includes('quokka'));
  const { log: told } = await enter(gateway, [shared, '/fork'], OPERATOR);
  assert.match(told, /The conversation was copied to ws-[0-9a-f]{4} \([0-9a-f]{32}\)\./);
});

test('a name that a private workstream has is refused only to the caller', async () => {
  await using gateway = await wholeGateway();
  const shared = await conversation(gateway, ['open', 'shared']);
  await conversation(gateway, ['quokka', 'private']);
  const hidden = await conversation(gateway, ['other', 'shared']);
  const inUse = 'That name is already used by another workstream';
  const failed = 'Command error: who entered it is told why it failed.';
  for (const as of [BOB, ADMINISTRATOR]) {
    const { log, error } = await enter(gateway, [shared, '/name quokka-name'], as);
    assert.deepEqual([log, error], [JSON.stringify([{ type: 'error', message: failed }]), inUse], String(as.id));
  }
  const { log } = await enter(gateway, [shared, '/name other-name'], BOB);
  assert.match(log, /Command error: That name is already used/);
  await enter(gateway, [hidden, '/name quokka-name'], DAN);
  const { log: told, error } = await enter(gateway, [hidden, '/share private'], BOB);
  assert.deepEqual([told, error], [JSON.stringify([{ type: 'error', message: failed }]), inUse]);
});

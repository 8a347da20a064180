import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertDelivery } from '../../channels/delivery-rows.ts';
import { putChat } from '../../channels/inbox/chat-rows.ts';
import { approveSender, askForPairing } from '../../channels/inbox/sender-rows.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../../testing/whole-gateway.ts';

/** Messages that wait for the direct chat of person 7, and for a group in which the person wrote last. */
async function addWaiting({ store }: WholeGateway): Promise<void> {
  const chat = (name: string, kind: 'dm' | 'group') =>
    putChat({
      ...{ channel: 'telegram', chat: name, kind, session_key: `telegram:${kind}:${name}`, ws_id: 'w', title: 'Ada' },
      ...{ last_in_ms: 1, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
    });
  const waits = (messageId: string, to: string, by: { from: string; wsId?: string }) =>
    insertDelivery({ messageId, provider: 'telegram', to, message: 'x', acceptedMs: 1, ...by });
  await store.commit({
    statements: [
      ...[chat('7', 'dm'), chat('-5', 'group')],
      ...[waits('answer', '7', { from: 'run', wsId: 'w' }), waits('reply', '7', { from: 'headgate' })],
      ...[waits('named', '7', { from: 'operator' }), waits('group', '-5', { from: 'run', wsId: 'w' })],
    ],
  });
}

const ADA = { channel: 'telegram', senderId: '7' };
const ENDED = ['answer dead', 'reply dead', 'named pending', 'group pending'];

async function endsIn({ store }: WholeGateway): Promise<string[]> {
  const rows = await store.db.selectFrom('outbox').select(['message_id', 'status']).orderBy('seq').execute();
  return rows.map(({ message_id: id, status }) => `${id} ${status}`);
}

test('what waits for a person who is revoked is not sent, except what was sent there by name', async () => {
  await using it = await wholeGateway();
  await addWaiting(it);
  await it.call('channel.revoke', ADA);
  assert.deepEqual(await endsIn(it), ENDED);
});

for (const end of ['disabled', 'deleted'] as const)
  test(`what waits for the people of a user who is ${end} is not sent, and their runs end`, async () => {
    await using it = await wholeGateway();
    const person = { username: 'ada', displayName: 'Ada', password: 'correct horse', roles: ['builtin-operator'] };
    const { userId } = await it.call('user.create', person);
    const pairing = { codeHash: 'h', nowMs: 1 };
    await it.store.commit({
      statements: [
        askForPairing({ ...ADA, ...pairing, name: 'Ada', expiresMs: 2, most: 3 }),
        approveSender(ADA, { ...pairing, userId, by: 'operator' }),
      ],
    });
    await addWaiting(it);
    it.puppet.turn(new Promise(() => undefined));
    const accepted = { message: 'x', principal: 'telegram:7', rights: 'write', source: 'person' } as const;
    await it.parts.runs.accept(it.mainWorkstream(), accepted);
    await it.call('user.update', { userId, displayName: 'Countess' });
    assert.equal((await endsIn(it))[0], 'answer pending');
    if (end === 'disabled') await it.call('user.update', { userId, disabled: true });
    else await it.call('user.delete', { userId });
    assert.deepEqual(await endsIn(it), ENDED);
    await turnsUntil(() => it.mainWorkstream().current === undefined, 'the run has ended');
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../../../protocol/contract.ts';
import { DELETED } from '../../store/deletion.ts';
import { never } from '../../testing/puppet-model.ts';
import { callerOf, type WholeGateway, wholeGateway } from '../../testing/whole-gateway.ts';
import { readWaiting, storeUpdates } from '../inbox/inbox-rows.ts';
import type { ActingSender } from './acting-sender.ts';
import { type AllowedMessage, createChatCommands } from './chat-commands.ts';
import { createReplies } from './replies.ts';

const OF = { channel: 'telegram', account: '1' };
const MOST_WRITES = 20;

const asSender = (scopes: readonly Scope[]): ActingSender => ({
  principal: callerOf({ id: 'telegram:7', scope: scopes[0] ?? 'read' }).principal ?? assert.fail(),
  rights: 'write',
  mayApprove: false,
});
const ADA = asSender(['write']);

const arrive = ({ parts, clock }: WholeGateway, { updateId = '1', chat = '7' } = {}) => {
  const update = { updateId, chat, senderId: '7', body: { message: {} } };
  return parts.store.commit({ statements: storeUpdates(OF, [update], clock.now()) });
};

/** Handles the stored update, if it has not ended. */
async function handle(
  { parts, clock, mainWorkstream }: WholeGateway,
  name: string,
  { argument = '', by = ADA }: { argument?: string; by?: ActingSender } = {},
): Promise<void> {
  const { store } = parts;
  const replies = createReplies({ store, wake: () => undefined, clock });
  const commands = createChatCommands({ store, commands: parts.commands, replies, clock });
  const row = (await readWaiting(store, OF)).find(({ update_id: id }) => id === '1');
  // Only these are read.
  if (row) await commands.run({ row, workstream: mainWorkstream(), by } as AllowedMessage, { name, argument });
}

/**
 * Executes the command once for each of its writes, at which the daemon is killed; `between` acts when the next daemon has
 * started. Returns the number of writes. `check` looks at the end.
 */
async function killAtEach(
  name: string,
  acts: {
    before(gateway: WholeGateway): Promise<unknown>;
    between?(gateway: WholeGateway): Promise<unknown>;
    check(gateway: WholeGateway, killedAt: number): Promise<unknown>;
  },
): Promise<number> {
  for (let killedAt = 1; killedAt <= MOST_WRITES; killedAt += 1) {
    await using gateway = await wholeGateway();
    await acts.before(gateway);
    await arrive(gateway);
    let writes = 0;
    const died = Promise.withResolvers<void>();
    gateway.disk.diesAt = () => {
      const isLast = ++writes === killedAt;
      if (isLast) died.resolve();
      return isLast;
    };
    const handled = handle(gateway, name).then(
      () => 'handled',
      () => 'died',
    );
    const end = await Promise.race([handled, died.promise.then(() => 'died')]);
    if (end === 'died') {
      await gateway.crash();
      await acts.between?.(gateway);
      await handle(gateway, name);
    }
    await acts.check(gateway, killedAt);
    const replies = await gateway.parts.store.db.selectFrom('outbox').select('message').execute();
    assert.equal(replies.length, 1, `/${name} is answered once, killed at ${killedAt}`);
    const waiting = await readWaiting(gateway.parts.store, OF);
    assert.ok(!waiting.some(({ update_id: id }) => id === '1'), 'the update has ended');
    if (end === 'handled') return writes;
  }
  return assert.fail('it writes and writes');
}

const say = async (gateway: WholeGateway, text: string) => (await gateway.accept(text))?.ended;

/** Something that the command must not concern, once it has had its effect. */
const sayAfterwards = async (gateway: WholeGateway) => {
  if (gateway.mainWorkstream().data.contextAfterSeq > 0) await say(gateway, 'afterwards');
};

test('/new saves the conversation once, whenever the daemon dies', async () => {
  const writes = await killAtEach('new', {
    before: (gateway) => say(gateway, 'hello'),
    between: sayAfterwards,
    async check({ parts, mainWorkstream }, killedAt) {
      assert.equal(
        (await visible(parts.store)).length,
        2,
        `the main one and one that was saved, killed at ${killedAt}`,
      );
      assert.equal(mainWorkstream().data.contextAfterSeq, 2);
    },
  });
  assert.ok(writes >= 3, `${writes} writes`);
});

const visible = ({ db }: WholeGateway['parts']['store']) =>
  db.selectFrom('workstreams').select('ws_id').where('loaded', '<>', DELETED).execute();

test('/clear forgets what was said before it, and nothing that was said afterwards', async () => {
  await killAtEach('clear', {
    before: (gateway) => say(gateway, 'hello'),
    between: sayAfterwards,
    check: async ({ mainWorkstream }) => assert.equal(mainWorkstream().data.contextAfterSeq, 2),
  });
});

test('/stop stops what went on before it, and nothing that was said afterwards', async () => {
  const writes = await killAtEach('stop', {
    async before(gateway) {
      gateway.puppet.replies(({ messages }) => {
        const last = messages.at(-1);
        return last?.role === 'user' && last.content === 'said afterwards' ? undefined : [never()];
      });
      await gateway.accept('in progress', { key: 'first' });
      await gateway.accept('waits', { key: 'second' });
    },
    async between(gateway) {
      const [row] = await readWaiting(gateway.parts.store, OF);
      // Before that, it has not begun to stop anything.
      if (row?.body_json?.includes('first')) await gateway.accept('said afterwards', { key: 'third' });
    },
    async check({ parts, isIdle, main }, killedAt) {
      await isIdle(await main());
      const runs = await parts.store.db.selectFrom('runs').select(['run_id', 'status']).execute();
      for (const { run_id: id, status } of runs)
        assert.equal(status, id === 'third' ? 'ok' : 'cancelled', `${id}, killed at ${killedAt}`);
    },
  });
  assert.ok(writes >= 3, `${writes} writes`);
});

test('/stop ends earlier messages of its chat that have not become runs, once, whenever the daemon dies', async () => {
  await killAtEach('stop', {
    async before(gateway) {
      await arrive(gateway, { updateId: 'loads a file' });
      await arrive(gateway, { updateId: 'waits for parts' });
      await arrive(gateway, { updateId: 'of others', chat: '8' });
    },
    between: (gateway) => arrive(gateway, { updateId: 'said afterwards' }),
    async check({ parts }, killedAt) {
      const { db } = parts.store;
      const waiting = (await readWaiting(parts.store, OF)).map(({ update_id: id }) => id);
      assert.deepEqual(waiting, ['of others', ...(waiting.length > 1 ? ['said afterwards'] : [])]);
      const [reply] = await db.selectFrom('outbox').select('message').execute();
      assert.equal(reply?.message, '⏹ Stopped.', `killed at ${killedAt}`);
    },
  });
});

test('commands that every conversation has answer into the chat', async () => {
  await using gateway = await wholeGateway();
  const answerTo = async (name: string, argument = '', by = ADA) => {
    await gateway.parts.store.commit({ statements: [{ sql: 'delete from outbox', parameters: [] }] });
    await gateway.parts.store.commit({ statements: [{ sql: 'delete from channel_inbox', parameters: [] }] });
    await arrive(gateway);
    await handle(gateway, name, { argument, by });
    const [reply] = await gateway.parts.store.db.selectFrom('outbox').select('message').execute();
    return reply?.message;
  };
  assert.match((await answerTo('effort', 'high')) ?? '', /^Effort: high$/);
  assert.match((await answerTo('model', 'nobody')) ?? '', /nobody/);
  assert.equal(await answerTo('watches'), 'No watch is active.');
  assert.match((await answerTo('budget', '5')) ?? '', /approve scope/);
  assert.match((await answerTo('budget', '5', asSender(['approve']))) ?? '', /In a chat, this command only shows/);
  assert.match((await answerTo('effort', 'low', asSender(['read']))) ?? '', /scope/);
  assert.match((await answerTo('effort')) ?? '', /^Effort: high$/, 'it was not allowed to change it');
  assert.equal(await answerTo('share', 'everyone'), undefined, 'no command of chats');
});

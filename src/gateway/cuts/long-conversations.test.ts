import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationFile } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import { removeDeleted } from '../store/deletion.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import type { Unit } from '../store/store.ts';
import { callerOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { refused } from './take-back-fixture.ts';

const MESSAGES = 3_000;
/** A page of messages; other work must run after each. */
const PAGE = 200;

const long: ConversationFile = {
  format: 'headgate-conversation',
  version: 1,
  messages: Array.from({ length: MESSAGES / 2 }, (_, index): FileMessage[] => [
    { role: 'user', createdMs: 1, content: `question ${index + 1}` },
    { role: 'assistant', createdMs: 2, content: `answer ${index + 1}`, toolCalls: [] },
  ]).flat(),
  notes: Array.from({ length: 400 }, (_, index) => ({
    kind: 'error',
    createdMs: 3,
    message: `${index}`,
    after: 1_500,
  })),
  files: [],
};

/** A gateway with a long conversation, and how many messages were read, in all and at most at once. */
async function longConversation() {
  const read = { count: 0, most: 0 };
  const tap = (store: SqliteStore): SqliteStore => ({
    ...store,
    async readMessages(wsId, range) {
      const rows = await store.readMessages(wsId, range);
      read.count += rows.length;
      read.most = Math.max(read.most, rows.length);
      return rows;
    },
  });
  const gateway = await wholeGateway({ tap });
  const { wsId } = await gateway.call('workstream.import', { conversation: long });
  Object.assign(read, { count: 0, most: 0 });
  return { gateway, wsId, read };
}

/** How many turns of the event loop other work gets meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work().finally(() => {
    isOver = true;
  });
  return turns;
}

const textsOf = async (gateway: WholeGateway, wsId: string) => {
  const { messages } = await gateway.call('workstream.history', { wsId });
  return [messages.length > 0, messages.at(-1)?.seq, messages.at(-1)?.content];
};

const rowsOf = (gateway: WholeGateway, wsId: string) =>
  Promise.all(
    (['messages', 'notes', 'attachments', 'workstreams'] as const).map(async (table) => {
      const rows = await gateway.store.db.selectFrom(table).select('ws_id').where('ws_id', '=', wsId).execute();
      return rows.length;
    }),
  );

test('taking back the end of a long conversation reads only its end', async () => {
  const { gateway, wsId, read } = await longConversation();
  await using _ = gateway;
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  assert.equal(read.count, PAGE);
  await gateway.call('workstream.rewind', { wsId, turns: 150 });
  assert.equal(read.count, 3 * PAGE);
  const inside = 'Message 2501 is inside a turn. Use 2500 for the conversation before it, or 2502 for its end.';
  assert.deepEqual(await gateway.refusal('workstream.rewind', { wsId, toSeq: 2_501 }), refused(inside));
  assert.equal(read.count, 4 * PAGE);
  gateway.puppet.turn('again');
  await gateway.call('workstream.retry', { wsId });
  await gateway.isIdle(wsId);
  assert.deepEqual(await textsOf(gateway, wsId), [true, MESSAGES + 2, 'again']);
});

test('a rewind to the beginning, and one by too many turns, read a long conversation in pages', async () => {
  const { gateway, wsId, read } = await longConversation();
  await using _ = gateway;
  const params = { wsId, turns: 1_501 };
  const turns = await turnsDuring(async () =>
    assert.deepEqual(
      await gateway.refusal('workstream.rewind', params),
      refused('This conversation has only 1500 turns.'),
    ),
  );
  assert.ok(turns >= MESSAGES / PAGE - 1, `${turns} turns`);
  assert.deepEqual(read, { count: MESSAGES, most: PAGE });
  await gateway.call('workstream.rewind', { wsId, turns: 1_500 });
  assert.deepEqual((await gateway.call('workstream.history', { wsId })).messages, []);
});

test('other work runs while a long conversation is copied, exported, imported, sent to a model or saved by /new', async () => {
  const { gateway, wsId, read } = await longConversation();
  await using _ = gateway;
  const long2 = { ...long, notes: [] };
  const send = async () => {
    gateway.puppet.turn('an answer');
    await gateway.call('workstream.send', { wsId, message: 'hello' });
    await gateway.reaches(wsId, 'content');
  };
  const works = {
    fork: () => gateway.call('workstream.fork', { wsId }),
    import: () => gateway.call('workstream.import', { conversation: long2 }),
    export: () => gateway.call('workstream.export', { wsId }),
    send,
    new: () => gateway.call('workstream.command', { wsId, command: '/new' }),
  };
  for (const [name, work] of Object.entries(works)) {
    const turns = await turnsDuring(work);
    assert.ok(turns >= MESSAGES / PAGE, `${name}: ${turns} turns`);
    await gateway.isIdle(wsId);
  }
  assert.ok(read.most <= PAGE, `${read.most} at once`);
});

const begun = {
  'workstream.fork': (wsId: string) => ({ wsId }),
  'workstream.import': () => ({ conversation: long }),
  'workstream.command': (wsId: string) => ({ wsId, command: '/new' }),
} as const;

/** The workstream that the units of this gateway store now. */
const madeBy = ({ statements = [] }: Unit): string | undefined => {
  const [first] = statements;
  return first && /insert into "workstreams"/i.test(first.sql) ? String(first.parameters[0]) : undefined;
};

for (const [method, paramsOf] of Object.entries(begun)) {
  for (const at of [1, 7, 'last'] as const) {
    test(`a daemon killed during ${method}, at unit ${at}, leaves nothing that anybody can see, and the sweep removes it`, async () => {
      const { gateway, wsId } = await longConversation();
      await using _ = gateway;
      const saved = await gateway.call('workstream.saved', {});
      const before = await textsOf(gateway, wsId);
      let [made, units] = ['', -1];
      gateway.disk.diesAt = (unit) => {
        made ||= madeBy(unit) ?? '';
        if (made !== '') units += 1;
        return at === 'last' ? reveals(unit) : units === at;
      };
      void gateway.gateway.dispatch(method as keyof typeof begun, paramsOf(wsId), callerOf()); // never answered
      await turnsUntil(() => (at === 'last' ? units >= MESSAGES / PAGE : units >= at), 'the end of the process');
      await gateway.crash();
      assert.deepEqual(await gateway.call('workstream.saved', {}), saved);
      assert.deepEqual(await textsOf(gateway, wsId), before);
      assert.equal((await gateway.refusal('workstream.history', { wsId: made })).code, 'NOT_FOUND');
      await removeDeleted(gateway.store, gateway.gateway.isBeingMade);
      assert.deepEqual(await rowsOf(gateway, made), [0, 0, 0, 0]);
    });
  }
}

/** Whether it makes a workstream visible. */
const reveals = ({ statements = [] }: Unit): boolean =>
  /^update "workstreams" set "loaded"/.test(statements[0]?.sql ?? '');

test('a copy that the disk refuses in its middle is removed, and the next attempt succeeds', async () => {
  const { gateway, wsId } = await longConversation();
  await using _ = gateway;
  let [made, units] = ['', 0];
  gateway.disk.fails = (unit) => {
    made ||= madeBy(unit) ?? '';
    units += made === '' ? 0 : 1;
    return units === 5;
  };
  assert.equal((await gateway.refusal('workstream.fork', { wsId, seq: 2_000 })).code, 'UNAVAILABLE');
  assert.deepEqual(await rowsOf(gateway, made), [0, 0, 0, 0]);
  gateway.disk.fails = undefined;
  const fork = await gateway.call('workstream.fork', { wsId, seq: 2_000 });
  assert.deepEqual([fork.messageCount, ...(await textsOf(gateway, fork.wsId))], [2_000, true, 2_000, 'answer 1000']);
  const notes = gateway.store.db.selectFrom('notes').selectAll().where('ws_id', '=', fork.wsId);
  const copied = await notes.orderBy('after_seq').orderBy('offset').execute();
  assert.deepEqual(
    copied.map(({ after_seq, body_json }) => [after_seq, JSON.parse(body_json).message]),
    long.notes.map(({ after }, index) => [after, `${index}`]),
  );
});

test('a sweep leaves a workstream that is being stored', async () => {
  const { gateway, wsId } = await longConversation();
  await using _ = gateway;
  let [units, sweep] = [0, Promise.resolve()];
  gateway.disk.fails = () => {
    units += 1;
    if (units === 5) sweep = removeDeleted(gateway.store, gateway.gateway.isBeingMade);
    return false;
  };
  const fork = await gateway.call('workstream.fork', { wsId });
  await sweep;
  assert.ok(units > 5);
  assert.deepEqual(await rowsOf(gateway, fork.wsId), [MESSAGES, long.notes.length, 0, 1]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Model, Models } from '../../../agent/providers/model.ts';
import { puppetModels } from '../../testing/puppet-model.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { blockStep } from './block-step.ts';
import { compactStep } from './compact-log.ts';

const TURNS = 100;
/** With everything that a conversation stores: messages, events, runs, their journals, usage, indexes and unused bytes. */
const MB_PER_1000_MESSAGES = 2;
const WORDS =
  'when the daemon starts again it reads every unfinished run and asks only if the outcome is unknown'.split(' ');

/** Of five to six characters a word, with a space. */
const textOf = (words: number, first: number): string =>
  Array.from({ length: words }, (_, n) => WORDS[(first * 7 + n * n) % WORDS.length]).join(' ');

test(`a thousand messages, questions of 60 words and answers of 250 in pieces of 4 characters, take at most ${MB_PER_1000_MESSAGES} MB`, async () => {
  let turn = 0;
  await using gateway = await wholeGateway({ models: modelsThatSay(() => textOf(250, turn)) });
  const { store } = gateway;
  const wsId = await gateway.main();
  const before = await usedBytes(store);
  for (; turn < TURNS; turn += 1) {
    await (await gateway.accept(textOf(60, turn)))?.ended;
    await compact(store, wsId);
  }
  const megabytes = (((await usedBytes(store)) - before) * (1_000 / (2 * TURNS))) / 1e6;
  assert.ok(store.bounds(wsId).last > TURNS * 250, 'the answers came in pieces');
  assert.ok(megabytes < MB_PER_1000_MESSAGES, `${megabytes.toFixed(2)} MB`);
});

async function compact(store: SqliteStore, wsId: string): Promise<void> {
  const { last: through } = store.bounds(wsId);
  const head = await store.db.selectFrom('log_heads').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  for (let after = head?.compacted ?? 0; after < through; ) after = await compactStep(store, { wsId, after, through });
  for (let after = head?.blocked ?? 0; after < through; ) after = await blockStep(store, { wsId, after, through });
}

/** Models that answer in pieces of four characters, each in a later turn of the event loop. */
function modelsThatSay(answer: () => string): Models {
  const { models } = puppetModels();
  const speaking = (model: Model): Model => ({
    ...model,
    async *stream() {
      for (const [text] of answer().matchAll(/.{1,4}/g)) {
        for (let passed = 0; passed < 3; passed += 1) await nextTurn();
        yield { type: 'content', text };
      }
      const usage = { promptTokens: 70, completionTokens: 30, cacheCreationTokens: 0, cacheReadTokens: 0 };
      yield { type: 'finish', reason: 'stop', usage };
    },
  });
  return { ...models, resolve: async (alias) => speaking(await models.resolve(alias)) };
}

async function usedBytes({ db }: SqliteStore): Promise<number> {
  const numberOf = async (pragma: string): Promise<number> => {
    const { rows } = await sql.raw<Record<string, number>>(`pragma ${pragma}`).execute(db);
    return Number(rows[0]?.[pragma]);
  };
  return ((await numberOf('page_count')) - (await numberOf('freelist_count'))) * (await numberOf('page_size'));
}

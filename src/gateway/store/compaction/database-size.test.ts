import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Model, Models } from '../../../agent/providers/model.ts';
import { puppetModels } from '../../testing/puppet-model.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { compactStep } from './compact-log.ts';

const TURNS = 20;
/** With everything that a conversation stores: messages, events, runs, their journals, usage, indexes and unused bytes. */
const MIB_PER_1000_MESSAGES = 5.5;
const WORDS =
  'when the daemon starts again it reads every unfinished run and asks only if the outcome is unknown'.split(' ');

/** About five characters a word, with a space. */
const textOf = (words: number, first: number): string =>
  Array.from({ length: words }, (_, n) => WORDS[(first * 7 + n * n) % WORDS.length]).join(' ');

test(`a thousand messages, questions of 60 words and answers of 250 in pieces of 4 characters, take at most ${MIB_PER_1000_MESSAGES} MiB`, async () => {
  let turn = 0;
  await using gateway = await wholeGateway({ models: modelsThatSay(() => textOf(250, turn)) });
  const { store } = gateway;
  const wsId = await gateway.main();
  const before = await usedBytes(store);
  for (; turn < TURNS; turn += 1) await (await gateway.accept(textOf(60, turn)))?.ended;
  const { last } = store.bounds(wsId);
  for (let after = 0; after < last; ) after = await compactStep(store, { wsId, after, through: last });
  const bytes = ((await usedBytes(store)) - before) * (1_000 / (2 * TURNS));
  assert.ok(last > TURNS * 250, 'the answers came in pieces');
  assert.ok(bytes < MIB_PER_1000_MESSAGES * 1_048_576, `${(bytes / 1_048_576).toFixed(2)} MiB`);
});

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

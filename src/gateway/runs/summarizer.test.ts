import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunWaits } from '../../agent/run/model/run-waits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { puppetModels } from '../testing/puppet-model.ts';
import { summarizerOf } from './summarizer.ts';

/** The aliases of the model that writes, and of its spare. */
async function writers(aliases: string[], modelAlias: string | null) {
  const { models } = puppetModels();
  const list = () =>
    aliases.map((alias) => ({ alias, provider: 'puppet', modelId: alias, contextWindow: 0, isDefault: false }));
  const resolve = async (alias = '') => ({ ...(await models.resolve()), alias });
  const account = { begin: async () => undefined, end: async () => undefined };
  const recorder = { record: async () => undefined, emit: () => undefined };
  const shared = { recorder, waits: new RunWaits(), clock: fakeClock(), log: recordingLog() };
  const { model, spare } = await summarizerOf(modelAlias ?? undefined, account, {
    models: { list, resolve },
    ...shared,
  });
  return [model.alias, spare?.alias];
}

test('the model named compaction writes the summaries; without one, the conversation’s own does', async () => {
  assert.deepEqual(await writers(['big'], 'big'), ['big', undefined]);
  assert.deepEqual(await writers(['big', 'compaction'], 'big'), ['compaction', 'big']);
  assert.deepEqual(await writers(['big', 'compaction'], 'compaction'), ['compaction', undefined]);
});

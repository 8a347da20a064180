import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { createFakeClient } from '../fake-client.ts';
import { occurrence } from './cron-fixture.ts';
import { CronRuns } from './cron-runs.ts';

function open(stored: number) {
  const fake = createFakeClient();
  fake.answer('cron.runs', ({ limit }: { limit: number }) => ({
    entries: Array.from({ length: stored }, (_, index) => occurrence({ scheduledAtMs: index })).slice(-limit),
  }));
  const history = new CronRuns(fake.client, 'j1');
  const shown = () => history.runs.value?.entries.map(({ scheduledAtMs }) => scheduledAtMs);
  return { ...fake, history, shown };
}

test('the latest ten runs are shown first, the rest on request', async () => {
  const { history, shown } = open(12);
  await history.read();
  assert.deepEqual([shown()?.length, shown()?.[0], history.runs.value?.hasMore], [10, 11, true]);
  await history.more();
  assert.deepEqual([shown()?.length, shown()?.at(-1), history.runs.value?.hasMore], [12, 0, false]);
});

test('a failed read shows the reason and keeps the old history', async () => {
  const { history, answer, shown } = open(1);
  await history.read();
  answer('cron.runs', () => {
    throw new RequestError('UNAVAILABLE', 'try later');
  });
  await history.read();
  assert.deepEqual([shown(), history.reading.problem.value], [[0], 'try later']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCronClient } from '../support/clients/cron-client.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();

const LINE = {
  sessionTarget: 'main',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'systemEvent', text: 'tick' },
} as const;

test('a period below one second is answered with the effective period, even after a restart', async () => {
  const cron = await openCronClient(daemon);
  const schedule = { kind: 'every', everyMs: 300, anchorMs: 0 } as const;
  const used = { ...schedule, everyMs: 1_200 };
  const job = await cron.ask('cron.add', { ...LINE, schedule, enabled: false });
  const updated = await cron.ask('cron.update', { id: job.id, patch: { schedule: { ...schedule, everyMs: 999 } } });
  await cron.ask('cron.update', { id: job.id, patch: { schedule } });
  const { schedule: previewed, runs } = await cron.ask('cron.preview', { schedule, count: 2, fromMs: 0 });
  assert.deepEqual(
    [job.schedule, updated.schedule, previewed, runs.map(({ atMs }) => atMs)],
    [used, { ...schedule, everyMs: 1_998 }, used, [1_200, 2_400]],
  );
  cron[Symbol.dispose]();
  await daemon.restart();
  using after = await openCronClient(daemon);
  const { jobs } = await after.ask('cron.list', { includeDisabled: true });
  assert.deepEqual(jobs.find(({ id }) => id === job.id)?.schedule, used);
  await after.ask('cron.remove', { id: job.id });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { CronExtendedJob, CronSwitch } from '../../../../protocol/cron.ts';
import { createFakeClient } from '../fake-client.ts';
import { job } from './cron-fixture.ts';
import { CronJobs } from './cron-jobs.ts';

function open() {
  const fake = createFakeClient();
  const stored: { jobs: CronExtendedJob[]; switchedOffBy: CronSwitch[] } = { jobs: [], switchedOffBy: [] };
  fake.answer('cron.list', () => ({ jobs: stored.jobs }));
  fake.answer('cron.status', () => ({
    ...{ enabled: true, storePath: '', jobs: 0, nextWakeAtMs: null, switchedOffBy: stored.switchedOffBy },
  }));
  const jobs = new CronJobs({ client: fake.client, newKey: () => 'key' });
  const ids = () => jobs.jobs.value?.map(({ id }) => id);
  const readings = () => fake.calls.filter(([method]) => method === 'cron.list').length;
  return { ...fake, jobs, ids, readings, stored };
}
const settled = () => new Promise(setImmediate);
const added = { jobId: 'j1', action: 'added' };

test('nothing is read before the panel opens; then events keep the list current', async () => {
  const { jobs, emit, ids, readings, stored } = open();
  emit('cron', added);
  await settled();
  assert.deepEqual([readings(), ids()], [0, undefined]);
  jobs.follow();
  await settled();
  assert.deepEqual(ids(), []);
  stored.jobs = [job()];
  emit('cron', added);
  await settled();
  assert.deepEqual(ids(), ['j1']);
});

test('jobs are sorted by next run, those without one last by name', async () => {
  const { jobs, ids, stored } = open();
  stored.jobs = [
    job({ id: 'none-b', name: 'b' }),
    job({ id: 'late', state: { nextRunAtMs: 9 } }),
    job({ id: 'none-a', name: 'a' }),
    job({ id: 'soon', state: { nextRunAtMs: 3 } }),
  ];
  jobs.follow();
  await settled();
  assert.deepEqual(ids(), ['soon', 'late', 'none-a', 'none-b']);
});

test('a change during a read causes one more read', async () => {
  const { jobs, answer, emit, ids, readings } = open();
  const slow = Promise.withResolvers<void>();
  answer('cron.list', async () => {
    await slow.promise;
    return { jobs: [job({ id: `reading ${readings()}` })] };
  });
  jobs.follow();
  for (let events = 0; events < 5; events += 1) emit('cron', added);
  slow.resolve();
  await settled();
  assert.deepEqual([readings(), ids()], [2, ['reading 2']]);
});

test('a failed read shows the reason and keeps the old list', async () => {
  const { jobs, answer, ids, stored } = open();
  stored.jobs = [job()];
  jobs.follow();
  await settled();
  answer('cron.list', () => {
    throw new RequestError('UNAVAILABLE', 'try later');
  });
  jobs.refreshLater();
  await settled();
  assert.deepEqual([ids(), jobs.reading.problem.value], [['j1'], 'try later']);
});

test('it knows which settings switch schedules off', async () => {
  const { jobs, stored } = open();
  stored.switchedOffBy = ['HEADGATE_SKIP_CRON'];
  jobs.follow();
  await settled();
  assert.deepEqual(jobs.switchedOffBy.value, ['HEADGATE_SKIP_CRON']);
});

test('actions call the daemon and return its message when refused', async () => {
  const { jobs, answer, calls } = open();
  answer('cron.update', () => ({}));
  answer('cron.remove', () => {
    throw new RequestError('FORBIDDEN', 'needs the scope approve');
  });
  answer('cron.run', ({ id }: { id: string }) =>
    id === 'busy' ? { ok: true, ran: false, reason: 'already-running' } : { ok: true, ran: true },
  );
  assert.deepEqual(
    [
      await jobs.update('j1', { enabled: false }, { revision: 3 }),
      await jobs.remove('j1'),
      await jobs.run('j1'),
      await jobs.run('busy'),
    ],
    [undefined, 'needs the scope approve', undefined, 'This job is already running.'],
  );
  assert.deepEqual(calls.slice(0, 3), [
    ['cron.update', { id: 'j1', patch: { enabled: false }, revision: 3 }],
    ['cron.remove', { id: 'j1' }],
    ['cron.run', { id: 'j1', mode: 'force', wait: false }],
  ]);
});

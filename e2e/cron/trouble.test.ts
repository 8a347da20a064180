import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParamsInput } from '../../protocol/index.ts';
import { systemClock } from '../../src/clock.ts';
import { openChecked } from '../support/clients/checked-client.ts';
import { openCronClient } from '../support/clients/cron-client.ts';
import { readSpecifiedList } from '../support/clients/specified-jobs.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { fail, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const cli = (...args: string[]) => runHeadgate(args, { HEADGATE_HOME: daemon.home, TZ: 'UTC' });

const turn = (message: string): ParamsInput<'cron.add'> => ({
  ...{ name: message, schedule: { kind: 'every', everyMs: 3_600_000 }, sessionTarget: 'isolated' },
  ...{ wakeMode: 'next-heartbeat', payload: { kind: 'agentTurn', message } },
});

test('The third consecutive error of a job and each further one must raise `alert`; a successful run clears it', async () => {
  using cron = await openCronClient(daemon);
  model.when('lose the way', fail(400, { message: 'no such road' }));
  const { id } = await cron.ask('cron.add', turn('lose the way'));
  const run = () => cron.ask('cron.run', { id, mode: 'force' });
  for (let errors = 1; errors <= 2; errors += 1) await run();
  assert.equal((await cron.stateOf(id)).state.alert, undefined);
  await run();
  const { status, error } = await cron.heard(id, 'alert');
  assert.deepEqual([status, /no such road/.test(error ?? '')], ['error', true]);
  assert.deepEqual(cron.actions(id), [
    ...['added', 'started', 'finished', 'started', 'finished', 'started', 'finished', 'alert'],
  ]);
  assert.partialDeepStrictEqual((await cron.stateOf(id)).state, { alert: true, consecutiveErrors: 3 });
  assert.ok(
    readSpecifiedList(await cron.ask('cron.list', {})).some((job) => job.id === id),
    'plain output lists the job without its alert',
  );

  const line = /^! alert: job "lose the way" failed 3 times in a row: .*no such road/m;
  const [list, runs, status_] = [await cli('cron', 'list'), await cli('cron', 'runs', id), await cli('status')];
  assert.match(list.stdout, /^lose the way .* ALERT \(3 errors in a row\) /m);
  for (const told of [list.stderr, runs.stderr, status_.stdout]) assert.match(told, line);

  model.when('lose the way', say('there it is'));
  await run();
  assert.equal((await cron.stateOf(id)).state.alert, undefined);
  assert.doesNotMatch((await cli('cron', 'list')).stderr, /alert/);
  await cron.ask('cron.remove', { id });
});

test('A missed one-time job must be disabled and give the actual reason; only a new time enables it again', async () => {
  using cron = await openCronClient(daemon);
  const schedule = { kind: 'at', atMs: systemClock.now() - 3_600_000 } as const;
  const { id } = await cron.ask('cron.add', { ...turn('too late'), schedule, misfire: 'skip' });
  const why = 'its time had already passed when the job was added; its policy skips occurrences more than 60 s late';
  assert.equal((await cron.heard(id, 'missed')).error, why);
  const { enabled, state } = await cron.stateOf(id);
  assert.deepEqual([enabled, state.nextRunAtMs, state.lastStatus, state.lastError], [false, undefined, 'missed', why]);
  const list = await cli('cron', 'list');
  assert.match(list.stdout, /^too late .* over +missed /m);
  assert.match(list.stderr, new RegExp(`^! job "too late" was missed and will not run: ${why}$`, 'm'));
  assert.match(
    (await cli('cron', 'explain', id)).stdout,
    /, missed: Its time had already passed when the job was added;/,
  );

  const enable = await cron.request('cron.update', { id, patch: { enabled: true } });
  assert.deepEqual(
    [enable.error?.code, enable.error?.message.split(';')[0]],
    ['INVALID_REQUEST', 'enabled: the only time of the job is over'],
  );
  const again = { enabled: true, schedule: { kind: 'at', atMs: Date.UTC(2090, 0) } } as const;
  const { state: next } = await cron.ask('cron.update', { id, patch: again });
  assert.equal(next.nextRunAtMs, again.schedule.atMs);
  assert.doesNotMatch((await cli('cron', 'list')).stderr, /too late/);
  await cron.ask('cron.remove', { id });
});

test('A `cron.update` with an outdated `revision` must be answered CONFLICT and change nothing', async () => {
  using cron = await openCronClient(daemon);
  const { id } = await cron.ask('cron.add', turn('of two'));
  const { revision } = await cron.stateOf(id);
  await cron.ask('cron.update', { id, revision, patch: { name: 'of the first' } });
  const { error } = await cron.request('cron.update', { id, revision, patch: { name: 'of the second' } });
  assert.deepEqual(
    [error?.code, error?.message],
    ['CONFLICT', 'The job has been changed since it was read; read it again'],
  );
  assert.partialDeepStrictEqual(await cron.stateOf(id), { name: 'of the first', revision: revision + 1 });
  await cron.ask('cron.update', { id, patch: { name: 'of whoever comes last' } });
  await cron.ask('cron.run', { id, mode: 'force' });
  await cron.ask('cron.update', { id, revision: revision + 2, patch: { enabled: false } });
  await cron.ask('cron.remove', { id });
});

test('status, the job list and explain name the setting that switched schedules off', async () => {
  await using off = await startDaemon({ env: { HEADGATE_SKIP_CRON: '1' } });
  const client = await openChecked(off);
  await client.ask('cron.add', turn('never'));
  const { switchedOffBy, enabled } = await client.ask('cron.status', { extended: true });
  assert.deepEqual([enabled, switchedOffBy], [false, ['HEADGATE_SKIP_CRON']]);
  assert.equal('switchedOffBy' in (await client.ask('cron.status', {})), false);
  const here = { HEADGATE_HOME: off.home };
  const by = "HEADGATE_SKIP_CRON in the daemon's environment";
  assert.ok((await runHeadgate(['status'], here)).stdout.includes(`Schedule 1 job, switched off (${by})`));
  assert.ok((await runHeadgate(['cron', 'list'], here)).stderr.includes(`Schedules are switched off (${by})`));
  const explained = await runHeadgate(['cron', 'explain', 'never'], here);
  assert.ok(explained.stdout.includes('Schedules are switched off here (HEADGATE_SKIP_CRON)'));
  await client.ask('config.set', { raw: '{"cron": {"enabled": false}}' });
  assert.deepEqual((await client.ask('cron.status', { extended: true })).switchedOffBy, [
    'cron.enabled',
    'HEADGATE_SKIP_CRON',
  ]);
  client.check();
  client.socket.close();
});

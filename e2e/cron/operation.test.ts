import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { seedJobs } from '../../bench/seed-jobs.ts';
import type { ParamsInput } from '../../protocol/index.ts';
import { systemClock } from '../../src/clock.ts';
import { readCronLedger, readEvidence } from '../cron-drill/evidence.ts';
import { checkCron } from '../cron-drill/rules.ts';
import { openChecked } from '../support/clients/checked-client.ts';
import { readSpecifiedList } from '../support/clients/specified-jobs.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { pause, within } from '../support/deadline.ts';
import { storeIs } from '../support/faults/full-disk.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

type Wish = ParamsInput<'cron.add'>;

const HOURLY = { kind: 'every', everyMs: 3_600_000 } as const;
const SECONDS = { kind: 'every', everyMs: 1_000, anchorMs: 0 } as const;
const line = (schedule: Wish['schedule']): Wish => ({
  ...{ schedule, sessionTarget: 'main', wakeMode: 'next-heartbeat' },
  payload: { kind: 'systemEvent', text: 'tick' },
});
const turn = (message: string): Wish => ({
  ...{ schedule: HOURLY, sessionTarget: 'isolated', wakeMode: 'next-heartbeat' },
  payload: { kind: 'agentTurn', message },
});

test('a call repeated with its key creates one job and one run, even after a restart or the removal of the job', async () => {
  await using model = await startScriptedModel();
  model.when('once', say('done'));
  await using daemon = await startDaemon({ model: model.url });
  let client = await openChecked(daemon);
  const add = { ...turn('once'), idempotencyKey: 'add' };
  const [{ id }, twin] = await Promise.all([client.ask('cron.add', add), client.ask('cron.add', add)]);
  const run = { id, mode: 'force' as const, idempotencyKey: 'run' };
  const ran = { ok: true, ran: true };
  assert.deepEqual(await Promise.all([client.ask('cron.run', run), client.ask('cron.run', run)]), [ran, ran]);
  const other = await client.request('cron.add', { ...add, name: 'another' });
  assert.deepEqual([twin.id, other.error?.code], [id, 'CONFLICT']);
  await daemon.kill9();
  await daemon.restart();
  client = await openChecked(daemon);
  assert.equal((await client.ask('cron.add', add)).id, id);
  assert.deepEqual(await client.ask('cron.run', run), ran);
  assert.equal((await client.ask('cron.list', {})).jobs.length, 1);
  await client.ask('cron.remove', { id });
  assert.deepEqual(
    [(await client.ask('cron.add', add)).id, (await client.ask('cron.list', { includeDisabled: true })).jobs],
    [id, []],
  );
  assert.deepEqual(
    readCronLedger(daemon.home).attempts.map(({ attempt }) => attempt),
    [1],
  );
  assert.equal(model.requests.length, 1);
  client.check();
  client.socket.close();
});

test('ten thousand jobs are listed completely, and events continue meanwhile', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-jobs-'));
  const home = path.join(folder, 'home');
  await mkdir(home, { mode: 0o700 });
  const ids = await seedJobs(path.join(home, 'headgate.db'), 10_000);
  {
    await using daemon = await startDaemon({ home });
    const client = await openChecked(daemon);
    const asked = client.ask('cron.list', {});
    const { id } = await client.ask('cron.add', line(HOURLY));
    assert.equal(readSpecifiedList(await asked).length, ids.length);
    await client.event('cron');
    await client.ask('cron.remove', { id });
    // The maximum number of unread frames; the memory per client is limited.
    const lists = await Promise.all(Array.from({ length: 3 }, () => client.ask('cron.list', { extended: true })));
    assert.ok(lists.every(({ jobs }) => jobs.length === ids.length));
    client.socket.close();
  }
  await rm(folder, { recursive: true, force: true });
});

test('jobs with very long texts are refused before the list becomes too long to send', async () => {
  await using daemon = await startDaemon();
  const client = await openChecked(daemon);
  const wish = turn('x'.repeat(262_000));
  const answers = [await client.request('cron.add', wish)];
  while (answers.at(-1)?.ok && answers.length < 200) answers.push(await client.request('cron.add', wish));
  const { error } = answers.at(-1) ?? assert.fail();
  assert.equal(error?.code, 'INVALID_REQUEST');
  assert.match(error.message, /^payload\.message is too long: all jobs together/);
  const { jobs } = await client.ask('cron.list', {});
  assert.equal(jobs.length, answers.length - 1);
  const [first, second] = jobs;
  await client.ask('cron.update', { id: first?.id ?? '', patch: { payload: { kind: 'agentTurn', message: 'short' } } });
  await client.ask('cron.update', { id: second?.id ?? '', patch: { payload: wish.payload } });
  await client.ask('cron.add', turn('short'));
  client.socket.close();
});

test('during a run all other calls are answered at once, and the run survives the removal of its job', async () => {
  await using model = await startScriptedModel();
  const hold = stall();
  model.when('for long', [hold, say('after all')]);
  await using daemon = await startDaemon({ model: model.url });
  const client = await openChecked(daemon);
  const { id } = await client.ask('cron.add', turn('for long'));
  const waiting = client.ask('cron.run', { id, mode: 'force' });
  await hold.reached;
  const others = async () => {
    await client.ask('cron.list', {});
    await client.ask('cron.status', {});
    await client.ask('cron.update', { id, patch: { name: 'changed in mid-run' } });
    const { verdict } = await client.ask('cron.explain', { id });
    assert.equal(verdict, 'running');
    const { id: another } = await client.ask('cron.add', line(HOURLY));
    await client.ask('cron.run', { id: another, mode: 'force' });
    await client.ask('cron.remove', { id: another });
    assert.deepEqual(await client.ask('cron.remove', { id }), { ok: true, removed: true });
  };
  await within(others(), 60_000, () => 'answers during a run');
  hold.release();
  assert.deepEqual(await waiting, { ok: true, ran: true });
  const { entries } = await client.ask('cron.runs', { id });
  assert.deepEqual(
    entries.map(({ status, summary }) => [status, summary]),
    [['ok', 'after all']],
  );
  client.check();
  client.socket.close();
});

test('with schedules switched off no job runs automatically and the answers say so; manual runs still work', async () => {
  for (const off of [{ config: { cron: { enabled: false } } }, { env: { HEADGATE_SKIP_CRON: '1' } }]) {
    await using daemon = await startDaemon(off);
    const client = await openChecked(daemon);
    const { id, state } = await client.ask('cron.add', line(SECONDS));
    const { enabled, nextWakeAtMs, jobs } = await client.ask('cron.status', {});
    assert.deepEqual([enabled, nextWakeAtMs, jobs], [false, null, 1]);
    await pause((state.nextRunAtMs ?? 0) + 200 - systemClock.now());
    assert.deepEqual(await client.ask('cron.runs', { id }), { entries: [] });
    const { verdict, because } = await client.ask('cron.explain', { id });
    assert.equal(verdict, 'disabled');
    const by = 'env' in off ? 'HEADGATE_SKIP_CRON' : 'cron.enabled';
    assert.equal(because, `Schedules are switched off here (${by}): nothing runs automatically.`);
    assert.deepEqual(await client.ask('cron.run', { id, mode: 'force' }), { ok: true, ran: true });
    client.check();
    client.socket.close();
  }
});

test('a change of cron.maxConcurrentRuns takes effect at once', async () => {
  await using model = await startScriptedModel();
  const holds = [stall(), stall(), stall()];
  for (const hold of holds) model.script([hold, say('done')]);
  await using daemon = await startDaemon({ model: model.url, config: { cron: { maxConcurrentRuns: 1 } } });
  const client = await openChecked(daemon);
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.push((await client.ask('cron.add', turn(name))).id);
  const runs = ids.map((id) => client.ask('cron.run', { id, mode: 'force' }));
  await model.request(0);
  const verdicts = async () =>
    (await Promise.all(ids.map((id) => client.ask('cron.explain', { id })))).map(({ verdict }) => verdict).sort();
  await client.ask('health', {});
  assert.deepEqual(
    [model.requests.length, (await verdicts()).filter((verdict) => verdict === 'running').length],
    [1, 1],
  );
  await client.ask('config.set', { raw: '{"cron": {"maxConcurrentRuns": 3}}' });
  await within(model.request(2), 60_000, () => 'two more runs');
  for (const hold of holds) hold.release();
  await Promise.all(runs);
  client.check();
  client.socket.close();
});

test('on a full disk no run starts and nothing changes; once there is room, every due time has its row', async () => {
  await using daemon = await startDaemon({ entry: new URL('../support/fixtures/limited-daemon.ts', import.meta.url) });
  const toggle = () => daemon.signal('SIGUSR2');
  const readyMs = systemClock.now();
  const client = await openChecked(daemon);
  const { id, schedule, createdAtMs: createdMs } = await client.ask('cron.add', line(SECONDS));
  const { id: other } = await client.ask('cron.add', line(HOURLY));
  toggle();
  const large = { ...line(HOURLY), payload: { kind: 'systemEvent', text: 'x'.repeat(8_000) } };
  for (let n = 0; n < 100 && (await client.request('cron.add', large)).ok; n += 1); // as long as there are pages left
  await storeIs(daemon, 'degraded');
  const listed = await client.ask('cron.list', { includeDisabled: true });
  for (const [method, params] of [
    ['cron.add', large],
    ['cron.update', { id: other, patch: { payload: large.payload } }],
  ] as const) {
    const { error } = await client.request(method, params);
    assert.deepEqual([error?.code, error?.retryable], ['UNAVAILABLE', true], method);
  }
  const idsOf = ({ jobs }: typeof listed) => jobs.map(({ id, name }) => `${id} ${name}`).sort();
  assert.deepEqual(idsOf(await client.ask('cron.list', { includeDisabled: true })), idsOf(listed));
  await pause(2_500);
  toggle();
  await storeIs(daemon, 'ok');
  const ends = () => readCronLedger(daemon.home).occurrences.filter(({ status }) => status === 'ok').length;
  const enough = ends() + 3;
  for (let waitedMs = 0; waitedMs < 60_000 && ends() < enough; waitedMs += 100) await pause(100);
  assert.ok(ends() >= enough, 'the job runs again');
  await client.ask('config.set', { raw: '{"cron": {"enabled": false}}' });
  await pause(500);
  const jobs = [{ id, schedule, createdMs, forced: 0, line: 'tick' }];
  const boots = [{ spawnedMs: readyMs, readyMs }];
  const restMs = systemClock.now();
  const evidence = await readEvidence(daemon.home, {
    jobs,
    boots,
    restMs,
    effectsFile: path.join(daemon.home, 'none'),
  });
  assert.deepEqual(checkCron(evidence), []);
  client.socket.close();
});

test('cron.preview lists the next times, and cron.explain says why a job ran or did not run', async () => {
  await using daemon = await startDaemon();
  const client = await openChecked(daemon);
  const preview = await client.ask('cron.preview', {
    schedule: '30 2 * * * Europe/Berlin',
    fromMs: Date.UTC(2026, 2, 28),
    count: 3,
  });
  assert.deepEqual(
    [preview.tz, preview.runs.map(({ local, offset }) => local + offset)],
    ['Europe/Berlin', ['2026-03-28T02:30:00+01:00', '2026-03-29T03:00:00+02:00', '2026-03-30T02:30:00+02:00']],
  );
  const at = await client.ask('cron.preview', { schedule: 'at 2036-12-24 18:00', tz: 'America/New_York' });
  assert.deepEqual(at.schedule, { kind: 'at', atMs: Date.UTC(2036, 11, 24, 23) });
  const zoned = await client.ask('cron.preview', { schedule: 'at 2036-12-24 18:00 Asia/Tokyo', tz: 'UTC' });
  assert.deepEqual(
    [zoned.tz, zoned.runs[0]?.local],
    ['Asia/Tokyo', '2036-12-24T18:00:00'],
    'a time zone in the text takes precedence',
  );
  for (const [params, refused] of [
    [{ schedule: 'every now and then' }, /schedule: "now and then" is not a duration/],
    [{ schedule: '0 9 * *' }, /schedule: "0 9 \* \*" is not a schedule: write it like/],
    [{ schedule: 'every 1h', tz: 'Mars/Olympus' }, /^tz is not a known time zone/],
    [{ schedule: 'every 1h', count: 51 }, /count: /],
  ] as const) {
    assert.match((await client.request('cron.preview', params)).error?.message ?? '', refused);
  }

  const { id, createdAtMs, state } = await client.ask('cron.add', line(HOURLY));
  const explained = async (atMs?: number) => {
    const { verdict, because } = await client.ask('cron.explain', { id, ...(atMs !== undefined && { atMs }) });
    return `${verdict}: ${because}`;
  };
  const nextMs = state.nextRunAtMs ?? 0;
  assert.equal(await explained(), 'scheduled: It will run at that time.');
  assert.equal(await explained(nextMs + 1), 'not-scheduled: The schedule has no occurrence at that time.');
  assert.equal(await explained(createdAtMs - 3_600_000), 'not-scheduled: The schedule has no occurrence at that time.');
  await client.ask('cron.run', { id, mode: 'force' });
  const { entries } = await client.ask('cron.runs', { id, extended: true });
  const [run] = entries;
  assert.equal(
    await explained(run && 'scheduledAtMs' in run ? run.scheduledAtMs : 0),
    'ok: It ran, because a caller requested it.',
  );
  await client.ask('cron.update', { id, patch: { enabled: false } });
  assert.equal(await explained(nextMs), 'disabled: The job is disabled.');
  client.check();
  client.socket.close();
});

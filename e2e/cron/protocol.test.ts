import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { ParamsInput } from '../../protocol/index.ts';
import { openChecked } from '../support/clients/checked-client.ts';
import { openCronClient } from '../support/clients/cron-client.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { readSpecifiedJob, readSpecifiedList } from '../support/clients/specified-jobs.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
import { fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({ env: { TZ: 'Europe/Berlin' } });

type Wish = ParamsInput<'cron.add'>;

const HOUR_MS = 3_600_000;
const HOURLY = { kind: 'every', everyMs: HOUR_MS } as const;
const line = (text = 'tick'): Wish => ({
  schedule: HOURLY,
  sessionTarget: 'main',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'systemEvent', text },
});
const turn = (message: string): Wish => ({
  schedule: HOURLY,
  sessionTarget: 'isolated',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'agentTurn', message },
});

const EVERYTHING: Wish[] = [
  { ...line(), schedule: { kind: 'at', atMs: Date.UTC(2090, 0) }, deleteAfterRun: true, misfire: 'skip' },
  { ...line(), schedule: { kind: 'cron', expr: '0 9 * * 1-5' }, misfire: { within: 60_000 }, name: 'by the clock' },
  {
    ...turn('hello'),
    ...{ approval: { mode: 'allow', tools: ['bash'] }, maxRunMs: 5_000, isolation: { postToMainPrefix: 'Note' } },
    payload: {
      ...{ kind: 'agentTurn', message: 'hello', thinking: 'low', timeoutSeconds: 5, deliver: false },
      ...{ channel: 'last', to: 'somebody', bestEffortDeliver: true },
    },
  },
];

test('Without `extended` a job must have the fields of the specification and no others', async () => {
  using cron = await openCronClient(daemon);
  for (const wish of EVERYTHING) {
    const { id } = readSpecifiedJob(await cron.ask('cron.add', wish));
    readSpecifiedJob(await cron.ask('cron.update', { id, patch: { name: 'renamed', misfire: 'once' } }));
  }
  const listed = readSpecifiedList(await cron.ask('cron.list', { includeDisabled: true }));
  assert.equal(listed.length >= EVERYTHING.length, true);
  const { jobs } = await cron.ask('cron.list', { includeDisabled: true, extended: true });
  assert.ok(jobs.every((job) => 'misfire' in job && 'approval' in job && 'maxRunMs' in job && 'deleteAfterRun' in job));
});

test('Without `extended` an interrupted run must be reported as an error, and a missed one as skipped', async () => {
  using cron = await openCronClient(daemon);
  model.when('never ends', stall());
  const { id } = await cron.ask('cron.add', turn('never ends'));
  await cron.ask('cron.run', { id, mode: 'force', wait: false });
  await cron.heard(id, 'started');
  const { state } = readSpecifiedList(await cron.ask('cron.list', {})).find((job) => job.id === id) ?? assert.fail();
  assert.equal(typeof state.runningAtMs, 'number');
  await cron.ask('chat.abort', { sessionKey: `cron:${id}` });
  await cron.heard(id, 'finished');
  const stateOf = async (extended: boolean) =>
    (await cron.ask('cron.list', { extended })).jobs.find((job) => job.id === id)?.state.lastStatus;
  assert.deepEqual([await stateOf(false), await stateOf(true)], ['error', 'interrupted']);

  await cron.ask('cron.update', { id, patch: { enabled: false } });
  const { id: often } = await cron.ask('cron.add', { ...line('often'), schedule: { kind: 'every', everyMs: 1_000 } });
  await cron.ask('config.set', { raw: '{"cron": {"enabled": false}}' });
  await pause(3_100);
  await cron.ask('config.set', { raw: '{}' });
  const { status, error } = await cron.heard(often, 'missed');
  const statusesOf = async (extended: boolean) =>
    (await cron.ask('cron.runs', { id: often, extended })).entries.map((entry) => entry.status);
  assert.deepEqual([status, (await statusesOf(true)).includes('missed')], ['skipped', true]);
  assert.equal(error, 'schedules were switched off; a later occurrence ran instead');
  assert.ok((await statusesOf(false)).every((plain) => plain === 'ok' || plain === 'skipped'));
  await cron.ask('cron.remove', { id: often });
});

const cronOf = (expr: string, tz?: string) => ({ kind: 'cron' as const, expr, ...(tz !== undefined && { tz }) });

/** An invalid part of a job, and the field named by the error. */
const WRONG: [field: RegExp, part: object][] = [
  [/schedule\.expr .*invalid minute "61"/, { schedule: cronOf('61 * * * *') }],
  [/schedule\.expr has 3 fields/, { schedule: cronOf('* * *') }],
  [/schedule\.expr never fires/, { schedule: cronOf('0 0 30 2 *') }],
  [/schedule\.expr: /, { schedule: cronOf('') }],
  [/schedule\.tz .*Europe\/Berlin/, { schedule: cronOf('* * * * *', 'Mars/Olympus') }],
  [/schedule\.atMs: /, { schedule: { kind: 'at', atMs: -1 } }],
  [/schedule\.atMs: /, { schedule: { kind: 'at', atMs: 1.5 } }],
  [/schedule\.atMs: /, { schedule: { kind: 'at', atMs: 8.64e15 } }],
  [/schedule\.everyMs: /, { schedule: { kind: 'every', everyMs: 0 } }],
  [/schedule\.everyMs: /, { schedule: { kind: 'every', everyMs: 1e15 } }],
  [/schedule\.anchorMs: /, { schedule: { kind: 'every', everyMs: 1_000, anchorMs: -5 } }],
  [/schedule\.kind: must be one of "at", "every", "cron"/, { schedule: { kind: 'weekly' } }],
  [/payload\.kind: must be one of "systemEvent", "agentTurn"/, { payload: { text: 'x' } }],
  [/payload\.text /, { payload: { kind: 'systemEvent', text: ' \n ' } }],
  [/payload\.text: /, { payload: { kind: 'systemEvent', text: '' } }],
  [/payload\.message /, { sessionTarget: 'isolated', payload: { kind: 'agentTurn', message: '  ' } }],
  [/payload\.kind="systemEvent"/, { payload: { kind: 'agentTurn', message: 'x' } }],
  [/payload\.kind="agentTurn"/, { sessionTarget: 'isolated' }],
  [/sessionTarget: must be one of "main", "isolated"/, { sessionTarget: 'elsewhere' }],
  [/wakeMode: must be one of /, { wakeMode: 'later' }],
  [/deleteAfterRun: /, { deleteAfterRun: true }],
  [
    /misfire: must be "once", "skip", "all", \{"all": 1 to 100\} or \{"within": milliseconds\}/,
    { misfire: 'sometimes' },
  ],
  [/misfire\.within: /, { misfire: { within: 0 } }],
  [/maxRunMs: /, { maxRunMs: 5 }],
  [/approval\.mode: must be one of "deny", "wait", "allow"/, { approval: { mode: 'ask' } }],
  [
    /approval\.tools\.0: unknown tool ".+"; available: bash, bash_output, /,
    { approval: { mode: 'allow', tools: ['sh'] } },
  ],
  [
    /payload\.channel: unsupported channel: pigeon \(available: /,
    { sessionTarget: 'isolated', payload: { kind: 'agentTurn', message: 'x', channel: 'pigeon' } },
  ],
  [/"color"/, { color: 'red' }],
];

/** Every byte of a job, as it is stored. */
function storedJob(id: string): unknown {
  using db = new DatabaseSync(path.join(daemon.home, 'headgate.db'), { readOnly: true });
  return { ...db.prepare('select * from cron_jobs where job_id = ?').get(id) };
}

test('A refused `cron.add` must name the field and create nothing; a refused `cron.update` must change nothing', async () => {
  using cron = await openCronClient(daemon);
  const { id } = await cron.ask('cron.add', line('stays as it is'));
  const [before, listed] = [storedJob(id), await cron.ask('cron.list', { includeDisabled: true, extended: true })];
  for (const [field, part] of WRONG) {
    const answers = [
      await cron.request('cron.add', { ...line(), ...part }),
      await cron.request('cron.update', { id, patch: { name: 'half', enabled: false, ...part } }),
    ];
    for (const { error } of answers) {
      assert.equal(error?.code, 'INVALID_REQUEST', JSON.stringify(part));
      assert.match(error?.message ?? '', field);
    }
  }
  assert.deepEqual(storedJob(id), before);
  assert.deepEqual(await cron.ask('cron.list', { includeDisabled: true, extended: true }), listed);
  assert.deepEqual(cron.actions(id), ['added']);
});

test('An unknown job id must be answered NOT_FOUND, except by `cron.remove` and `cron.runs`, which succeed', async () => {
  using cron = await openCronClient(daemon);
  const id = 'job_of_nobody';
  for (const [method, params] of [
    ['cron.update', { id, patch: {} }],
    ['cron.run', { id, mode: 'force' }],
    ['cron.explain', { id }],
  ] as const) {
    const { error } = await cron.request(method, params);
    assert.deepEqual([error?.code, error?.message], ['NOT_FOUND', `unknown cron job id: ${id}`], method);
  }
  assert.deepEqual(await cron.ask('cron.remove', { id }), { ok: true, removed: false });
  assert.deepEqual(await cron.ask('cron.runs', { id: '../../etc/passwd' }), { entries: [] });
  for (const [method, params, field] of [
    ['cron.list', { includeDisabled: 'yes' }, /includeDisabled: /],
    ['cron.runs', { id, limit: 5_001 }, /limit: /],
    ['cron.run', { id, mode: 'soon' }, /mode: /],
    ['cron.remove', { id: '' }, /id: /],
    ['cron.status', { verbose: true }, /"verbose"/],
    ['cron.explain', { id, atMs: -1 }, /atMs: /],
  ] as const) {
    const { error } = await cron.request(method, params);
    assert.equal(error?.code, 'INVALID_REQUEST', method);
    assert.match(error?.message ?? '', field);
  }
});

test('Everything that happens to a job must be sent as a `cron` event, without gaps in `seq`', async () => {
  using cron = await openCronClient(daemon);
  const { id } = await cron.ask('cron.add', turn('fails at once'));
  model.when('fails at once', fail(400));
  await cron.ask('cron.update', { id, patch: { name: 'told' } });
  await cron.ask('cron.run', { id, mode: 'force' });
  await cron.ask('cron.remove', { id });
  await cron.heard(id, 'removed');
  assert.deepEqual(cron.actions(id), ['added', 'updated', 'started', 'finished', 'removed']);
  const { status, error, runAtMs, durationMs, nextRunAtMs } = await cron.heard(id, 'finished');
  assert.deepEqual(
    [status, typeof error, typeof runAtMs, typeof durationMs, typeof nextRunAtMs],
    ['error', 'string', 'number', 'number', 'number'],
  );
  const numbers = cron.events().flatMap(({ seq }) => seq ?? []);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => (numbers[0] ?? 0) + index),
  );
});

test('`cron.list` must start with the job that is due next, and include disabled jobs only on request', async () => {
  using cron = await openCronClient(daemon);
  const at = (days: number): Wish => ({ ...line(), schedule: { kind: 'at', atMs: Date.UTC(2080, 0, days) } });
  const ids: string[] = [];
  for (const days of [3, 1, 2]) ids.push((await cron.ask('cron.add', at(days))).id);
  const { id: asleep } = await cron.ask('cron.add', { ...at(1), enabled: false });
  const listed = async (includeDisabled?: boolean) => {
    const { jobs } = await cron.ask('cron.list', { ...(includeDisabled !== undefined && { includeDisabled }) });
    return jobs.map(({ id }) => id).filter((id) => [...ids, asleep].includes(id));
  };
  const [third, first, second] = ids;
  assert.deepEqual(await listed(), [first, second, third]);
  assert.deepEqual(await listed(false), [first, second, third]);
  assert.deepEqual((await listed(true)).includes(asleep), true);
  const { jobs, enabled, nextWakeAtMs, storePath } = await cron.ask('cron.status', {});
  const all = (await cron.ask('cron.list', { includeDisabled: true })).jobs;
  const dues = all.flatMap(({ state }) => state.nextRunAtMs ?? []);
  assert.deepEqual([jobs, enabled, nextWakeAtMs], [all.length, true, Math.min(...dues)]);
  assert.equal(storePath, path.join(daemon.home, 'headgate.db'));
});

test('`cron.run` must report whether the job ran, and wait for the end unless `wait` is false', async () => {
  using cron = await openCronClient(daemon);
  const { id } = await cron.ask('cron.add', turn('take your time'));
  const hold = stall();
  model.when('take your time', [hold, say('there')]);
  assert.deepEqual(await cron.ask('cron.run', { id }), { ok: true, ran: false, reason: 'not-due' });
  assert.deepEqual(await cron.ask('cron.run', { id, mode: 'force', wait: false }), { ok: true, ran: true });
  for (const mode of ['due', 'force'] as const) {
    assert.deepEqual(await cron.ask('cron.run', { id, mode }), { ok: true, ran: false, reason: 'already-running' });
  }
  hold.release();
  await cron.heard(id, 'finished');
  model.when('take your time', say('at once'));
  await cron.ask('cron.update', { id, patch: { enabled: false } });
  assert.deepEqual(await cron.ask('cron.run', { id }), { ok: true, ran: false, reason: 'not-due' });
  assert.deepEqual(await cron.ask('cron.run', { id, mode: 'force' }), { ok: true, ran: true });
  const { entries } = await cron.ask('cron.runs', { id, limit: 1 });
  assert.deepEqual([entries.length, entries[0]?.status, entries[0]?.summary], [1, 'ok', 'at once']);
});

test('The `read` scope must allow viewing jobs but not changing them', async () => {
  const { token } = await (await daemon.client()).call('token.create', { scope: 'write', name: 'no approver' });
  const client = await openChecked(daemon, { token });
  const { jobs } = await client.ask('cron.list', { includeDisabled: true });
  const id = jobs[0]?.id ?? '';
  await client.ask('cron.status', {});
  await client.ask('cron.runs', { id });
  await client.ask('cron.explain', { id });
  await client.ask('cron.preview', { schedule: 'every 15m' });
  for (const [method, params] of [
    ['cron.add', line()],
    ['cron.update', { id, patch: {} }],
    ['cron.remove', { id }],
    ['cron.run', { id }],
  ] as const) {
    assert.equal((await client.request(method, params)).error?.code, 'FORBIDDEN', method);
  }
  client.socket.close();
});

test('a refusal does not end the connection', async () => {
  const { call, socket } = await openSocket(daemon);
  await assert.rejects(call('cron.add', { schedule: null }), /INVALID_REQUEST/);
  await call('cron.status', {});
  socket.close();
});

test('`cron.preview` must return its times in order, each with its local time and offset', async () => {
  using cron = await openCronClient(daemon);
  const schedule = { kind: 'cron', expr: '*/7 * * * *', tz: 'Australia/Lord_Howe' } as const;
  const { runs } = await cron.ask('cron.preview', { schedule, count: 50, fromMs: Date.UTC(2026, 3, 4, 12) });
  assert.equal(runs.length, 50);
  for (const [index, { atMs, local, offset }] of runs.entries()) {
    assert.ok(atMs > (runs[index - 1]?.atMs ?? 0), local);
    assert.equal(Date.parse(`${local}${offset}`), atMs);
  }
});

test('A job must keep the time zone that applied when it was created', async () => {
  using cron = await openCronClient(daemon);
  const made = await cron.ask('cron.add', { ...line(), schedule: { kind: 'cron', expr: '0 9 * * *' } });
  assert.deepEqual(made.schedule, { kind: 'cron', expr: '0 9 * * *', tz: 'Europe/Berlin' });
});

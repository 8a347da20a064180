import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParamsInput } from '../../../protocol/index.ts';
import { LIVE } from '../testing/default-deps.ts';
import { turnsUntil, type WholeGateway, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';

const HOUR_MS = 3_600_000;
const LINE = {
  schedule: { kind: 'every', everyMs: HOUR_MS },
  sessionTarget: 'main',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'systemEvent', text: 'stand up' },
} as const;
const TURN = { ...LINE, sessionTarget: 'isolated', payload: { kind: 'agentTurn', message: 'look' } } as const;

/** A gateway with running schedules. */
async function running(options: WholeGatewayOptions = {}) {
  const gateway = await wholeGateway(options);
  const stop = new AbortController();
  const ended = gateway.gateway.run(stop.signal);
  const add = async (more: Partial<ParamsInput<'cron.add'>> = {}) =>
    (await gateway.call('cron.add', { ...LINE, ...more })).id;
  return {
    gateway,
    add,
    explain: async (id: string, atMs?: number) =>
      (await gateway.call('cron.explain', { id, ...(atMs !== undefined && { atMs }) })).verdict,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      await gateway[Symbol.asyncDispose]();
    },
  };
}

const historyOf = async (gateway: WholeGateway, id: string) =>
  (await gateway.call('cron.runs', { id, extended: true })).entries;

test('explain without a time returns the state of the job: waiting, running, retrying, disabled', async () => {
  await using cron = await running();
  const { gateway, add, explain } = cron;
  const id = await add(TURN);
  assert.equal(await explain(id), 'scheduled');
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise, 'done');
  await gateway.call('cron.run', { id, mode: 'force', wait: false });
  await turnsUntil(async () => (await explain(id)) === 'running', 'the run');
  answered.resolve();
  await turnsUntil(async () => (await explain(id)) === 'scheduled', 'the end of the run');
  await gateway.call('cron.update', { id, patch: { enabled: false } });
  assert.equal(await explain(id), 'disabled');

  const failing = await add({
    ...TURN,
    schedule: { kind: 'at', atMs: 1_000 },
    payload: { ...TURN.payload, deliver: true },
  });
  await turnsUntil(async () => (await explain(failing)) === 'retrying', 'the next try');
});

test('a time in whole seconds means the instant of the job within that second', async () => {
  await using cron = await running();
  const { gateway, add } = cron;
  const nowMs = gateway.clock.now();
  const id = await add({ schedule: { kind: 'every', everyMs: HOUR_MS, anchorMs: nowMs + HOUR_MS + 764 } });
  const explained = async (atMs: number) => {
    const told = await gateway.call('cron.explain', { id, atMs });
    return [told.atMs - nowMs, told.verdict];
  };
  assert.deepEqual(await explained(nowMs + HOUR_MS), [HOUR_MS + 764, 'scheduled']);
  assert.deepEqual(await explained(nowMs + HOUR_MS + 1_000), [HOUR_MS + 1_000, 'not-scheduled']);
  assert.deepEqual(await explained(nowMs + HOUR_MS + 1), [HOUR_MS + 1, 'not-scheduled']);
  await gateway.call('cron.run', { id, mode: 'force' });
  await gateway.clock.advance(300);
  await gateway.call('cron.run', { id, mode: 'force' });
  assert.deepEqual(await explained(nowMs), [0, 'ok']);
});

test('a job has no previous instant before its first', async () => {
  await using cron = await running();
  const { previousAtMs, nextAtMs } = await cron.gateway.call('cron.explain', { id: await cron.add() });
  assert.deepEqual([previousAtMs, nextAtMs], [undefined, cron.gateway.clock.now() + 2 * HOUR_MS]);
});

test('a job with one past time runs at once, and is over', async () => {
  await using cron = await running();
  const id = await cron.add({ schedule: { kind: 'at', atMs: 1_000 } });
  await turnsUntil(async () => (await cron.explain(id)) === 'ok', 'its run');
  const listed = await cron.gateway.call('cron.list', { includeDisabled: true });
  assert.deepEqual(
    listed.jobs.map(({ enabled, state }) => [enabled, state.nextRunAtMs]),
    [[false, undefined]],
  );
});

test('an invalid thinking level is refused at once, and changes nothing', async () => {
  await using cron = await running();
  const payload = { ...TURN.payload, thinking: 'hard' };
  const { code, message } = await cron.gateway.refusal('cron.add', { ...TURN, payload });
  assert.deepEqual([code, /^payload\.thinking: /.test(message)], ['INVALID_REQUEST', true]);
  const id = await cron.add(TURN);
  assert.equal((await cron.gateway.refusal('cron.update', { id, patch: { payload } })).code, 'INVALID_REQUEST');
  const { jobs } = await cron.gateway.call('cron.list', {});
  assert.deepEqual(
    jobs.map((job) => job.payload),
    [TURN.payload],
  );
});

test('an unknown channel is refused at once, and changes nothing; those of the specification are known', async () => {
  await using cron = await running();
  const to = (channel: string) => ({ ...TURN.payload, channel });
  const id = await cron.add({ ...TURN, payload: to('last') });
  for (const [method, params] of [
    ['cron.add', { ...TURN, payload: to('pigeon') }],
    ['cron.update', { id, patch: { payload: { ...to('Pigeon '), deliver: true } } }],
  ] as const) {
    assert.deepEqual(await cron.gateway.refusal(method, params), {
      code: 'INVALID_REQUEST',
      message:
        'payload.channel: unsupported channel: pigeon (available: webhook, workstream, telegram, whatsapp, last, webchat)',
    });
  }
  for (const channel of ['last', 'Workstream', 'webchat', 'telegram', 'whatsapp', '']) {
    await cron.gateway.call('cron.update', { id, patch: { payload: to(channel) } });
  }
  assert.equal((await cron.gateway.call('cron.list', {})).jobs.length, 1);
});

test('the main session gets a line when a run ends, unless the job disables it; only `extended` shows that', async () => {
  await using cron = await running();
  const { gateway } = cron;
  const id = await cron.add({ ...TURN, tellMain: false });
  const toldAfterRun = async () => {
    await gateway.call('cron.run', { id, mode: 'force' });
    return (await gateway.call('status', {})).queuedSystemEvents;
  };
  assert.deepEqual(await toldAfterRun(), []);
  const shown = async (extended: boolean) => {
    const [job] = (await gateway.call('cron.list', { extended })).jobs;
    return job && 'tellMain' in job ? job.tellMain : 'not shown';
  };
  assert.deepEqual([await shown(true), await shown(false)], [false, 'not shown']);
  await gateway.call('cron.update', { id, patch: { name: 'kept as it is' } });
  await gateway.restart();
  assert.equal(await shown(true), false);
  await gateway.call('cron.update', { id, patch: { tellMain: true } });
  assert.equal(await shown(true), 'not shown');
});

test('an unknown misfire policy is refused with the known ones; the number of runs is configurable', async () => {
  await using cron = await running();
  const refused = async (misfire: unknown) => {
    const { code, message } = await cron.gateway.refusal('cron.add', { ...LINE, misfire });
    assert.equal(code, 'INVALID_REQUEST');
    return message.replace('invalid cron.add params: ', '');
  };
  const said = 'misfire: must be "once", "skip", "all", {"all": 1 to 100} or {"within": milliseconds}';
  assert.deepEqual(await Promise.all(['never', { all: 5, within: 5 }, {}].map(refused)), [said, said, said]);
  assert.equal(await refused({ all: 0 }), 'misfire.all: must be at least 1');
  await cron.add({ misfire: { all: 25 } });
  assert.partialDeepStrictEqual(await cron.gateway.call('cron.list', { extended: true }), {
    jobs: [{ misfire: { all: 25 } }],
  });
});

test('a policy that allows an unknown tool is refused with the known tools', async () => {
  await using cron = await running();
  const { gateway, add } = cron;
  const allow = (...tools: string[]) => ({ approval: { mode: 'allow', tools } });
  const refused = (tool: string) => ({
    code: 'INVALID_REQUEST',
    message: `approval.tools.1: unknown tool "${tool}"; available: look, touch`,
  });
  assert.partialDeepStrictEqual(
    await gateway.refusal('cron.add', { ...TURN, ...allow('touch', 'tuch') }),
    refused('tuch'),
  );
  const id = await add({ ...TURN, approval: { mode: 'allow', tools: ['look', 'touch'] } });
  const patch = allow('look', 'Look');
  assert.partialDeepStrictEqual(await gateway.refusal('cron.update', { id, patch }), refused('Look'));
  const { jobs } = await gateway.call('cron.list', { extended: true });
  assert.partialDeepStrictEqual(jobs, [allow('look', 'touch')]);
});

test('a run by hand works while schedules are switched off, even for a disabled job', async () => {
  const live = { ...LIVE, cron: { ...LIVE.cron, enabled: false, switchedOffBy: ['cron.enabled' as const] } };
  await using cron = await running({ live });
  const id = await cron.add({ enabled: false });
  assert.deepEqual(await cron.gateway.call('cron.run', { id, mode: 'force' }), { ok: true, ran: true });
  assert.deepEqual(
    (await historyOf(cron.gateway, id)).map((entry) => 'trigger' in entry && [entry.trigger, entry.status]),
    [['forced', 'ok']],
  );
  const { enabled, nextWakeAtMs } = await cron.gateway.call('cron.status', {});
  assert.deepEqual([enabled, nextWakeAtMs], [false, null]);
});

test('the history has the next run after each run', async () => {
  await using cron = await running();
  const { gateway, add } = cron;
  const id = await add();
  await gateway.call('cron.run', { id, mode: 'force' });
  await gateway.call('cron.update', { id, patch: { enabled: false } });
  await gateway.call('cron.run', { id, mode: 'force' });
  const nextMs = gateway.clock.now() + HOUR_MS;
  for (const extended of [false, true]) {
    const { entries } = await gateway.call('cron.runs', { id, extended });
    assert.deepEqual(
      entries.map(({ nextRunAtMs }) => nextRunAtMs),
      [nextMs, undefined],
    );
  }
});

test('a removed job keeps its history and its conversation', async () => {
  await using cron = await running();
  const { gateway } = cron;
  const id = await cron.add(TURN);
  await gateway.call('cron.run', { id, mode: 'force' });
  assert.deepEqual(await gateway.call('cron.remove', { id }), { ok: true, removed: true });
  assert.deepEqual(await gateway.call('cron.remove', { id }), { ok: true, removed: false });
  assert.equal((await historyOf(gateway, id)).length, 1);
  const { workstreams } = await gateway.call('workstream.list', {});
  assert.ok(workstreams.some(({ sessionKey }) => sessionKey === `cron:${id}`));
});

test('a waiting instant is explained correctly when its job gets its schedule again, and when it is switched off', async () => {
  const live = { ...LIVE, cron: { ...LIVE.cron, maxConcurrentRuns: 1 } };
  await using cron = await running({ live });
  const { gateway, add, explain } = cron;
  gateway.puppet.turn(new Promise<void>(() => undefined));
  const busy = await add(TURN);
  await gateway.call('cron.run', { id: busy, mode: 'force', wait: false });
  await turnsUntil(async () => (await explain(busy)) === 'running', 'the run');
  const anchorMs = gateway.clock.now() + 1_000;
  const id = await add({ schedule: { kind: 'every', everyMs: 60_000, anchorMs } });
  await gateway.clock.advance(2_000);
  const [job] = (await gateway.call('cron.list', {})).jobs.filter((one) => one.id === id);
  assert.deepEqual([await explain(id), job?.state.nextRunAtMs], ['due', anchorMs]);
  await gateway.call('cron.update', { id, patch: { name: 'same', ...(job && { schedule: job.schedule }) } });
  assert.deepEqual([await explain(id), await historyOf(gateway, id)], ['due', []]);
  await gateway.call('cron.update', { id, patch: { enabled: false } });
  const { verdict, because } = await gateway.call('cron.explain', { id, atMs: anchorMs });
  assert.deepEqual([verdict, because], ['skipped', 'The job was disabled before it began.']);
  assert.partialDeepStrictEqual(await historyOf(gateway, id), [
    { scheduledAtMs: anchorMs, status: 'skipped', attempts: 0 },
  ]);
  assert.deepEqual([await explain(id), await explain(busy)], ['disabled', 'running']);
});

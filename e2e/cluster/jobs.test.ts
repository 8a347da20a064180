import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import type { CronEvent, CronExtendedJob, CronOccurrence } from '../../protocol/cron.ts';
import type { ParamsInput } from '../../protocol/index.ts';
import { systemClock } from '../../src/clock.ts';
import { needs } from '../../src/testing/needs.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { allowedMs, pause, within } from '../support/deadline.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, startLead, startPair, until, untilJoined } from './crew.ts';
import { nodeIdOf, untilServing } from './two-daemons.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

type Add = ParamsInput<'cron.add'>;

/** A job that runs every second second. */
const jobOf = (message: string, more: Partial<Add> = {}): Add => ({
  name: message,
  schedule: { kind: 'every', everyMs: 2_000 },
  sessionTarget: 'isolated',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'agentTurn', message },
  ...more,
});

async function jobsOf(client: GatewayClient): Promise<CronExtendedJob[]> {
  const { jobs } = await client.call('cron.list', { includeDisabled: true, extended: true });
  return jobs.map((job) => ('misfire' in job ? job : assert.fail('it is extended')));
}

async function runsOf(client: GatewayClient, id: string): Promise<CronOccurrence[]> {
  const { entries } = await client.call('cron.runs', { id, extended: true });
  return entries.map((entry) => ('attempts' in entry ? entry : assert.fail('it is extended')));
}

const jobOfId = async (client: GatewayClient, id: string): Promise<CronExtendedJob> =>
  (await jobsOf(client)).find((job) => job.id === id) ?? assert.fail(`no job ${id}`);

/** Until so many occurrences of the job have ended well. */
const untilRan = (client: GatewayClient, id: string, count: number): Promise<void> =>
  until(
    async () => (await runsOf(client, id)).filter(({ status }) => status === 'ok').length >= count,
    () => `${count} runs of ${id}`,
  );

/** How often the model was asked to do what a job says. */
async function askedFor(message: string): Promise<number> {
  const { model } = await crewScene();
  return model.requests.filter(({ body }) =>
    String(body.messages.findLast(({ role }) => role === 'user')?.content).endsWith(message),
  ).length;
}

const disable = (client: GatewayClient, id: string) => client.call('cron.update', { id, patch: { enabled: false } });

async function placeOfSession(client: GatewayClient, daemon: DaemonUnderTest, id: string): Promise<string> {
  const { workstreams } = await client.call('workstream.list', {});
  const { wsId } =
    workstreams.find(({ sessionKey }) => sessionKey === `cron:${id}`) ?? assert.fail(`no session of ${id}`);
  return (await daemon.get(`/v1/api/route?ws_id=${wsId}`)).body.node_url;
}

test('jobs are spread over the machines, and each of their times fires once', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker } = pair;
  const client = await lead.client();
  const events: CronEvent[] = [];
  client.on('cron', (event) => void events.push(event));
  const workerId = await nodeIdOf(worker);
  const ids: string[] = [];
  for (const name of ['spread 1', 'spread 2', 'spread 3', 'spread 4']) {
    model.when(name, say(`Done: ${name}.`));
    ids.push((await client.call('cron.add', jobOf(name))).id);
  }
  const placed = await Promise.all(ids.map((id) => jobOfId(client, id)));
  assert.deepEqual(
    placed.map(({ nodeId }) => nodeId),
    [undefined, workerId, undefined, workerId],
  );
  assert.equal((await client.call('cron.status', {})).jobs, 4);
  for (const id of ids) await untilRan(client, id, 2);
  const [first = '', second = ''] = ids;
  assert.deepEqual(await client.call('cron.run', { id: second, mode: 'force' }), { ok: true, ran: true });
  for (const id of ids) await disable(client, id);
  await until(
    async () => (await jobsOf(client)).every(({ state }) => state.runningAtMs === undefined),
    () => 'all runs are over',
  );
  for (const [index, id] of ids.entries()) {
    const runs = await runsOf(client, id);
    const ran = runs.filter(({ attempts }) => attempts > 0);
    assert.equal(await askedFor(`spread ${index + 1}`), ran.length, JSON.stringify(runs));
    assert.ok(
      ran.every(({ attempts, status }) => attempts === 1 && status === 'ok'),
      JSON.stringify(runs),
    );
    const finished = events.filter(({ jobId, action }) => jobId === id && action === 'finished').length;
    assert.equal(finished, ran.length);
  }
  assert.deepEqual(
    [await placeOfSession(client, lead, first), await placeOfSession(client, lead, second)],
    [lead.url, worker.url],
  );
  const { queuedSystemEvents } = await client.call('status', {});
  assert.ok(queuedSystemEvents.includes('Cron: Done: spread 2.'), JSON.stringify(queuedSystemEvents));
  const calendar = await client.call('cron.calendar', {
    fromMs: systemClock.now() - 86_400_000,
    untilMs: systemClock.now() + 86_400_000,
  });
  assert.deepEqual(new Set(calendar.runs.map(({ jobId }) => jobId)), new Set(ids));
  for (const id of ids) assert.equal((await client.call('cron.remove', { id })).removed, true);
  const form = { name: 'admin', schedule_type: 'cron', cron_expr: '0 0 1 1 *', initial_message: 'spread 2' };
  const { body: schedule } = await lead.post('/v1/api/admin/schedules', { ...form, target_mode: workerId });
  await client.call('cron.run', { id: schedule.task_id, mode: 'force' });
  const { body: history } = await lead.get(`/v1/api/admin/schedules/${schedule.task_id}/runs`);
  assert.deepEqual([history.runs.length, history.runs[0].node_id, history.runs[0].outcome], [1, workerId, 'ok']);
  await client.call('cron.remove', { id: schedule.task_id });
  assert.deepEqual(await jobsOf(client), []);
});

test(
  'a worker is killed in the middle of a job’s turn: the run ends, and the job goes on at the active daemon',
  installed,
  async () => {
    const { model } = await crewScene();
    await using pair = await startPair();
    const { lead, worker } = pair;
    const client = await lead.client();
    const nodeId = await nodeIdOf(worker);
    const rest = stall();
    let asked = 0;
    model.onRequest(({ messages }) => {
      if (!String(messages.findLast(({ role }) => role === 'user')?.content).endsWith('be killed')) return undefined;
      asked += 1;
      return asked === 1 ? [say('I begin.'), rest] : say('It is done.');
    });
    const { id } = await client.call(
      'cron.add',
      jobOf('be killed', { nodeId, schedule: { kind: 'every', everyMs: 5_000 } }),
    );
    await within(rest.reached, allowedMs(60_000), () => `the job runs; ${worker.output().stderr}`);
    await worker.kill9();
    await untilRan(client, id, 2);
    const runs = await runsOf(client, id);
    const ended = runs.filter(({ status }) => status !== undefined && status !== 'skipped');
    assert.ok(
      ended.every(({ status, attempts }) => status === 'ok' && attempts === 1),
      JSON.stringify(runs),
    );
    assert.equal((await jobOfId(client, id)).nodeId, undefined);
    assert.equal(await placeOfSession(client, lead, id), lead.url);
    await client.call('cron.remove', { id });
  },
);

test(
  'the job of a worker goes on firing while another daemon becomes active, which hears its results',
  installed,
  async () => {
    const { model } = await crewScene();
    await using pair = await startPair();
    const { lead, worker } = pair;
    model.when('fire on', say('Still here.'));
    const nodeId = await nodeIdOf(worker);
    const before = await lead.client();
    const { id } = await before.call('cron.add', jobOf('fire on', { nodeId }));
    await untilRan(before, id, 1);
    await lead.kill9();
    const askedMs = await askedFor('fire on');
    await until(
      async () => (await askedFor('fire on')) >= askedMs + 2,
      () => `it fires; ${worker.output().stderr}`,
    );
    await using next = await startLead();
    await untilServing(next);
    const client = await next.client();
    assert.equal((await jobOfId(client, id)).nodeId, nodeId);
    const { queuedSystemEvents } = await client.call('status', {});
    assert.ok(queuedSystemEvents.includes('Cron: Still here.'), JSON.stringify(queuedSystemEvents));
    await untilJoined(next, worker);
    await disable(client, id);
    await client.call('cron.remove', { id });
  },
);

test(
  'a job whose conversation is in a folder that only its worker has waits for it, says so, and goes on with it',
  installed,
  async () => {
    const { model } = await crewScene();
    await using pair = await startPair({ isAlone: true });
    const { lead, worker } = pair;
    model.when('wait for me', say('Here.'));
    const client = await lead.client();
    const nodeId = await nodeIdOf(worker);
    const schedule = { kind: 'every', everyMs: 3_600_000 } as const;
    const { id } = await client.call('cron.add', jobOf('wait for me', { nodeId, schedule }));
    await client.call('cron.run', { id, mode: 'force' });
    await worker.stop();
    await until(
      async () => (await jobOfId(client, id)).notices?.some(({ code }) => code === 'machine_missing') === true,
      () => 'the job says that it waits',
    );
    await pause(3_000); // the active daemon looks each second
    const { because } = await client.call('cron.explain', { id });
    assert.match(because, new RegExp(`waits for ${nodeId}`));
    await assert.rejects(client.call('cron.run', { id, mode: 'force' }), { code: 'UNAVAILABLE' });
    await worker.restart();
    await untilJoined(lead, worker);
    const { notices, nodeId: place } = await jobOfId(client, id);
    assert.deepEqual([notices, place], [undefined, nodeId]);
    await client.call('cron.run', { id, mode: 'force' });
    assert.deepEqual(
      (await runsOf(client, id)).map(({ status, summary }) => [status, summary]),
      [
        ['ok', 'Here.'],
        ['ok', 'Here.'],
      ],
    );
    await client.call('cron.remove', { id });
  },
);

test('an approver who follows the session of a worker’s job at the active daemon is asked', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker } = pair;
  const client = await lead.client();
  const nodeId = await nodeIdOf(worker);
  const schedule = { kind: 'every', everyMs: 3_600_000 } as const;
  model.when('may I', callTools({ name: 'bash', arguments: { command: 'touch it' } }), say('Thanks.'));
  const { id } = await client.call('cron.add', jobOf('may I', { nodeId, schedule }));
  await client.call('sessions.patch', { key: `cron:${id}`, thinkingLevel: 'low' });
  assert.equal(await placeOfSession(client, lead, id), worker.url);
  const { workstreams } = await client.call('workstream.list', {});
  const { wsId = '' } = workstreams.find(({ sessionKey }) => sessionKey === `cron:${id}`) ?? {};
  await using stream = await lead.sse(wsId);
  await stream.until('history');
  const run = client.call('cron.run', { id, mode: 'force' });
  const { data: asked } = await stream.until('approve_request', { timeoutMs: allowedMs(30_000) });
  await lead.post('/v1/api/approve', { ws_id: wsId, approval_id: asked.approval_id, approved: true });
  assert.deepEqual(await run, { ok: true, ran: true });
  const [last] = (await runsOf(client, id)).slice(-1);
  assert.deepEqual([last?.status, last?.summary], ['ok', 'Thanks.']);
  await client.call('cron.update', {
    id,
    patch: { sessionTarget: 'main', payload: { kind: 'systemEvent', text: 'a line of a worker' } },
  });
  await client.call('cron.run', { id, mode: 'force' });
  await until(
    async () => (await client.call('status', {})).queuedSystemEvents.includes('a line of a worker'),
    () => 'the main session gets the line',
  );
  await client.call('cron.remove', { id });
});

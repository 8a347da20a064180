import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { ParamsInput } from '../../protocol/index.ts';
import { runCronDrill } from '../cron-drill/drill.ts';
import { readCronLedger } from '../cron-drill/evidence.ts';
import { createArrivals } from '../support/clients/arrivals.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { fail, say, stall } from '../support/model/scripted-steps.ts';

const once = (message: string): ParamsInput<'cron.add'> => ({
  ...{ schedule: { kind: 'at', atMs: 1 }, sessionTarget: 'isolated', wakeMode: 'next-heartbeat' },
  payload: { kind: 'agentTurn', message },
});

test('Every due time must get one record with one result, and nothing must start twice, even with kills at any moment', async (t) => {
  const seed = randomInt(1, 1_000_000);
  t.diagnostic(`seed ${seed}`);
  const { violations, score, folder } = await runCronDrill({ kills: 10, seed, say: (line) => t.diagnostic(line) });
  assert.deepEqual(violations, [], `npm run cron-drill -- --kills 10 --seed ${seed} (${folder})`);
  // A drill in which nothing happens proves nothing.
  const { left, occurrences, turns, commands } = score;
  const happened = { due: left.due, started: left.started, ok: occurrences.ok ?? 0, turns, commands };
  const missing = Object.entries(happened).filter(([, count]) => count === 0);
  assert.deepEqual({ missing, killed: score.kills >= 10 }, { missing: [], killed: true });
});

test('an attempt that fails after a kill counts once: the retry is the second attempt', async () => {
  await using model = await startScriptedModel();
  model.script(stall(), fail(400));
  await using daemon = await startDaemon({ model: model.url });
  const client = await daemon.client();
  const { id } = await client.call('cron.add', once('go on'));
  await model.request(0);
  const ended = createArrivals<{ jobId: string; action: string }>();
  client.on('cron', (event) => ended.add(event));
  await daemon.kill9();
  await daemon.restart();
  await client.call('health', {}); // it is connected again
  const { entries } = await client.call('cron.runs', { id, extended: true });
  if (!(entries[0] && 'retryAtMs' in entries[0])) await ended.until(({ action }) => action === 'finished', 'its end');
  const { occurrences, attempts } = readCronLedger(daemon.home);
  assert.deepEqual(
    occurrences.map((row) => [row.status, row.attempts]),
    [['retrying', 1]],
  );
  assert.deepEqual(
    attempts.map(({ attempt }) => attempt),
    [1],
  );
});

/** The only result of a job, read with a new client. */
async function endAfter(daemon: DaemonUnderTest, id: string) {
  const client = await daemon.client();
  const ends = createArrivals<{ action: string }>();
  client.on('cron', (event) => ends.add(event));
  const read = async () => (await client.call('cron.runs', { id })).entries;
  if ((await read()).length === 0) await ends.until(({ action }) => action === 'finished', 'its end');
  return { client, entries: await read() };
}

test('a run interrupted by kill -9 after its job was removed still ends, and reports to the main session', async () => {
  await using model = await startScriptedModel();
  const held = stall();
  model.script(held, say('after all'));
  await using daemon = await startDaemon({ model: model.url });
  const client = await daemon.client();
  const { id } = await client.call('cron.add', once('go on'));
  await held.reached;
  await client.call('cron.remove', { id });
  await daemon.kill9();
  await daemon.restart();
  const { client: again, entries } = await endAfter(daemon, id);
  assert.deepEqual(
    entries.map(({ status, summary }) => [status, summary]),
    [['ok', 'after all']],
  );
  assert.deepEqual((await again.call('status', {})).queuedSystemEvents, ['Cron: after all']);
});

/** Ten minutes: a run that got its whole time again would not end while the test waits for it. */
const LIMIT_MS = 600_000;

test('kills do not extend the time limit of a run', async () => {
  await using model = await startScriptedModel();
  const [first, second] = [stall(), stall()];
  model.script(first, second);
  await using daemon = await startDaemon({ model: model.url });
  const client = await daemon.client();
  const schedule = { kind: 'every', everyMs: 3_600_000 } as const;
  const { id } = await client.call('cron.add', { ...once('take for ever'), schedule, maxRunMs: LIMIT_MS });
  await client.call('cron.run', { id, mode: 'force', wait: false });
  await first.reached;
  await daemon.kill9();
  noteSpent(daemon.home, LIMIT_MS - 1_000);
  await daemon.restart();
  const { entries } = await endAfter(daemon, id);
  assert.deepEqual(
    entries.map(({ error }) => error),
    ["It ran longer than 600 s, the job's maxRunMs"],
  );
});

/** As a daemon notes the working time of its only run. */
function noteSpent(home: string, ms: number): void {
  using db = new DatabaseSync(path.join(home, 'headgate.db'));
  const { changes } = db.prepare("UPDATE cron_occurrences SET spent_ms = ? WHERE status = 'started'").run(ms);
  assert.equal(changes, 1);
}

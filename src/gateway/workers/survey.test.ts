import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { needs } from '../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../testing/postgres-server.ts';
import { someMachine } from '../../testing/some-machine.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { untilTrue } from '../../testing/until-true.ts';
import { openPostgresStore } from '../store/postgres/postgres-store.ts';
import { createSurvey } from './survey.ts';

test('open workstreams of machines that are not there wait for these', await needs('postgresql'), async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const open = (nodeId: string, isWorker: boolean) =>
    openPostgresStore({ url, machine: { ...someMachine(nodeId), isWorker }, clock: systemClock, log: recordingLog() });
  await using active = await open('a', false);
  await using worker = await open('w', true);
  assert.equal(worker.machine, 'w');
  const rows = [
    ['here', null, 1],
    ['alive', 'w', 1],
    ['lost', 'gone', 1],
    ['unloaded', 'gone', 2],
    ['closed', 'gone', 0],
    ['taken', 'moving gone', 1],
  ] as const;
  for (const [wsId, machine, loaded] of rows)
    await queryPostgres(
      url,
      `insert into headgate.workstreams (ws_id, generated_name, workdir, machine, loaded, context_after_seq, message_count, run_epoch, created_ms, updated_ms)
        values ('${wsId}', 'n', '/', ${machine === null ? 'null' : `'${machine}'`}, ${loaded}, 0, 0, 0, 1, 1)`,
    );
  const { shared } = active;
  assert.ok(shared);
  const over = new AbortController();
  const survey = createSurvey({ store: active, shared, clock: fakeClock(0), log: recordingLog() });
  const run = survey.run(over.signal);
  await untilTrue(() => survey.latest().machines.length > 0);
  const { machines, waiting } = survey.latest();
  assert.deepEqual(
    machines.map(({ nodeId, state }) => [nodeId, state]),
    [
      ['a', 'active'],
      ['w', 'worker'],
    ],
  );
  assert.deepEqual([...waiting], [['gone', 2]]);
  over.abort();
  await run;
});

test('while the database is away, the last look holds', async () => {
  const over = new AbortController();
  const log = recordingLog();
  const survey = createSurvey({
    store: {
      get db(): never {
        throw new Error('away');
      },
    },
    shared: { machines: async () => [], liveWorkers: async () => new Set<string>() },
    clock: fakeClock(0),
    log,
  });
  const run = survey.run(over.signal);
  await untilTrue(() => log.lines.length > 0);
  over.abort();
  await run;
  assert.deepEqual(survey.latest(), { machines: [], waiting: new Map() });
});

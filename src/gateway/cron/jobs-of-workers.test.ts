import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { build, statementOf } from '../store/statements.ts';
import { turnsUntil, wholeGateway } from '../testing/whole-gateway.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';

/** A worker with running schedules; the active daemon has the main session. */
async function worker() {
  const gateway = await wholeGateway({ tap: (store) => ({ ...store, machine: 'w', noteGrowth: () => true }) });
  const main = toWorkstreamRow({
    ...{ wsId: 'a'.repeat(32), owned: OF_EVERYONE, sessionKey: 'main', workdir: gateway.dir, nowMs: 1 },
  });
  await gateway.store.commit({ statements: [insertWorkstream(main)] });
  const stop = new AbortController();
  const ended = gateway.gateway.run(stop.signal);
  return {
    gateway,
    add: (message: string, turn: object = {}) =>
      gateway.call('cron.add', {
        schedule: { kind: 'every', everyMs: 3_600_000 },
        sessionTarget: 'isolated',
        wakeMode: 'now',
        payload: { kind: 'agentTurn', message, ...turn },
      }),
    left: () => gateway.store.db.selectFrom('main_events').selectAll().execute(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      await gateway[Symbol.asyncDispose]();
    },
  };
}

test('a worker runs its jobs in sessions of its own, and leaves what they tell the main session', async () => {
  await using world = await worker();
  const { gateway, add, left } = world;
  const { id } = await add('look around');
  gateway.puppet.turn('all is well');
  await gateway.call('cron.run', { id, mode: 'force' });
  const { workstreams } = await gateway.call('workstream.list', {});
  assert.deepEqual(
    workstreams.map(({ sessionKey }) => sessionKey),
    [`cron:${id}`],
  );
  const placed = await gateway.store.db
    .selectFrom('workstreams')
    .select('machine')
    .where('session_key', '=', `cron:${id}`)
    .executeTakeFirst();
  assert.equal(placed?.machine, 'w');
  const rows = await left();
  assert.deepEqual(
    rows.map(({ text, rights, wakes }) => [text, rights, wakes]),
    [['Cron: all is well', 'approve', `cron:${id}`]],
  );
  await gateway.call('cron.update', {
    id,
    patch: { sessionTarget: 'main', payload: { kind: 'systemEvent', text: 'a line' } },
  });
  await gateway.call('cron.run', { id, mode: 'force' });
  const { entries } = await gateway.call('cron.runs', { id, extended: true });
  assert.deepEqual(
    entries.map(({ status, summary }) => [status, summary]),
    [
      ['ok', 'all is well'],
      ['ok', 'a line'],
    ],
  );
  assert.ok((await left()).some(({ text }) => text === 'a line'));
});

test('a job of a worker whose answer goes to the last chat looks for one of the main session, too', async () => {
  await using world = await worker();
  const { gateway, add } = world;
  const { id } = await add('send it', { deliver: true });
  await gateway.call('cron.run', { id, mode: 'force' });
  const { entries } = await gateway.call('cron.runs', { id });
  assert.match(entries[0]?.error ?? '', /^deliver needs `to`: this session has neither received nor sent anything/);
});

test('the jobs of all machines are this daemon’s if no other one can use the database', async () => {
  await using gateway = await wholeGateway();
  const { id } = await gateway.call('cron.add', {
    schedule: { kind: 'every', everyMs: 3_600_000 },
    sessionTarget: 'isolated',
    wakeMode: 'now',
    payload: { kind: 'agentTurn', message: 'look' },
  });
  await gateway.store.commit({ statements: [statementOf(build.updateTable('cron_jobs').set({ machine: 'w' }))] });
  await gateway.restart();
  await turnsUntil(async () => (await gateway.call('cron.list', {})).jobs.length === 1, 'the job');
  assert.equal((await gateway.call('cron.explain', { id })).verdict, 'scheduled');
});

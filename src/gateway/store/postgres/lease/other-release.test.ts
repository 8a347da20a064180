import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog } from '../../../../testing/temp-store.ts';
import type { DaemonStore } from '../../daemon-store.ts';
import { MIGRATIONS, type Migration } from '../../schema/migrations.ts';
import { openPostgresStore } from '../postgres-store.ts';
import { openCandidate } from './candidate.ts';

const installed = await needs('postgresql');

const newDatabase = async () => (await sharedPostgres()).createDatabase();

interface Opening {
  isWorker?: boolean;
  onOver?: (why: string) => void;
}

const open = (url: string, nodeId: string, { isWorker = false, onOver }: Opening = {}) =>
  openPostgresStore({
    url,
    machine: { ...someMachine(nodeId), isWorker },
    clock: systemClock,
    log: recordingLog(),
    ...(onOver && { onOver }),
  });
const openWorker = (url: string, nodeId: string, opening: Opening = {}) =>
  open(url, nodeId, { ...opening, isWorker: true });

const note = (store: DaemonStore, wsId: string) =>
  store.commit({ events: { wsId, events: [{ type: 'info', message: 'x' }] } });

/** As the next release, which has one more migration. */
async function asNext<T>(how: Pick<Migration, 'isAdditive'>, work: () => Promise<T>): Promise<T> {
  const { length } = MIGRATIONS;
  const next: Migration = { version: length + 1, statements: ['create table later_things (a text)'], ...how };
  Object.assign(MIGRATIONS, { [length]: next });
  try {
    return await work();
  } finally {
    Object.assign(MIGRATIONS, { length });
  }
}

test(
  'a worker goes on when the next release only adds to the tables, and starts again over them',
  installed,
  async () => {
    const url = await newDatabase();
    await (await open(url, 'a')).close();
    await using worker = await openWorker(url, 'w');
    const busy = Array.from({ length: 30 }, (_, n) => note(worker, `busy ${n}`));
    await using active = await asNext({ isAdditive: true }, () => open(url, 'b'));
    await Promise.all(busy);
    assert.equal(await note(worker, 'ws'), 1);
    await worker.close();
    await using again = await openWorker(url, 'w');
    assert.deepEqual([await note(again, 'ws'), await note(active, 'other')], [2, 1]);
  },
);

test('a worker writes nothing into tables that it cannot use, and does not start over them', installed, async () => {
  const url = await newDatabase();
  await (await open(url, 'a')).close();
  const over = Promise.withResolvers<string>();
  await using worker = await openWorker(url, 'w', { onOver: over.resolve });
  await note(worker, 'ws');
  await using active = await asNext({}, () => open(url, 'b'));
  await assert.rejects(note(worker, 'ws'));
  await over.promise;
  assert.equal(await note(active, 'other'), 1, 'the lease of the active daemon is as before');
  await assert.rejects(openWorker(url, 'w'), /but this Headgate knows versions up to/);
});

test('a worker of the next release waits for the tables, and then joins', installed, async () => {
  const url = await newDatabase();
  const former = await open(url, 'a');
  await asNext({ isAdditive: true }, async () => {
    const machine = { ...someMachine('w'), isWorker: true };
    const candidate = await openCandidate({
      url,
      machine,
      handedOver: undefined,
      clock: systemClock,
      log: recordingLog(),
    });
    await candidate.isFree();
    assert.deepEqual([await candidate.hasOlderTables(), candidate.holder()?.nodeId], [true, 'a']);
    await assert.rejects(openWorker(url, 'w'), /has the tables of an older Headgate/);
    await former.close();
    await using _ = await open(url, 'b');
    assert.equal(await candidate.hasOlderTables(), false);
    await candidate.close({ isOver: true });
    await using worker = await openWorker(url, 'w');
    assert.equal(await note(worker, 'ws'), 1);
  });
});

test('a worker connects again to a database that was away, and follows the active daemon', installed, async () => {
  const url = await newDatabase();
  await using _ = await open(url, 'a');
  const machine = { ...someMachine('w'), isWorker: true };
  const candidate = await openCandidate({
    url,
    machine,
    handedOver: undefined,
    clock: systemClock,
    log: recordingLog(),
  });
  await candidate.isFree();
  await queryPostgres(url, 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
  await assert.rejects(candidate.isFree());
  assert.equal(await candidate.isFree(), false);
  assert.equal(candidate.holder()?.nodeId, 'a');
  await candidate.close({ isOver: true });
});

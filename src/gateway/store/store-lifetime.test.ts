import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { openConnection } from './sqlite/sqlite-connection.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { UPSERT_META } from './store-identity.ts';

const info = (message: string): StreamEvent => ({ type: 'info', message });
const one = { events: { wsId: 'a', events: [info('1')] } };

test('a reopened store continues where it stopped, in the same epoch', async () => {
  using dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const first = await tempStore({ path });
  await first.commit(one);
  await first.markAlive(77_000);
  await first.close();
  await using second = await tempStore({ path, bootId: 'boot-2' });
  assert.match(second.epoch, /^[\w-]{12}$/);
  assert.deepEqual(
    { ...stateOf(second), alive: second.lastAliveMs, before: first.lastAliveMs, offset: await second.commit(one) },
    { epoch: first.epoch, lost: false, setAside: undefined, alive: 77_000, before: undefined, offset: 2 },
  );
});

const afterStops = [
  {
    title: 'a daemon killed on a machine that stayed up',
    bootId: 'boot-1',
    durability: 'normal',
    kept: true,
    lost: false,
  },
  { title: 'a machine that lost power', bootId: 'boot-2', durability: 'normal', kept: false, lost: true },
  {
    title: 'a machine that lost power under synced writes',
    bootId: 'boot-2',
    durability: 'full',
    kept: true,
    lost: true,
  },
] as const;
for (const { title, bootId, durability, kept, lost } of afterStops) {
  test(`after ${title} the epoch is ${kept ? 'kept' : 'new'}`, async () => {
    using dir = tempDir();
    await using running = await tempStore({ path: join(dir.path, 'headgate.db'), durability });
    await running.commit(one);
    const path = copyAsFound(dir.path);
    await using found = await tempStore({ path, bootId });
    assert.deepEqual(
      { kept: found.epoch === running.epoch, lost: found.openedAfterUncleanPowerLoss, bounds: found.bounds('a') },
      { kept, lost, bounds: { first: 1, last: 1 } },
    );
  });
}

test('every commit that had resolved when the process was killed is stored', async () => {
  using dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const resolved = await killInMidRun(path, writer, 50);
  await using store = await tempStore({ path });
  const { last } = store.bounds('a');
  const events = await store.readEvents('a', 0, last);
  assert.ok(resolved >= 50 && last >= resolved, `resolved ${resolved}, found ${last}`);
  assert.deepEqual(
    events.map((event) => [event.offset, JSON.parse(event.json).message]),
    Array.from({ length: last }, (_, index) => [index + 1, `${index + 1}`]),
  );
});

test('a process that is killed while it packs events leaves each of them once', async () => {
  using dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const resolved = await killInMidRun(path, compactor, 400);
  await using store = await tempStore({ path });
  const { last } = store.bounds('a');
  const events = await store.readEvents('a', 0, last);
  const rows = await store.db.selectFrom('events').select('offset').execute();
  assert.ok(last >= resolved && rows.length < last / 2, `resolved ${resolved}, found ${last} in ${rows.length} rows`);
  assert.deepEqual(
    events.map(({ offset, json }) => [offset, JSON.parse(json).text]),
    Array.from({ length: last }, (_, index) => [index + 1, (index + 1) % 7 === 0 ? undefined : `${index + 1} `]),
  );
});

test('the files are readable by their owner only', async () => {
  using dir = tempDir();
  await using store = await tempStore({ path: join(dir.path, 'headgate.db') });
  await store.commit(one);
  const modes = readdirSync(dir.path).map((name) => [name, (statSync(join(dir.path, name)).mode & 0o777).toString(8)]);
  assert.deepEqual(modes, [
    ['headgate.db', '600'],
    ['headgate.db-shm', '600'],
    ['headgate.db-wal', '600'],
  ]);
});

test('a file that is not a database is moved aside, reported, and replaced', async () => {
  using dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  writeFileSync(path, 'not a database '.repeat(1_000));
  const log = recordingLog();
  await using store = await tempStore({ path, log });
  await store.commit(one);
  assert.deepEqual(
    { setAside: store.setAside, content: readFileSync(`${path}.damaged-19700101T000001Z`, 'utf8').slice(0, 14) },
    { setAside: `${path}.damaged-19700101T000001Z`, content: 'not a database' },
  );
  assert.deepEqual(log.lines[0], ['error', 'the database is damaged; moved it aside and created an empty one']);
});

test('a second damaged file never replaces the first', async () => {
  using dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  writeFileSync(path, 'the second one '.repeat(1_000));
  writeFileSync(`${path}.damaged-19700101T000001Z`, 'the first one');
  await using store = await tempStore({ path });
  assert.equal(store.setAside, `${path}.damaged-19700101T000001Z-2`);
  assert.equal(readFileSync(`${path}.damaged-19700101T000001Z`, 'utf8'), 'the first one');
});

for (const [title, damage] of [
  ['cut off', (path: string) => truncateSync(path, 5 * 4_096)],
  ['garbled in its last pages', (path: string) => garble(path, statSync(path).size - 3 * 4_096)],
] as const) {
  test(`a file found ${title} after an unclean stop is moved aside, and the epoch is new`, async () => {
    using dir = tempDir();
    const path = join(dir.path, 'headgate.db');
    const before = await tempStore({ path });
    for (const wsId of ['1', '2', '3', '4', '5', '6']) {
      await before.commit({ events: { wsId, events: [info('x'.repeat(5_000))] } });
    }
    await before.close();
    pretendUnclean(path);
    damage(path);
    await using store = await tempStore({ path });
    assert.deepEqual(
      { aside: store.setAside !== undefined, same: store.epoch === before.epoch, bounds: store.bounds('1') },
      { aside: true, same: false, bounds: { first: 1, last: 0 } },
    );
  });
}

test('a file that cannot be accessed stays where it is', async () => {
  using dir = tempDir();
  await assert.rejects(tempStore({ path: join(dir.path, 'missing', 'headgate.db') }), { code: 'ENOENT' });
  assert.deepEqual(readdirSync(dir.path), []);
});

const stateOf = (store: SqliteStore) => ({
  epoch: store.epoch,
  lost: store.openedAfterUncleanPowerLoss,
  setAside: store.setAside,
});

/** The files of a store that is still open, as a crash would leave them. */
function copyAsFound(dir: string): string {
  const path = join(dir, 'found.db');
  for (const suffix of ['', '-wal']) copyFileSync(join(dir, `headgate.db${suffix}`), path + suffix);
  return path;
}

function pretendUnclean(path: string): void {
  const connection = openConnection(path);
  connection.run(UPSERT_META, ['clean_stop', '0']);
  connection.run('pragma wal_checkpoint(truncate)');
  connection.close();
}

function garble(path: string, from: number): void {
  const content = readFileSync(path);
  writeFileSync(path, content.fill(0xff, from));
}

const writer = new URL('./fixtures/crash-writer.ts', import.meta.url);
const compactor = new URL('./fixtures/crash-compactor.ts', import.meta.url);

async function killInMidRun(path: string, script: URL, commits: number): Promise<number> {
  const child = spawn(process.execPath, [fileURLToPath(script), path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (data: Buffer) => {
    printed += data.toString();
    if (printed.split('\n').length > commits) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return Number(printed.trimEnd().split('\n').at(-1));
}

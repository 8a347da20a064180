import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres } from '../../../testing/postgres-server.ts';
import { tempDir } from '../../../testing/temp-store.ts';
import {
  asIs,
  copyBetween,
  createDatabase,
  fill,
  openFile,
  openServer,
  openSide,
  toFile,
  toServer,
} from './copy-fixture.ts';
import type { CopySide } from './copy-side.ts';
import { openSqliteSource } from './sqlite-side.ts';

const installed = await needs('postgresql');

test('a copy that was killed before the source was told is completed by the next run', installed, async () => {
  using dir = tempDir();
  const file = join(dir.path, 'headgate.db');
  const url = await createDatabase();
  const store = await openFile(file);
  await fill(store, { messages: 1 });
  await store.close();
  const source = openSqliteSource(file);
  const deaf: CopySide = { ...source, changeMeta: () => Promise.reject(new Error('killed')) };
  await assert.rejects(copyBetween({ source: deaf, target: await openSide(url, true) }, asIs), /killed/);
  await using server = await openServer(url);
  await server.close();
  assert.equal((await toServer(file, url)).wasComplete, true);
  await using former = await openFile(file);
  assert.notEqual(former.epoch, server.epoch);
});

test('a complete copy is not taken for one of what was stored in the source since', installed, async () => {
  using dir = tempDir();
  const file = join(dir.path, 'headgate.db');
  const url = await createDatabase();
  await (await openFile(file)).close();
  const source = openSqliteSource(file);
  const deaf: CopySide = { ...source, changeMeta: () => Promise.reject(new Error('killed')) };
  await assert.rejects(copyBetween({ source: deaf, target: await openSide(url, true) }, asIs), /killed/);
  const used = await openFile(file);
  await used.markAlive(1);
  await used.close();
  await assert.rejects(toServer(file, url), /holds a complete copy of .*headgate\.db, which was used since/);
});

test('a daemon that has only lost its connection still owns its database', installed, async () => {
  using dir = tempDir();
  const url = await createDatabase();
  const running = await openServer(url);
  const free = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())`;
  await queryPostgres(url, free);
  await assert.rejects(toFile(url, join(dir.path, 'new.db')), /Another Headgate daemon is using postgresql:/);
  await running.close();
});

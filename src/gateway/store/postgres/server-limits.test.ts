import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { openPostgresStore } from './postgres-store.ts';

const installed = await needs('postgresql');

const open = (url: string, log = recordingLog()) =>
  openPostgresStore({ url, machine: someMachine(), clock: fakeClock(1_000), log });
const newDatabase = async () => (await sharedPostgres()).createDatabase();

test('a database that can only be read is named by the error', installed, async () => {
  const url = await newDatabase();
  await queryPostgres(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
  await assert.rejects(
    open(url),
    /^Error: postgresql:\/\/\S+ cannot be written: cannot execute .* read-only transaction$/,
  );
});

test('the connection that writes stays, where the server ends idle ones', installed, async () => {
  const url = await newDatabase();
  await queryPostgres(url, `alter database ${new URL(url).pathname.slice(1)} set idle_session_timeout = '50ms'`);
  const log = recordingLog();
  await using store = await open(url, log);
  const idle = new pg.Client(url);
  idle.on('error', () => undefined); // the server ends it, which shows that idle ones are ended
  await idle.connect();
  await new Promise<void>((resolve) => idle.once('end', () => resolve()));
  await store.commit({ events: { wsId: 'a', events: [{ type: 'info', message: '1' }] } });
  assert.deepEqual(
    log.lines.filter(([level]) => level === 'error'),
    [],
  );
});

test('reads share the connections that the server allows, and a read that gets none says why', installed, async () => {
  const url = new URL(await newDatabase());
  const database = url.pathname.slice(1);
  const role = `few_${database}`;
  await queryPostgres(url.href, `create role ${role} login password 'few' connection limit 4`);
  await queryPostgres(url.href, `grant all on database ${database} to ${role}`);
  const few = Object.assign(new URL(url), { username: role, password: 'few' });
  await using store = await open(few.href); // one connection writes, and one renews the lease
  await store.commit({ events: { wsId: 'a', events: [{ type: 'info', message: '1' }] } });
  const read = async () => (await store.readEvents('a', 0, 100)).length;
  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, read)), Array(20).fill(1));
  await store.close();
  const left = async () =>
    Number(
      (await queryPostgres(url.href, `select count(*) as n from pg_stat_activity where usename = '${role}'`))[0]?.n,
    );
  while ((await left()) > 0); // a session ends a moment after its connection
  await queryPostgres(url.href, `alter role ${role} connection limit 2`);
  await using again = await open(few.href);
  await assert.rejects(again.readEvents('a', 0, 100), /The database cannot be read: too many connections for role/);
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { createGroupWriter } from './group-writer.ts';
import { createLogHeads } from './log-heads.ts';
import { migrate } from './schema/migrations.ts';
import { type Connection, openConnection } from './sqlite/sqlite-connection.ts';
import type { Unit } from './store.ts';

const event: Unit = { events: { wsId: 'a', events: [{ type: 'thinking_start' }] } };
const statement = { sql: "delete from meta where key = 'none'", parameters: [] };

test('a group is one transaction, and only units with statements have a savepoint', (t) => {
  const { write, ran } = openWriter(t);
  write([event, { statements: [statement] }, event]);
  assert.deepEqual(ran, [
    'begin immediate',
    'savepoint unit',
    "delete from meta where key = 'none'",
    'release unit',
    'insert into events',
    'insert into events',
    'commit',
  ]);
});

test('a refused unit is rolled back to its savepoint and the group continues', (t) => {
  const { write, ran } = openWriter(t);
  const { outcomes } = write([{ statements: [{ ...statement, expect: 1 }], ...event }, event]);
  assert.deepEqual(
    { ran, kinds: outcomes.map(({ kind }) => kind) },
    {
      ran: [
        'begin immediate',
        'savepoint unit',
        "delete from meta where key = 'none'",
        'rollback to unit',
        'release unit',
        'insert into events',
        'commit',
      ],
      kinds: ['refused', 'done'],
    },
  );
});

test('a group with a durable unit is synced, and the next one is not', (t) => {
  const { write, ran, connection } = openWriter(t);
  write([event, { ...event, durable: true }]);
  write([event]);
  assert.deepEqual(ran, [
    'pragma synchronous = full',
    'begin immediate',
    'insert into events',
    'insert into events',
    'commit',
    'pragma synchronous = normal',
    'begin immediate',
    'insert into events',
    'commit',
  ]);
  assert.deepEqual(connection.all('pragma synchronous'), [{ synchronous: 1 }]);
});

test('events for people are stored as notes, unless a message has the same content', (t) => {
  const { write, ran } = openWriter(t);
  const told = { wsId: 'a', events: [{ type: 'info', message: '1' }] } as const;
  write([{ events: told }, { events: { ...told, inMessages: true } }, event]);
  assert.deepEqual(
    ran.filter((sql) => sql.startsWith('insert')),
    ['insert into notes', 'insert into events', 'insert into events', 'insert into events'],
  );
});

test('a failed commit leaves no transaction open and no offset used', (t) => {
  const { write, connection, failNext } = openWriter(t);
  write([event]);
  failNext('commit');
  assert.throws(() => write([{ ...event, durable: true }]), /broken commit/);
  const { outcomes } = write([event]);
  assert.deepEqual(
    { outcomes, open: connection.database.isTransaction, sync: connection.all('pragma synchronous') },
    { outcomes: [{ kind: 'done', offset: 2 }], open: false, sync: [{ synchronous: 1 }] },
  );
});

function openWriter(t: { after(fn: () => void): void }) {
  const dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const connection = openConnection(path);
  migrate(connection, { path, log: recordingLog() });
  connection.run('pragma synchronous = normal');
  t.after(() => {
    connection.close();
    dir[Symbol.dispose]();
  });
  const ran: string[] = [];
  let failing: string | undefined;
  const watched: Connection = {
    ...connection,
    run(sql, parameters) {
      if (sql === failing) {
        failing = undefined;
        throw new Error(`broken ${sql}`);
      }
      ran.push(sql.replace(/ \([\s\S]*/, ''));
      return connection.run(sql, parameters);
    },
  };
  const write = createGroupWriter({
    connection: watched,
    heads: createLogHeads({ connection, onDamage: assert.fail }),
    clock: fakeClock(),
    durability: 'normal',
  });
  const failNext = (sql: string): void => {
    failing = sql;
  };
  return { write, ran, connection, failNext };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog } from '../../../testing/temp-store.ts';
import { MIGRATIONS, migrate } from './migrations.ts';
import { openVersion1 } from './migrations-fixture.ts';

const log = recordingLog();

test('version 44 compares messages with the beginnings of the memories of earlier versions', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 43) });
  connection.run(
    `insert into memories values (7, 'mem_1', 'global', '', 'project', 'harbour', 'ships', 1, 1, null, 0, 'x')`,
  );
  connection.run(`insert into memory_words (rowid, name, description, content) values (7, 'harbour', 'ships', ?)`, [
    `kestrel ${'x'.repeat(200)} late`,
  ]);
  migrate(connection, { path, log });
  const found = (word: string) =>
    connection.all('select rowid as n from memory_heads where memory_heads match ?', [word]);
  assert.deepEqual(
    [
      ...['harbour', 'ships', 'kestrel', 'late'].map(found),
      connection.all('select origin_json from memories'),
      ...['quarantined_memories', 'recalled_workstreams', 'message_words'].map((table) =>
        connection.all(`select * from ${table}`),
      ),
      ...['memory_heads', 'message_words'].map((table) =>
        connection.all(`select v from ${table}_config where k = 'secure-delete'`),
      ),
    ],
    [[{ n: 7 }], [{ n: 7 }], [{ n: 7 }], [], [{ origin_json: null }], [], [], [], [{ v: 1 }], [{ v: 1 }]],
  );
});

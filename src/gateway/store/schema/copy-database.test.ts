import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { openConnection } from '../sqlite/sqlite-connection.ts';
import { copyDatabase } from './copy-database.ts';
import { openVersion1 } from './migrations-fixture.ts';

test('only a complete copy gets its name, and an interrupted one is replaced by the next', (t) => {
  const { connection, path } = openVersion1(t);
  const name = `${path}.bak-v1`;
  const interrupted = {
    ...connection,
    run(_sql: string, [target]: readonly unknown[] = []): number {
      writeFileSync(String(target), 'half of it');
      throw new Error('killed');
    },
  };
  assert.throws(() => copyDatabase(interrupted, name), /killed/);
  assert.deepEqual([existsSync(name), existsSync(`${name}.partial`)], [false, true]);
  assert.equal(copyDatabase(connection, name), name);
  const copy = openConnection(name);
  t.after(() => copy.close());
  assert.deepEqual(
    [copy.all('pragma integrity_check'), existsSync(`${name}.partial`)],
    [[{ integrity_check: 'ok' }], false],
  );
});

test('a copy is readable by its owner only', (t) => {
  const { connection, path } = openVersion1(t);
  assert.equal(statSync(copyDatabase(connection, `${path}.bak-v1`)).mode & 0o777, 0o600);
});

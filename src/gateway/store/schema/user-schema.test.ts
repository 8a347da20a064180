import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog } from '../../../testing/temp-store.ts';
import { MIGRATIONS, migrate } from './migrations.ts';
import { openVersion1 } from './migrations-fixture.ts';

const log = recordingLog();

test('older workstreams belong to the operator and are shared; from then on, two owners may have the same name', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 32) });
  const insert = `insert into workstreams (ws_id, session_key, alias, generated_name, workdir, loaded, context_after_seq,
    message_count, run_epoch, created_ms, updated_ms) values (?1, ?2, ?2, 'ws', '/', 1, 0, 0, 1, 0, 0)`;
  connection.run(insert, ['a', 'garden']);
  migrate(connection, { path, log });
  const rows = () => connection.all('select ws_id, owner_id, visibility from workstreams').map((row) => ({ ...row }));
  assert.deepEqual(rows(), [{ ws_id: 'a', owner_id: '', visibility: 'shared' }]);
  connection.run(insert.replace('updated_ms)', 'updated_ms, owner_id)').replace('0, 0)', "0, 0, 'ada')"), [
    'b',
    'garden',
  ]);
  assert.throws(() => connection.run(insert, ['c', 'garden']), /UNIQUE constraint failed/);
  assert.equal(rows().length, 2);
});

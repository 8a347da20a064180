import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecidedBy } from '../../../../../protocol/stream-events.ts';
import { recordingLog, tempStore } from '../../../../testing/temp-store.ts';
import { MIGRATIONS, migrate } from '../migrations.ts';
import { OLD_EVENT, openVersion1 } from '../migrations-fixture.ts';

const log = recordingLog();
const OLD_APPROVAL = `insert into approvals values (?1, 'a', 'r', 'tools', ?2, '[]', '{}', '', 0, ?3, 1, 2, 3)`;
/** Feedback, the recorded status and decider if any, and the decider. */
const OLD_DECISIONS: [string, string, string | undefined, DecidedBy][] = [
  ['Approval timed out in my head', 'denied', 'ada', { kind: 'principal', id: 'ada' }],
  ['Approval timed out after 1 hour', 'expired', 'timeout', { kind: 'timeout' }],
  ['Cancelled by user', 'cancelled', 'cancel', { kind: 'cancel' }],
  ['Not run: the run had ended', 'cancelled', 'cancel', { kind: 'shutdown' }],
  ['', 'approved', undefined, { kind: 'principal', id: 'unknown' }],
  ['Approval timed out after 1 hour', 'gone', undefined, { kind: 'timeout' }],
  ['Cancelled by user', 'gone', undefined, { kind: 'cancel' }],
];

test('version 18 names who made each stored decision', async (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 17) });
  connection.run(`insert into workstreams (ws_id, generated_name, workdir, loaded, context_after_seq, message_count,
    run_epoch, created_ms, updated_ms) values ('a', 'ws', '/', 0, 0, 0, 1, 0, 0)`);
  for (const [index, [feedback, status, decidedBy]] of OLD_DECISIONS.entries()) {
    const event = { type: 'approval_resolved', approval_id: `q${index}`, approved: status === 'approved', feedback };
    if (decidedBy !== undefined) connection.run(OLD_APPROVAL, [`q${index}`, status, decidedBy]);
    connection.run(OLD_EVENT, [index + 1, JSON.stringify(event)]);
    connection.run("insert into notes values ('a', 0, ?, ?, 5)", [index - 3, JSON.stringify(event)]);
    connection.run("insert into journal values ('r', ?, 'a', 'approval_decided', ?, 5)", [
      index,
      JSON.stringify({ approvalId: `q${index}`, decision: { approved: true, by: decidedBy ?? 'ada' } }),
    ]);
  }
  connection.close();
  await using store = await tempStore({ path });
  const events = await store.readEvents('a', 0, 100);
  const notes = await store.db.selectFrom('notes').select('body_json').orderBy('offset').execute();
  const journal = await store.db.selectFrom('journal').select('body_json').orderBy('seq').execute();
  const expected = OLD_DECISIONS.map(([, , , by]) => by);
  assert.deepEqual(
    events.map(({ json }) => JSON.parse(json).by),
    expected,
  );
  assert.deepEqual(
    notes.map(({ body_json }) => JSON.parse(body_json).by),
    expected,
  );
  assert.deepEqual(
    journal.map(({ body_json }) => JSON.parse(body_json).decision.by),
    [
      { kind: 'principal', id: 'ada' },
      { kind: 'timeout' },
      ...['cancel', 'cancel'].map((kind) => ({ kind })),
      ...Array(3).fill({ kind: 'principal', id: 'ada' }),
    ],
  );
});

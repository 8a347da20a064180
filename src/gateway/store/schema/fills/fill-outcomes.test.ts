import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog, tempStore } from '../../../../testing/temp-store.ts';
import { MIGRATIONS, migrate } from '../migrations.ts';
import { OLD_EVENT, openVersion1 } from '../migrations-fixture.ts';

const log = recordingLog();
const OLD_MESSAGE = `insert into messages select 'a', ?1, null, ?2, 5, message_checksum('a', ?1, null, ?2, 5)`;
/** Output, whether it was an error, the exit code if it ran, and the resulting outcome. */
const OLD_RESULTS: [string, boolean, number | undefined, string][] = [
  ['Denied by user 7 times', false, 0, 'done'],
  ['no such file', true, 2, 'failed'],
  ['Blocked: 3 threads\n[exit code: 1]', true, 1, 'failed'],
  ['Denied by user: no', true, undefined, 'denied'],
  ['Approval timed out after 1 hour', true, undefined, 'expired'],
  ['Not run: nobody is there to approve it, and the job’s policy is deny.', true, undefined, 'blocked'],
  ['damaged', true, undefined, ''],
  ['Blocked by policy', true, undefined, 'blocked'],
  ['Outcome unknown: Headgate stopped while this ran, and it was not run again.', true, undefined, 'unknown'],
  ['Cancelled by user; its outcome is unknown', true, undefined, 'unknown'],
  ['[cancelled] Whether the command ran on the node is not known.', true, undefined, 'unknown'],
  ['Cancelled by user', true, undefined, 'cancelled'],
  ['one\n[stopped by shutdown]', true, undefined, 'cancelled'],
];

test('version 17 derives the outcome of every stored result from its text, and skips damaged rows', async (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 16) });
  connection.run(
    `insert into workstreams (ws_id, generated_name, workdir, loaded, context_after_seq, message_count,
    run_epoch, created_ms, updated_ms) values ('a', 'ws', '/', 0, 0, ?, 1, 0, 0)`,
    [OLD_RESULTS.length],
  );
  for (const [index, [output, isError, exit]] of OLD_RESULTS.entries()) {
    const message = { role: 'tool', callId: 'c', name: 'bash', output, isError };
    const ran = exit === undefined ? {} : { exit_code: exit, duration_ms: 3 };
    const event = { type: 'tool_result', call_id: 'c', name: 'bash', output, is_error: isError, ...ran };
    connection.run(OLD_MESSAGE, [
      index + 1,
      JSON.stringify({ ...message, ...(ran.exit_code !== undefined && { exitCode: exit }) }),
    ]);
    connection.run(OLD_EVENT, [index + 1, JSON.stringify(event)]);
  }
  const shown = { seq: 1, role: 'tool', content: 'Denied by user', tool_calls: null, is_error: true };
  const user = { seq: 2, role: 'user', content: 'Denied by user', tool_calls: null };
  connection.run(OLD_EVENT, [OLD_RESULTS.length + 1, JSON.stringify({ type: 'history', messages: [shown, user] })]);
  connection.run("update messages set body_json = replace(body_json, 'damaged', 'changed')");
  connection.run("update events set body_json = replace(body_json, 'damaged', 'changed')");
  connection.close();

  await using store = await tempStore({ path });
  const messages = await store.readMessages('a', { after: 0, upTo: OLD_RESULTS.length, limit: 100 });
  const events = await store.readEvents('a', 0, 100);
  const expected = OLD_RESULTS.map(([output, , , outcome]) => (output === 'damaged' ? undefined : outcome));
  const outcomes = events.slice(0, -1).map(({ json, isDamaged }) => (isDamaged ? undefined : JSON.parse(json).outcome));
  assert.deepEqual(
    messages.map(({ json }) => (json === undefined ? undefined : JSON.parse(json).outcome)),
    expected,
  );
  assert.deepEqual(outcomes, expected);
  assert.ok(messages.every(({ json }) => !json?.includes('isError')));
  assert.deepEqual(JSON.parse(events.at(-1)?.json ?? ''), {
    type: 'history',
    messages: [{ ...shown, outcome: 'denied' }, user],
  });
});

test('version 17 resumes an interrupted pass', (t) => {
  const { connection, path } = openVersion1(t);
  migrate(connection, { path, log, migrations: MIGRATIONS.slice(0, 16) });
  for (let seq = 1; seq <= 1_200; seq += 1)
    connection.run(OLD_MESSAGE, [seq, JSON.stringify({ role: 'tool', output: `${seq}`, isError: seq % 2 === 0 })]);
  connection.run(
    `update messages set body_json = ?1, checksum = message_checksum(ws_id, seq, run_id, ?1, created_ms) where seq < 700`,
    [JSON.stringify({ role: 'tool', output: 'before', outcome: 'expired' })],
  );
  migrate(connection, { path, log });
  const rows = connection.all(`select json_extract(body_json, '$.outcome') as outcome, count(*) as count,
    sum(checksum = message_checksum(ws_id, seq, run_id, body_json, created_ms)) as intact from messages group by 1 order by 1`);
  assert.deepEqual(rows, [
    { outcome: 'done', count: 250, intact: 250 },
    { outcome: 'expired', count: 699, intact: 699 },
    { outcome: 'failed', count: 251, intact: 251 },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../testing/temp-store.ts';
import { build, statementOf } from '../store/statements.ts';
import { readNextResult } from './watch-rows.ts';

const NOTHING = {
  ...{ node_id: 'node', name: 'it', command: 'ls', interval_secs: 60, stop_on: null, max_polls: 9, poll_count: 1 },
  ...{ missed_polls: 0, is_polling: 0, process_json: null, last_output: null, last_exit_code: null },
  ...{ last_poll_ms: null, next_poll_ms: null, active: 0, end_kind: null, end_reason: null, updated_ms: 1 },
  ...{ created_by: 'operator', rights: 'approve', sender: null, allowed_json: null, chat_json: null },
};

test('the oldest result of a workstream is next, and a damaged one does not hold it back', async () => {
  const store = await tempStore();
  const results: [watchId: string, wsId: string, result: string | null][] = [
    ['elsewhere', 'other', '{"text":"x"}'],
    ['running', 'ws', null],
    ['damaged', 'ws', '{"text":'],
    ['first', 'ws', '{"text":"one"}'],
    ['second', 'ws', '{"text":"two"}'],
  ];
  const rows = results.map(([watch_id, ws_id, result_json], created_ms) => ({
    ...NOTHING,
    ...{ watch_id, ws_id, result_json, created_ms },
  }));
  await store.commit({ statements: rows.map((row) => statementOf(build.insertInto('watches').values(row), 1)) });
  assert.equal((await readNextResult(store, 'ws'))?.result?.text, 'one');
  assert.equal(await readNextResult(store, 'nobody'), undefined);
  await store.close();
});

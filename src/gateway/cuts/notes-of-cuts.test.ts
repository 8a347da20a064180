import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { fail, say, shown } from './take-back-fixture.ts';

/** Stores a note whose fields are in another order than this build writes them. */
const note = (gateway: WholeGateway, wsId: string, { after, body }: { after: number; body: string }) =>
  gateway.store.commit({
    statements: [
      {
        sql: 'insert into notes (ws_id, after_seq, "offset", body_json, created_ms) values (?, ?, 1000, ?, 1)',
        parameters: [wsId, after, body],
        expect: 1,
      },
    ],
  });

const notesOf = async (gateway: WholeGateway, wsId: string) => {
  const rows = await gateway.store.db.selectFrom('notes').select('body_json').where('ws_id', '=', wsId).execute();
  return rows.map(({ body_json }) => body_json);
};

test('a removed message takes its errors along, however they are written, and no damaged note', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await fail(gateway, 'a');
  await note(gateway, wsId, { after: 1, body: '{"message":"no","type":"error"}' });
  await note(gateway, wsId, { after: 0, body: '{damaged' });
  await gateway.call('workstream.remove', { wsId, seq: 1 });
  assert.deepEqual(await notesOf(gateway, wsId), ['{damaged']);
});

test('a copy leaves out notes about summaries, however they are written', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await say(gateway, 'a');
  const said = '{"message":"about {\\"type\\":\\"compacted\\"}","type":"info"}';
  await note(gateway, wsId, { after: 1, body: '{"summary":"s","messages":1,"to_seq":1,"type":"compacted"}' });
  await note(gateway, wsId, { after: 2, body: said });
  const fork = await gateway.call('workstream.fork', { wsId });
  assert.deepEqual(await notesOf(gateway, fork.wsId), [said]);
  assert.deepEqual(await shown(gateway, fork.wsId), ['1 a', '2 A']);
});

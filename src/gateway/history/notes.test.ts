import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryNote } from '../../../protocol/stream-events.ts';
import { markDeleted, removeRows } from '../store/deletion.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** The notes of a snapshot. */
const told = async (gateway: WholeGateway) => {
  const { snapshot } = await gateway.call('workstream.get', { wsId: await gateway.main() });
  return snapshot.notes?.map(toLine);
};

const toLine = (note: HistoryNote): string => {
  if (note.kind === 'compacted') return `${note.after_seq} ${note.kind}: ${note.summary}`;
  if (note.kind !== 'decision') return `${note.after_seq} ${note.kind}: ${note.message}`;
  const { after_seq, question, calls, approved, always, feedback, by } = note;
  const names = calls.map(({ name, call_id }) => `${name} ${call_id}`).join();
  return `${after_seq} ${question} ${names}: ${approved ? 'yes' : 'no'}${always ? ', always' : ''} "${feedback}" (${by.kind === 'principal' ? by.id : by.kind})`;
};

const command = async (gateway: WholeGateway, text: string) =>
  gateway.call('workstream.command', { wsId: await gateway.main(), command: text });

async function say(gateway: WholeGateway, message: string): Promise<void> {
  await (await gateway.accept(message))?.ended;
}

/** Requests one call of `touch` and decides it. */
async function decide(gateway: WholeGateway, decision: { approved: boolean; feedback?: string; always?: boolean }) {
  gateway.puppet.turn(calling('touch', { text: 'a' }, 'call_a'));
  const run = await gateway.accept('touch it');
  await gateway.reaches(await gateway.main(), 'approve_request');
  const [approval] = (await gateway.call('approval.list', {})).approvals;
  await gateway.call('approval.resolve', { approvalId: approval?.approvalId ?? '', ...decision });
  await run?.ended;
}

test('a snapshot has the output of commands in its place, also after a crash', async () => {
  await using gateway = await wholeGateway();
  await command(gateway, '/name first');
  await say(gateway, 'hello');
  await command(gateway, '/name ');
  await command(gateway, '/name second');
  const expected = [
    '0 info: This workstream is now called first.',
    '2 error: Command error: Usage: /name NAME',
    '2 info: This workstream is now called second.',
  ];
  assert.deepEqual(await told(gateway), expected);
  await gateway.crash();
  assert.deepEqual(await told(gateway), expected);
});

test('a snapshot has the reason for a failed run, after its text', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Hel', new Error('a defect'));
  await say(gateway, 'hello');
  assert.deepEqual(await told(gateway), ['2 error: Error: Internal error (see the daemon’s log)']);
});

for (const { name, decision, line } of [
  { name: 'denied with a reason', decision: { approved: false, feedback: 'not now' }, line: 'no "not now" (ada)' },
  { name: 'approved for good', decision: { approved: true, always: true }, line: 'yes, always "" (ada)' },
])
  test(`a snapshot has the decision that a call was ${name}, and who made it`, async () => {
    await using gateway = await wholeGateway();
    await decide(gateway, decision);
    assert.deepEqual(await told(gateway), [`2 tools touch call_a: ${line}`]);
  });

test('notes of the turn in progress are in the events after the snapshot, and not in the snapshot', async () => {
  await using gateway = await wholeGateway();
  await command(gateway, '/name before');
  gateway.puppet.turn(never());
  await gateway.accept('hello');
  await gateway.reaches(await gateway.main(), 'thinking_start');
  await command(gateway, '/name during');
  const wsId = await gateway.main();
  const { cursor, snapshot } = await gateway.call('workstream.get', { wsId });
  const later = (await gateway.events(wsId)).slice(Number(cursor.split(':')[1]));
  assert.deepEqual(
    {
      notes: snapshot.notes?.map(toLine),
      events: later.filter(({ type }) => type === 'info').length,
    },
    { notes: ['0 info: This workstream is now called before.'], events: 1 },
  );
});

test('pages share no notes, and the first page has those before the first message', async () => {
  await using gateway = await wholeGateway();
  await command(gateway, '/name zero');
  for (const name of ['two', 'four']) {
    await say(gateway, name);
    await command(gateway, `/name ${name}`);
  }
  const { notes } = gateway.parts;
  const wsId = await gateway.main();
  const page = async (from: number, upTo: number) =>
    (await notes.page(wsId, { from, upTo })).map(({ after_seq }) => after_seq);
  assert.deepEqual([await page(4, 4), await page(2, 3), await page(0, 1)], [[4], [2], [0]]);
});

test('if there are very many notes between two messages, the newest are returned', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const events = Array.from({ length: 300 }, (_, index) => ({ type: 'info' as const, message: `${index}` }));
  await gateway.store.commit({ events: { wsId, events } });
  const lines = await told(gateway);
  assert.deepEqual([lines?.length, lines?.at(0), lines?.at(-1)], [200, '0 info: 100', '0 info: 299']);
});

test('placeholders replace damaged notes, and health shows the damage', async () => {
  await using gateway = await wholeGateway();
  for (const name of ['first', 'second', 'third']) await command(gateway, `/name ${name}`);
  await decide(gateway, { approved: true });
  const damage = [
    `update notes set body_json = substr(body_json, 1, 9) where body_json like '%first%'`,
    `update notes set body_json = 'null' where body_json like '%second%'`,
    `update approvals set items_json = substr(items_json, 1, 9)`,
  ];
  await gateway.store.commit({ statements: damage.map((sql) => ({ sql, parameters: [], expect: 1 })) });
  const lost = 'error: [This note is damaged in the database and cannot be shown.]';
  assert.deepEqual(await told(gateway), [
    ...[`0 ${lost}`, `0 ${lost}`, '0 info: This workstream is now called third.'],
    `2 ${lost}`,
  ]);
  const { notes } = await gateway.call('workstream.history', { wsId: await gateway.main() });
  assert.deepEqual(
    notes?.map((note) => note.kind === 'error' && note.damaged),
    [true, true, false, true],
  );
  assert.equal(gateway.store.health().damaged, true);
});

test('/clear removes earlier notes; /new and /resume keep them with their messages', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'hello');
  await command(gateway, '/name garden');
  await command(gateway, '/new');
  const [saved] = await gateway.store.db.selectFrom('workstreams').selectAll().where('loaded', '=', 0).execute();
  assert.ok(saved);
  assert.deepEqual(await told(gateway), [`2 info: The conversation was saved as ${saved.generated_name}.`]);
  await command(gateway, `/resume ${saved.ws_id}`);
  assert.deepEqual(await told(gateway), ['4 info: This workstream is now called garden.']);
  await command(gateway, '/clear');
  assert.deepEqual(await told(gateway), undefined);
});

test('notes are deleted with their conversation', async () => {
  await using gateway = await wholeGateway();
  await command(gateway, '/help');
  const { store } = gateway;
  const wsId = await gateway.main();
  await store.commit({ statements: [markDeleted(wsId)] });
  await removeRows(store, wsId);
  assert.deepEqual(await store.db.selectFrom('notes').selectAll().execute(), []);
});

test('a removal that comes late leaves a new conversation with the id alone', async () => {
  await using gateway = await wholeGateway();
  await command(gateway, '/help');
  const { store } = gateway;
  await removeRows(store, await gateway.main()); // of one that is not deleted any more
  assert.equal((await store.db.selectFrom('notes').selectAll().execute()).length > 0, true);
});

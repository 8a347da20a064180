import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryNote } from '../../../protocol/stream-events.ts';
import { markDeleted, removeRows } from '../store/deletion.ts';
import { calling } from '../testing/puppet-model.ts';
import { never, startedWorkstreams } from '../workstreams/workstreams-fixture.ts';

type Fixture = Awaited<ReturnType<typeof startedWorkstreams>>;

/** What a snapshot tells between the messages. */
const told = async ({ parts, main }: Fixture) => (await parts.snapshots.take(main())).snapshot.notes?.map(toLine);

const toLine = (note: HistoryNote): string => {
  if (note.kind !== 'decision') return `${note.after_seq} ${note.kind}: ${note.message}`;
  const { after_seq, question, calls, approved, always, feedback, by } = note;
  const names = calls.map(({ name, call_id }) => `${name} ${call_id}`).join();
  return `${after_seq} ${question} ${names}: ${approved ? 'yes' : 'no'}${always ? ', always' : ''} "${feedback}" (${by.kind === 'principal' ? by.id : by.kind})`;
};

const command = ({ parts, main }: Fixture, line: string) => parts.commands.run(main(), line);

async function say(fixture: Fixture, message: string): Promise<void> {
  await (await fixture.send(message))?.ended;
}

/** Asks for one call of `touch` and decides it. */
async function decide(fixture: Fixture, decision: { approved: boolean; feedback?: string; always?: boolean }) {
  fixture.puppet.turn(calling('touch', { text: 'a' }, 'call_a'));
  const run = await fixture.send('touch it');
  await fixture.reaches('approve_request');
  const approval = fixture.main().current?.pendingApproval() ?? assert.fail('nothing waits');
  await fixture.parts.approvals.resolve(approval.approvalId, {
    feedback: '',
    always: false,
    by: { kind: 'principal', id: 'ada' },
    ...decision,
  });
  await run?.ended;
}

test('a snapshot tells what commands said, where they said it, also after a crash', async () => {
  await using fixture = await startedWorkstreams();
  await command(fixture, '/name first');
  await say(fixture, 'hello');
  await command(fixture, '/name ');
  await command(fixture, '/name second');
  const expected = [
    '0 info: This workstream is now called first.',
    '2 error: Command error: Usage: /name NAME',
    '2 info: This workstream is now called second.',
  ];
  assert.deepEqual(await told(fixture), expected);
  await fixture.crash();
  assert.deepEqual(await told(fixture), expected);
});

test('a snapshot tells why a run failed, behind what it had said', async () => {
  await using fixture = await startedWorkstreams();
  fixture.puppet.turn('Hel', new Error('a defect'));
  await say(fixture, 'hello');
  assert.deepEqual(await told(fixture), ['2 error: Error: Internal error (see the daemon’s log)']);
});

for (const { name, decision, line } of [
  { name: 'denied with a reason', decision: { approved: false, feedback: 'not now' }, line: 'no "not now" (ada)' },
  { name: 'approved for good', decision: { approved: true, always: true }, line: 'yes, always "" (ada)' },
])
  test(`a snapshot tells that a call was ${name}, and by whom`, async () => {
    await using fixture = await startedWorkstreams();
    await decide(fixture, decision);
    assert.deepEqual(await told(fixture), [`2 tools touch call_a: ${line}`]);
  });

test('what is told during a turn is in the events that follow the snapshot, and not in the snapshot too', async () => {
  await using fixture = await startedWorkstreams();
  await command(fixture, '/name before');
  fixture.puppet.turn(never());
  await fixture.send('hello');
  await fixture.reaches('thinking_start');
  await command(fixture, '/name during');
  const { after, snapshot } = await fixture.parts.snapshots.take(fixture.main());
  const later = (await fixture.eventsOf(fixture.main().data.wsId)).slice(after);
  assert.deepEqual(
    {
      notes: snapshot.notes?.map(toLine),
      events: later.filter(({ type }) => type === 'info').length,
    },
    { notes: ['0 info: This workstream is now called before.'], events: 1 },
  );
});

test('pages share no note, and the first one has those before the first message', async () => {
  await using fixture = await startedWorkstreams();
  await command(fixture, '/name zero');
  for (const name of ['two', 'four']) {
    await say(fixture, name);
    await command(fixture, `/name ${name}`);
  }
  const { notes } = fixture.parts;
  const { wsId } = fixture.main().data;
  const page = async (from: number, upTo: number) =>
    (await notes.page(wsId, { from, upTo })).map(({ after_seq }) => after_seq);
  assert.deepEqual([await page(4, 4), await page(2, 3), await page(0, 1)], [[4], [2], [0]]);
});

test('of very many notes between two messages the newest are told', async () => {
  await using fixture = await startedWorkstreams();
  const { wsId } = fixture.main().data;
  const events = Array.from({ length: 300 }, (_, index) => ({ type: 'info' as const, message: `${index}` }));
  await fixture.parts.store.commit({ events: { wsId, events } });
  const lines = await told(fixture);
  assert.deepEqual([lines?.length, lines?.at(0), lines?.at(-1)], [200, '0 info: 100', '0 info: 299']);
});

test('/clear leaves nothing of before, and /new and /resume take what was told along', async () => {
  await using fixture = await startedWorkstreams();
  await say(fixture, 'hello');
  await command(fixture, '/name garden');
  await command(fixture, '/new');
  const [saved] = await fixture.parts.store.db.selectFrom('workstreams').selectAll().where('loaded', '=', 0).execute();
  assert.ok(saved);
  assert.deepEqual(await told(fixture), [`2 info: The conversation was saved as ${saved.generated_name}.`]);
  await command(fixture, `/resume ${saved.ws_id}`);
  assert.deepEqual(await told(fixture), ['4 info: This workstream is now called garden.']);
  await command(fixture, '/clear');
  assert.deepEqual(await told(fixture), undefined);
});

test('notes go with the conversation when it is deleted', async () => {
  await using fixture = await startedWorkstreams();
  await command(fixture, '/help');
  const { store } = fixture.parts;
  const { wsId } = fixture.main().data;
  await store.commit({ statements: [markDeleted(wsId)] });
  await removeRows(store, wsId);
  assert.deepEqual(await store.db.selectFrom('notes').selectAll().execute(), []);
});

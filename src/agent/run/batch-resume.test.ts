import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../message.ts';
import { runBatch } from './batch.ts';
import type { JournalEntry } from './journal.ts';
import { approvedBatch, askedBatch, callOf, digestOf, type FixtureOptions, runFixture } from './run-fixture.ts';

const ONE = callOf('one');
const TWO = callOf('two');
const ASKS = { act: { needsApproval: true } };
const SAFE = { act: { safeToRepeat: true, needsApproval: true } };

const started = (callId: string, safeToRepeat = false): JournalEntry => ({
  kind: 'tool_started',
  callId,
  safeToRepeat,
});
const finished = (callId: string): JournalEntry => ({ kind: 'tool_finished', callId });
const outcomeAsked = (digests: Record<string, string>, approvalId = 'apr_9'): JournalEntry[] => [
  { kind: 'approval_asked', approvalId, question: 'outcome', digests },
];
const outcomeDecided = (approved: boolean, approvalId = 'apr_9'): JournalEntry => ({
  kind: 'approval_decided',
  approvalId,
  decision: { approved, feedback: '', always: false, by: { kind: 'principal', id: 'someone' } },
});

/** Resumes a batch. `ran`: the executed calls; `results`: what the model reads. */
async function resume(journal: JournalEntry[], options: FixtureOptions = {}, answers: [string, object][] = []) {
  const ran: string[] = [];
  const before = options.messages?.length ?? 1;
  const fixture = runFixture({ tools: ASKS, ...options, journal });
  const { toolbox } = fixture.run;
  fixture.run.toolbox = {
    ...toolbox,
    async prepare(call, context) {
      const prepared = await toolbox.prepare(call, context);
      if (prepared.kind === 'refused') return prepared;
      return {
        ...prepared,
        execute: (run) => {
          ran.push(call.id);
          return prepared.execute(run);
        },
      };
    },
  };
  const done = runBatch(fixture.run);
  for (const [approvalId, decision] of answers) await fixture.answer(decision, approvalId);
  await done;
  const results = fixture.messages.slice(before).map(toText);
  return { ...fixture, ran, results };
}

const toText = (message: Message): string => (message.role === 'tool' ? message.output : message.content);
const UNKNOWN = 'Outcome unknown: Headgate stopped while this ran, and it was not run again.';

test('a pending question keeps waiting under its id and is not asked again', async () => {
  const { events, results } = await resume(askedBatch([ONE]), {}, [['apr_0', {}]]);
  assert.deepEqual([results, events.map(({ type }) => type)], [['one ran'], ['tool_result']]);
});

test('an approved batch that had not started runs without another question', async () => {
  const { ran, events } = await resume(approvedBatch([ONE, TWO]));
  assert.deepEqual(ran, ['one', 'two']);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['tool_result', 'tool_result'],
  );
});

test('a denied batch whose results were not recorded is denied', async () => {
  const { ran, results } = await resume(approvedBatch([ONE], { approved: false, feedback: 'no' }));
  assert.deepEqual([ran, results], [[], ['Denied by user: no']]);
});

test('a batch without questions continues, even if auto-approve was switched off meanwhile', async () => {
  const digests = { one: digestOf(ONE), two: digestOf(TWO) };
  const { ran, events } = await resume([
    { kind: 'started' },
    { kind: 'model_called', afterSeq: 1 },
    { kind: 'model_answered', calls: [ONE, TWO] },
    { kind: 'batch_cleared', digests },
    started('one'),
    finished('one'),
  ]);
  assert.deepEqual([ran, events.map(({ type }) => type)], [['two'], ['tool_result']]);
});

test('a call with a result is not run again', async () => {
  const { ran } = await resume([...approvedBatch([ONE, TWO]), started('one'), finished('one')]);
  assert.deepEqual(ran, ['two']);
});

test('an interrupted call that is safe to repeat runs again without a question', async () => {
  const { ran, events } = await resume([...approvedBatch([ONE]), started('one', true)], { tools: SAFE });
  assert.deepEqual([ran, events.map(({ type }) => type)], [['one'], ['tool_result']]);
});

test('an interrupted call that cannot be repeated may have had its effect, also if repeating it does no harm', async () => {
  const journal = [...approvedBatch([ONE]), started('one', true)];
  const refused = { tools: { act: { ...SAFE.act, refuses: 'The node cannot be reached.' } } };
  const changed = { tools: { act: { ...SAFE.act, bindTo: 'paired again' } } };
  for (const options of [refused, changed]) {
    const { ran, results } = await resume(journal, options);
    assert.deepEqual([ran, results[0]?.startsWith(UNKNOWN)], [[], true]);
  }
  const looks = { tools: { act: { ...changed.tools.act, readOnly: true } } };
  assert.equal((await resume(journal, looks)).results[0]?.startsWith('Not run'), true);
});

test('a person is asked about an interrupted call; if approved, it runs again', async () => {
  const { ran, results, events, steps } = await resume([...approvedBatch([ONE, TWO]), started('one')], {}, [
    ['apr_1', {}],
  ]);
  assert.deepEqual(
    [ran, results],
    [
      ['one', 'two'],
      ['one ran', 'two ran'],
    ],
  );
  assert.deepEqual(
    [steps[0]?.approval?.kind, steps[0]?.approval?.digests, events[1]],
    ['outcome', { one: digestOf(ONE) }, { type: 'ws_state', ws_id: 'ws-1', state: 'attention' }],
  );
});

test('a skipped interrupted call is not run again, and the rest of the batch continues', async () => {
  const { ran, results } = await resume([...approvedBatch([ONE, TWO]), started('one')], {}, [
    ['apr_1', { approved: false, feedback: 'I did it myself.' }],
  ]);
  assert.deepEqual([ran, results], [['two'], [`${UNKNOWN} I did it myself.`, 'two ran']]);
});

test('a pending question about an outcome keeps waiting under its id', async () => {
  const journal = [...approvedBatch([ONE]), started('one'), ...outcomeAsked({ one: digestOf(ONE) })];
  const { ran, events } = await resume(journal, {}, [['apr_9', {}]]);
  assert.deepEqual([ran, events.map(({ type }) => type)], [['one'], ['tool_result']]);
});

test('an answered question about an outcome is not asked again', async () => {
  const journal = [...approvedBatch([ONE]), started('one'), ...outcomeAsked({ one: digestOf(ONE) })];
  assert.deepEqual((await resume([...journal, outcomeDecided(true)])).ran, ['one']);
  const skipped = await resume([...journal, outcomeDecided(false)]);
  assert.deepEqual([skipped.ran, skipped.results], [[], [UNKNOWN]]);
});

test('a call interrupted a second time is asked about a second time', async () => {
  const journal = [
    ...approvedBatch([ONE]),
    started('one'),
    ...outcomeAsked({ one: digestOf(ONE) }),
    outcomeDecided(true),
    started('one'),
  ];
  const { ran, results, events } = await resume(journal, {}, [['apr_1', { approved: false }]]);
  assert.deepEqual([ran, results, events[0]?.type], [[], [UNKNOWN], 'approve_request']);
});

test('an answer about one call does not apply to another one interrupted later', async () => {
  const journal = [
    ...approvedBatch([ONE, TWO]),
    started('one'),
    ...outcomeAsked({ one: digestOf(ONE) }),
    outcomeDecided(false),
    finished('one'),
    started('two'),
  ];
  const { ran, results } = await resume(journal, {}, [['apr_1', {}]]);
  assert.deepEqual([ran, results], [['two'], ['two ran']]);
});

test('a call that no longer matches its approval is not run', async () => {
  const { ran, results } = await resume(approvedBatch([ONE]), {
    tools: { act: { needsApproval: true, bindTo: 'new' } },
  });
  assert.deepEqual(
    [ran, results],
    [[], ['Not run: it no longer matches what was approved (a file or the working directory has changed).']],
  );
});

test('a call runs again only if it matches what the person saw in the question about its outcome', async () => {
  const changed = { tools: { act: { needsApproval: true, bindTo: 'half written' } } };
  const asked = await resume([...approvedBatch([ONE]), started('one')], changed, [['apr_1', {}]]);
  assert.deepEqual(asked.ran, ['one']);
  const journal = [
    ...approvedBatch([ONE]),
    started('one'),
    ...outcomeAsked({ one: digestOf(ONE, 'seen') }),
    outcomeDecided(true),
  ];
  assert.deepEqual((await resume(journal, changed)).ran, []);
});

test('feedback is also recorded after a restart, and only once', async () => {
  const journal = [...approvedBatch([ONE], { feedback: 'be quick' }), started('one'), finished('one')];
  const results: Message[] = [
    { role: 'user', content: 'hello' },
    { role: 'tool', callId: 'one', name: 'act', output: 'one ran', outcome: 'done' },
  ];
  assert.deepEqual((await resume(journal, { messages: [...results] })).results, ['be quick']);
  const recorded: Message[] = [...results, { role: 'user', content: 'be quick' }];
  const { steps } = await resume(journal, { messages: recorded });
  assert.deepEqual(steps, []);
});

test('feedback with "run again" reaches the model', async () => {
  const { results } = await resume([...approvedBatch([ONE]), started('one')], {}, [
    ['apr_1', { feedback: 'carefully' }],
  ]);
  assert.deepEqual(results, ['one ran', 'carefully']);
});

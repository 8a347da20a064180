import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBatch } from '../batch.ts';
import type { JournalEntry } from '../journal.ts';
import { approvedBatch, askedBatch, callOf } from '../run-fixture.ts';
import { BASH, batch, blocked, rule } from './tool-policies-fixture.ts';

test('after a restart between question, decision and start, a deny still holds', async () => {
  const rules = [rule('bash', 'deny')];
  const decided = batch([BASH], { rules, journal: approvedBatch([BASH]) });
  await runBatch(decided.run);
  assert.deepEqual(decided.results(), [`1 blocked: ${blocked('bash')}`]);
  const open = batch([BASH], { rules, journal: askedBatch([BASH]) });
  const done = runBatch(open.run);
  await open.answer({}, 'apr_0');
  await done;
  assert.deepEqual(open.results(), [`1 blocked: ${blocked('bash')}`]);
});

const UNKNOWN = 'Outcome unknown: Headgate stopped while this ran, and it was not run again.';
const INTERRUPTED: JournalEntry[] = [
  ...approvedBatch([BASH]),
  { kind: 'tool_started', callId: '1', safeToRepeat: false },
];

test('an interrupted call that a policy denies keeps its outcome unknown, and nobody is asked', async () => {
  const { run, results, asked } = batch([BASH], { rules: [rule('*', 'deny')], journal: INTERRUPTED });
  await runBatch(run);
  assert.deepEqual([results(), asked()], [[`1 unknown: ${UNKNOWN} ${blocked('bash')}`], false]);
});

test('so does one that could be repeated without harm, also if the deny comes just before it is', async () => {
  const journal: JournalEntry[] = [...approvedBatch([BASH]), { kind: 'tool_started', callId: '1', safeToRepeat: true }];
  const deny = [rule('*', 'deny')];
  const early = batch([BASH], { rules: deny, journal });
  await runBatch(early.run);
  const before = async () => void late.change(deny);
  const late = batch([BASH], { journal, checkpoint: { before, ended: async () => undefined } });
  await runBatch(late.run);
  const expected = [`1 unknown: ${UNKNOWN} ${blocked('bash')}`];
  assert.deepEqual([early.results(), late.results()], [expected, expected]);
});

test('a deny that comes while a person is asked about an interrupted call stops it', async () => {
  const { run, results, change, answer, events } = batch([BASH], { journal: INTERRUPTED });
  const done = runBatch(run);
  while (events.length === 0) await new Promise(setImmediate);
  change([rule('bash', 'deny')]);
  await answer();
  await done;
  assert.deepEqual(results(), [`1 unknown: ${UNKNOWN} ${blocked('bash')}`]);
});

test('a policy that allows a tool does not answer for an interrupted call', async () => {
  const { run, results, asked, answer } = batch([BASH], { rules: [rule('*', 'allow')], journal: INTERRUPTED });
  const done = runBatch(run);
  await answer({ approved: false });
  await done;
  assert.deepEqual([results(), asked()], [[`1 unknown: ${UNKNOWN}`], true]);
});

test('a policy that allows a tool does not lift the question about repetitions', async () => {
  const same = () => callOf('x', 'bash', '{}');
  const calls = Array.from({ length: 4 }, (_, index) => ({ ...same(), id: `${index}` }));
  const journal: JournalEntry[] = [{ kind: 'started' }];
  const options = { rules: [rule('*', 'allow')], tools: { bash: { needsApproval: true, execute: same2 } } };
  let last = batch([], { ...options, journal: [] });
  for (const call of calls) {
    journal.push({ kind: 'model_called', afterSeq: 1 }, { kind: 'model_answered', calls: [call] });
    last = batch([], { ...options, journal: [...journal] });
    const done = runBatch(last.run);
    if (call.id === '3') await last.answer();
    await done;
    journal.push(...last.journal);
  }
  assert.deepEqual([last.asked(), last.items().map(({ repeated }) => repeated)], [true, [2]]);
});

const same2 = () => ({ output: 'same', outcome: 'done' as const });

test('a run that repeats a denied call is told the same, and is not asked about it', async () => {
  const journal: JournalEntry[] = [{ kind: 'started' }];
  for (let turn = 0; turn < 5; turn += 1) {
    const call = callOf(`${turn}`, 'bash', '{}');
    journal.push({ kind: 'model_called', afterSeq: 1 }, { kind: 'model_answered', calls: [call] });
    const {
      run,
      results,
      asked,
      journal: added,
    } = batch([], {
      rules: [rule('*', 'deny')],
      journal: [...journal],
    });
    await runBatch(run);
    assert.deepEqual([results(), asked()], [[`${turn} blocked: ${blocked('bash')}`], false]);
    journal.push(...added);
  }
  assert.equal(journal.filter((entry) => entry.kind === 'tool_finished' && entry.trace?.kind === 'stopped').length, 3);
});

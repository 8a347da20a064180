import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBatch } from '../batch.ts';
import type { FakeTool } from '../fake-toolbox.ts';
import type { JournalEntry } from '../journal.ts';
import { approvedBatch, callOf, type FixtureOptions, foldEntries, has, runFixture } from '../run-fixture.ts';
import type { UnattendedPolicy } from './unattended-policy.ts';

const TOOLS: Record<string, FakeTool> = {
  bash: { needsApproval: true },
  write: { needsApproval: true },
  look: { readOnly: true, safeToRepeat: true },
};
const POLICIES: UnattendedPolicy[] = [{ mode: 'deny' }, { mode: 'allow', tools: ['bash'] }];
const BATCH = [callOf('1', 'bash'), callOf('2', 'write'), callOf('3', 'look')];

const ANSWERED: JournalEntry[] = [
  { kind: 'started' },
  { kind: 'model_called', afterSeq: 1 },
  { kind: 'model_answered', calls: BATCH },
];

/** A batch of three tools, with the results that its model reads. */
function batchUnder(options: FixtureOptions) {
  const fixture = runFixture({ tools: TOOLS, journal: ANSWERED, ...options });
  const results = () =>
    fixture.messages.flatMap((message) => (message.role === 'tool' ? [`${message.callId}: ${message.output}`] : []));
  return { ...fixture, fixture, results: () => results().sort() };
}

test('in an unattended run, the policy deny refuses calls that need approval at once; other calls run', async () => {
  const { run, results, fixture } = batchUnder({ policy: { mode: 'deny' } });
  await runBatch(run);
  const refused = 'Not run: no approver was available, and the job’s policy is deny.';
  assert.deepEqual(results(), [`1: ${refused}`, `2: ${refused}`, '3: 3 ran']);
  assert.equal(has(fixture, 'approve_request'), false);
  const told = fixture.events.flatMap((event) => (event.type === 'tool_result' ? [event.is_error] : []));
  assert.deepEqual(told, [true, true, false]);
});

test('a withheld policy refuses the tools that it allows, with the reason', async () => {
  const { run, results } = batchUnder({ policy: { mode: 'withheld', tools: ['bash'] } });
  await runBatch(run);
  assert.deepEqual(results().slice(0, 1), [
    '1: Not run: no approver was available, and the job’s policy does not apply while this conversation contains text from a caller without the approve scope.',
  ]);
});

test('a policy that allows tools clears their calls and refuses the others', async () => {
  const { run, results, journal } = batchUnder({ policy: { mode: 'allow', tools: ['bash'] } });
  await runBatch(run);
  assert.deepEqual(results(), [
    '1: 1 ran',
    '2: Not run: no approver was available, and the job’s policy allows only bash.',
    '3: 3 ran',
  ]);
  const cleared = journal.find(({ kind }) => kind === 'batch_cleared');
  assert.deepEqual(cleared?.kind === 'batch_cleared' && Object.keys(cleared.digests), ['1', '3']);
});

test('calls refused by the policy are not judged again after a restart', async () => {
  const crash = new Error('crash');
  const first = batchUnder({
    policy: { mode: 'allow', tools: ['bash'] },
    onRecord({ journal = [] }) {
      if (journal.some(({ kind }) => kind === 'tool_started')) throw crash;
    },
  });
  await assert.rejects(runBatch(first.run), crash);
  const { messages } = first;
  const journal = [...ANSWERED, ...first.journal];
  const resumed = batchUnder({ policy: { mode: 'deny' }, journal, messages });
  await runBatch(resumed.run);
  assert.deepEqual(resumed.results(), [
    '1: 1 ran',
    '2: Not run: no approver was available, and the job’s policy allows only bash.',
    '3: 3 ran',
  ]);
});

for (const policy of POLICIES) {
  test(`a subscribed approver is asked instead of the policy (${policy.mode})`, async () => {
    const { run, results, fixture } = batchUnder({ policy, isWatched: true });
    const done = runBatch(run);
    await fixture.answer({ approved: true });
    await done;
    assert.deepEqual(results(), ['1: 1 ran', '2: 2 ran', '3: 3 ran']);
  });
}

test('calls of listed tools need no approval, even if an approver is subscribed', async () => {
  const { run, results, fixture } = batchUnder({
    policy: { mode: 'allow', tools: ['bash', 'write'] },
    isWatched: true,
  });
  await runBatch(run);
  assert.deepEqual([results(), has(fixture, 'approve_request')], [['1: 1 ran', '2: 2 ran', '3: 3 ran'], false]);
});

test('the policy wait asks as usual', async () => {
  const { run, results, fixture } = batchUnder({ policy: { mode: 'wait' } });
  const done = runBatch(run);
  await fixture.answer({ approved: false, feedback: 'Approval timed out after 60 s', by: { kind: 'timeout' } });
  await done;
  assert.deepEqual(
    results(),
    BATCH.map(({ id }) => `${id}: Approval timed out after 60 s`),
  );
});

for (const policy of POLICIES) {
  test(`a call interrupted by a crash is not run again while no approver is subscribed (${policy.mode})`, async () => {
    const calls = [callOf('1', 'bash')];
    const journal: JournalEntry[] = [
      ...approvedBatch(calls),
      { kind: 'tool_started', callId: '1', safeToRepeat: false },
    ];
    const { run, results, fixture } = batchUnder({ policy, journal });
    await runBatch(run);
    assert.deepEqual(results(), [
      '1: Outcome unknown: Headgate stopped while this ran, and it was not run again. No approver was available.',
    ]);
    assert.equal(has(fixture, 'approve_request'), false);
    assert.equal(foldEntries([...journal, ...fixture.journal]).tools.get('1')?.state, 'finished');
  });
}

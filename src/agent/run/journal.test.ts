import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advance, type Decision, type JournalEntry, newProgress, openCalls, pendingApproval } from './journal.ts';
import { askedBatch, callOf, foldEntries } from './run-fixture.ts';

const ONE = callOf('one');
const TWO = callOf('two');
const YES: Decision = { approved: true, feedback: '', always: false, by: { kind: 'principal', id: 'someone' } };
const answered: JournalEntry[] = [
  { kind: 'accepted' },
  { kind: 'started' },
  { kind: 'model_called', afterSeq: 1 },
  { kind: 'model_answered', calls: [ONE, TWO] },
];

test('a run is queued until it is started', () => {
  assert.deepEqual(foldEntries([{ kind: 'accepted' }]), newProgress());
  assert.deepEqual(foldEntries([{ kind: 'accepted' }, { kind: 'started' }]), { ...newProgress(), phase: 'started' });
});

test('a repeated turn counts as another attempt of the same turn', () => {
  const called = foldEntries([
    { kind: 'started' },
    { kind: 'model_called', afterSeq: 4 },
    { kind: 'model_called', afterSeq: 4 },
  ]);
  assert.deepEqual(called, { ...newProgress(), phase: 'generating', afterSeq: 4, attempts: 2, turns: 1 });
});

test('an orderly stop does not count as an attempt; only crashes do', () => {
  const stoppedTwice = foldEntries([
    { kind: 'started' },
    { kind: 'model_called', afterSeq: 4 },
    { kind: 'suspended' },
    { kind: 'model_called', afterSeq: 4 },
    { kind: 'suspended' },
    { kind: 'model_called', afterSeq: 4 },
  ]);
  assert.deepEqual(stoppedTwice, { ...newProgress(), phase: 'generating', afterSeq: 4, attempts: 1, turns: 1 });
});

test('an answer starts a batch and discards the previous turn', () => {
  const progress = foldEntries([
    ...answered,
    { kind: 'batch_cleared', digests: { one: 'd' } },
    { kind: 'tool_started', callId: 'one', safeToRepeat: true },
    { kind: 'tool_finished', callId: 'one' },
    { kind: 'model_called', afterSeq: 5 },
    { kind: 'model_answered', calls: [callOf('three')] },
  ]);
  assert.deepEqual(progress, {
    ...newProgress(),
    phase: 'batch',
    afterSeq: 5,
    turns: 2,
    calls: [callOf('three')],
  });
});

test('a question is pending until its decision is recorded', () => {
  const progress = foldEntries([
    ...answered,
    { kind: 'approval_asked', approvalId: 'apr_1', question: 'tools', digests: { one: 'd' } },
  ]);
  const asked = { approvalId: 'apr_1', question: 'tools' as const, digests: { one: 'd' } };
  assert.deepEqual(pendingApproval(progress), asked);
  advance(progress, { kind: 'approval_decided', approvalId: 'apr_other', decision: YES });
  assert.deepEqual(pendingApproval(progress), asked);
  advance(progress, { kind: 'approval_decided', approvalId: 'apr_1', decision: YES });
  assert.deepEqual([pendingApproval(progress), progress.approval], [undefined, { ...asked, decision: YES }]);
});

test('a question about outcomes is separate from the decided one about the tools', () => {
  const progress = foldEntries([
    ...askedBatch([ONE]),
    { kind: 'approval_decided', approvalId: 'apr_0', decision: YES },
    { kind: 'tool_started', callId: 'one', safeToRepeat: false },
    { kind: 'approval_asked', approvalId: 'apr_1', question: 'outcome', digests: { one: 'd' } },
  ]);
  assert.deepEqual(
    [pendingApproval(progress)?.approvalId, progress.approval?.decision, progress.outcomeApproval?.decision],
    ['apr_1', YES, undefined],
  );
});

test('an answer about an outcome is used up when the call starts again', () => {
  const progress = foldEntries([
    ...askedBatch([ONE, TWO]),
    { kind: 'approval_asked', approvalId: 'apr_1', question: 'outcome', digests: { one: 'd1', two: 'd2' } },
    { kind: 'approval_decided', approvalId: 'apr_1', decision: YES },
    { kind: 'tool_started', callId: 'one', safeToRepeat: false },
  ]);
  assert.deepEqual(progress.outcomeApproval, {
    approvalId: 'apr_1',
    question: 'outcome',
    digests: { two: 'd2' },
    decision: YES,
  });
});

test('a batch without questions is decided by policy', () => {
  const progress = foldEntries([...answered, { kind: 'batch_cleared', digests: { one: 'd' } }]);
  assert.deepEqual(progress.approval, {
    approvalId: '',
    question: 'tools',
    digests: { one: 'd' },
    decision: { approved: true, feedback: '', always: false, by: { kind: 'policy' } },
  });
});

test('a tool keeps its process, and whether it is safe to repeat, after its end', () => {
  const process = { pid: 7, startTicks: 9 };
  const progress = foldEntries([
    ...answered,
    { kind: 'tool_process', callId: 'one', process },
    { kind: 'tool_started', callId: 'one', safeToRepeat: true },
    { kind: 'tool_process', callId: 'one', process },
    { kind: 'tool_finished', callId: 'one' },
    { kind: 'tool_finished', callId: 'two' },
  ]);
  assert.deepEqual(Object.fromEntries(progress.tools), {
    one: { state: 'finished', safeToRepeat: true, process },
    two: { state: 'finished', safeToRepeat: true },
  });
});

test('open calls are those of the current batch without a result', () => {
  const progress = foldEntries(answered);
  assert.deepEqual(openCalls(progress), [ONE, TWO]);
  advance(progress, { kind: 'tool_started', callId: 'one', safeToRepeat: false });
  advance(progress, { kind: 'tool_finished', callId: 'two' });
  assert.deepEqual(openCalls(progress), [ONE]);
  advance(progress, { kind: 'ended', status: 'cancelled' });
  assert.deepEqual([progress.phase, openCalls(progress)], ['ended', []]);
});

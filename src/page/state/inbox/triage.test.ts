import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Triage } from './triage.ts';

function setUp() {
  const due: (() => void)[] = [];
  const did: string[] = [];
  const triage = new Triage({
    after(ms, run) {
      assert.equal(ms, 5_000);
      due.push(run);
      return () => void due.splice(due.indexOf(run), 1);
    },
  });
  const hold = (key: string, problem?: string) =>
    triage.hold({
      key,
      words: `Approved: ${key}`,
      async act() {
        did.push(key);
        return problem;
      },
    });
  return { triage, due, did, hold };
}

test('a decision by a key is sent after five seconds, and can be taken back before', async () => {
  const { triage, due, did, hold } = setUp();
  hold('a');
  assert.deepEqual([triage.held.value?.words, did], ['Approved: a', []]);
  triage.undo();
  assert.deepEqual([triage.held.value, due.length, did], [undefined, 0, []]);
  hold('a');
  due[0]?.();
  await new Promise(setImmediate);
  assert.deepEqual([triage.held.value, did], [undefined, ['a']]);
});

test('the next decision, and leaving the inbox, send the one before, once', async () => {
  const { triage, did, hold } = setUp();
  hold('a');
  hold('b');
  assert.deepEqual([triage.held.value?.key, did], ['b', ['a']]);
  await Promise.all([triage.finish(), triage.finish()]);
  assert.deepEqual(did, ['a', 'b']);
  triage.undo();
  assert.equal(triage.held.value, undefined);
});

test('what is being sent cannot be taken back, and a refusal is told until the next decision', async () => {
  const { triage, did, hold } = setUp();
  hold('a', 'refused');
  const sending = triage.finish();
  triage.undo();
  assert.equal(triage.held.value?.key, 'a', 'too late');
  await sending;
  assert.deepEqual([triage.problem.value, triage.held.value, did], ['refused', undefined, ['a']]);
  hold('b');
  assert.equal(triage.problem.value, undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTrace, type CallTrace, endTurn, fingerprint, newRepeats, resultHash, verdictOf } from './repeats.ts';

const A = { call: 'a', digest: 'da' };
const result = (call: string, text: string, more: { changes?: true } = {}): CallTrace => ({
  kind: 'result',
  call,
  result: text,
  ...more,
});
const stopped: CallTrace = { kind: 'stopped', call: 'a' };

/** The verdicts about call A after each trace. */
function verdictsAfter(...traces: CallTrace[]): string[] {
  const repeats = newRepeats();
  return traces.map((trace, index) => {
    addTrace(repeats, trace, index);
    return verdictOf(repeats, A, index + 1);
  });
}

test('the third call with the same result is stopped, and a person is asked about the next one', () => {
  assert.deepEqual(verdictsAfter(result('a', 'x'), result('a', 'x'), stopped), ['run', 'stop', 'ask']);
});

test('a poll with changing results is never stopped', () => {
  const verdicts = verdictsAfter(...['1', '2', '2', '3', '3', '4'].map((text) => result('a', text)));
  assert.deepEqual(verdicts, ['run', 'run', 'stop', 'run', 'stop', 'run']);
});

test('an allowed repetition with a new result starts the count again', () => {
  const verdicts = verdictsAfter(result('a', 'x'), result('a', 'x'), stopped, result('a', 'x'), result('a', 'y'));
  assert.deepEqual(verdicts, ['run', 'stop', 'ask', 'ask', 'run']);
});

test('a call that may have changed something allows the others again, unless it is a repetition', () => {
  const edit = result('edit', 'done', { changes: true });
  const verdicts = verdictsAfter(result('a', 'x'), result('a', 'x'), edit, result('a', 'x'), result('a', 'x'), edit);
  assert.deepEqual(verdicts, ['run', 'stop', 'run', 'run', 'stop', 'stop']);
  assert.deepEqual(verdictsAfter(result('a', 'x'), result('a', 'x'), result('read', 'new')), ['run', 'stop', 'stop']);
});

for (const count of [2, 3]) {
  test(`a cycle of ${count} calls that change something is stopped, one after the other`, () => {
    const calls = Array.from({ length: count }, (_, index) => ({ call: `c${index}`, digest: `d${index}` }));
    const repeats = newRepeats();
    let ran = 0;
    for (let turn = 1; turn <= 60; turn += 1) {
      const keys = calls[turn % count];
      if (!keys || verdictOf(repeats, keys, turn) !== 'run') continue;
      addTrace(repeats, result(keys.call, 'same', { changes: true }), turn);
      ran += 1;
    }
    assert.equal(ran, 3 * count - 1); // the first ones were new, which allowed the earlier ones again
  });
}

test('a test runs again after each new edit, but not after one that was made before', () => {
  const fails = result('a', 'failed', { changes: true });
  const edit = (name: string) => result(name, 'done', { changes: true });
  const edits = Array.from({ length: 20 }, (_, index) => [edit(`edit ${index}`), fails]).flat();
  assert.deepEqual(new Set(verdictsAfter(...edits)), new Set(['run']));
  const backAndForth = [edit('there'), fails, edit('back'), fails, edit('there'), fails];
  assert.equal(verdictsAfter(...backAndForth).at(-1), 'stop');
});

test('in the turn in which a call was stopped first, further ones are stopped without a question', () => {
  const repeats = newRepeats();
  for (const trace of [result('a', 'x'), result('a', 'x'), stopped]) addTrace(repeats, trace, 3);
  assert.deepEqual([verdictOf(repeats, A, 3), verdictOf(repeats, A, 4)], ['stop', 'ask']);
});

test('a denial holds for the approval that was denied', () => {
  const repeats = newRepeats();
  addTrace(repeats, { kind: 'denied', ...A }, 1);
  assert.deepEqual(
    [verdictOf(repeats, A, 2), verdictOf(repeats, { ...A, digest: 'another file' }, 2)],
    ['denied', 'run'],
  );
});

test('only turns in which every call was stopped count as stuck', () => {
  const repeats = newRepeats();
  const turns = [[stopped], [stopped, stopped], [stopped, result('b', 'x')], [stopped], []];
  const stuck = turns.map((traces) => {
    for (const trace of traces) addTrace(repeats, trace, 1);
    endTurn(repeats, traces.length);
    return repeats.stuckTurns;
  });
  assert.deepEqual(stuck, [1, 2, 0, 1, 0]);
});

test('calls are identical by tool and arguments, results by their text, outcome and exit code', () => {
  assert.notEqual(fingerprint('a', 'b'), fingerprint('ab', ''));
  const base = { output: 'x', outcome: 'done' } as const;
  const others = [
    { ...base, output: 'y' },
    { ...base, outcome: 'failed' as const },
    { ...base, exitCode: 1 },
  ];
  for (const other of others) assert.notEqual(resultHash(base), resultHash(other));
  const long = (name: string) => resultHash({ ...base, output: `in outputs/${name}`, kept: { name, bytes: 9 } });
  assert.equal(long('call-1'), long('call-2'));
});

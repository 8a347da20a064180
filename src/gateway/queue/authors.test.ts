import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorsOf, editorsAfter, lastAuthorOf } from './authors.ts';

test('all who wrote a message are its authors, and the latest editor is the last one', () => {
  const run = (editedBy?: string[]) => ({ principal: 'ada', request: editedBy ? { editedBy } : {} });
  assert.deepEqual([authorsOf(run()), lastAuthorOf(run())], [['ada'], 'ada']);
  assert.equal(editorsAfter(run(), 'ada'), undefined);
  const byBob = editorsAfter(run(), 'bob');
  assert.deepEqual(byBob, ['bob']);
  const byEve = editorsAfter(run(byBob), 'eve');
  const byBobAgain = editorsAfter(run(byEve), 'bob');
  assert.deepEqual(byBobAgain, ['eve', 'bob']);
  assert.deepEqual([authorsOf(run(byBobAgain)), lastAuthorOf(run(byBobAgain))], [['ada', 'eve', 'bob'], 'bob']);
  const byAda = editorsAfter(run(byBob), 'ada');
  assert.deepEqual([authorsOf(run(byAda)), lastAuthorOf(run(byAda))], [['ada', 'bob'], 'ada']);
});

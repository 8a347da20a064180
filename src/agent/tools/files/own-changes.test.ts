import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasChangedItself, noteChange } from './own-changes.ts';

test('only a chain of changes of the same conversation counts', () => {
  const [own, other] = ['own', 'other'];
  noteChange('/a', { wsId: own, from: '1', to: '2' });
  noteChange('/a', { wsId: own, from: '2', to: '3' });
  assert.equal(hasChangedItself('/a', { wsId: own, from: '1', to: '3' }), true);
  assert.equal(hasChangedItself('/a', { wsId: own, from: '1', to: '2' }), false, 'it is not that version any more');
  assert.equal(hasChangedItself('/a', { wsId: other, from: '1', to: '3' }), false);
  noteChange('/a', { wsId: other, from: '3', to: '4' });
  noteChange('/a', { wsId: own, from: '4', to: '5' });
  assert.equal(hasChangedItself('/a', { wsId: own, from: '1', to: '5' }), false);
  assert.equal(hasChangedItself('/a', { wsId: own, from: '4', to: '5' }), true);
  assert.equal(hasChangedItself('/b', { wsId: own, from: '1', to: '2' }), false);
});

test('the files that were changed last are remembered', () => {
  for (let index = 0; index <= 1_000; index += 1) noteChange(`/many/${index}`, { wsId: 'w', from: '1', to: '2' });
  const isKnown = (index: number) => hasChangedItself(`/many/${index}`, { wsId: 'w', from: '1', to: '2' });
  assert.deepEqual([isKnown(0), isKnown(1), isKnown(1_000)], [false, true, true]);
});

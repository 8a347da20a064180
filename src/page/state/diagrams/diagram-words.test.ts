import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDiagramName } from './diagram-words.ts';

test('a diagram is named by its kind, its title and its description', () => {
  assert.deepEqual(
    [
      { type: 'flowchart-v2', title: 'The way', description: 'From a to b' },
      { type: 'sequence', title: '', description: '' },
      { type: 'packet', title: '', description: 'Bits' },
    ].map(toDiagramName),
    ['Flowchart: The way. From a to b', 'Sequence diagram', 'Diagram. Bits'],
  );
});

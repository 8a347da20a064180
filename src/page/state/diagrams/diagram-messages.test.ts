import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SOURCE_CHARS, toDrawAnswer, toDrawRequest } from './diagram-messages.ts';

const picture = {
  kind: 'picture',
  id: 1,
  svg: '<svg/>',
  width: 2,
  height: 3,
  type: 'pie',
  title: ' a\n b ',
  description: 1,
};

test('an answer of the frame is read field by field', () => {
  const read = {
    kind: 'picture',
    id: 1,
    svg: '<svg/>',
    width: 2,
    height: 3,
    type: 'pie',
    title: 'a b',
    description: '',
  };
  assert.deepEqual(toDrawAnswer({ ...picture, more: 1 }), read);
  assert.deepEqual(toDrawAnswer({ kind: 'ready', id: 2 }), { kind: 'ready' });
  assert.deepEqual(toDrawAnswer({ kind: 'none', id: 1, reason: 'x'.repeat(900), isPassing: true }), {
    kind: 'none',
    id: 1,
    reason: 'x'.repeat(500),
  });
});

test('what is no answer, no picture or too large a picture is refused', () => {
  const wrong = [
    ...[undefined, null, 'ready', 1, [], {}, { kind: 'none' }, { ...picture, id: '1' }, { ...picture, kind: 'other' }],
    ...['', '<script>', 1, `<svg>${' '.repeat(1_000_000)}`].map((svg) => ({ ...picture, svg })),
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, 20_001, '5'].map((width) => ({ ...picture, width })),
  ];
  assert.deepEqual(
    wrong.map(toDrawAnswer),
    wrong.map(() => undefined),
  );
});

test('a request has a source of a length that is drawn', () => {
  const request = { id: 1, source: 'pie', isDark: false };
  assert.deepEqual(toDrawRequest({ ...request, securityLevel: 'loose' }), request);
  const wrong = [
    null,
    'pie',
    {},
    { ...request, id: '1' },
    { ...request, isDark: 1 },
    { ...request, source: 'x'.repeat(MAX_SOURCE_CHARS + 1) },
  ];
  assert.deepEqual(
    wrong.map(toDrawRequest),
    wrong.map(() => undefined),
  );
});

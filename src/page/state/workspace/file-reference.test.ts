import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFileReference } from './file-reference.ts';

test('paths in code are recognised, with their lines', () => {
  const found = (text: string) => {
    const target = toFileReference(text);
    return target && [target.path, target.line];
  };
  assert.deepEqual(found('src/page/main.tsx'), ['src/page/main.tsx', undefined]);
  assert.deepEqual(found('src/a.ts:12'), ['src/a.ts', 12]);
  assert.deepEqual(found('./src/a.ts:12:5'), ['src/a.ts', 12]);
  assert.deepEqual(found('src/a.ts#L20-L45'), ['src/a.ts', 20]);
  assert.deepEqual(found('src/a.ts:12-20'), ['src/a.ts', 12]);
  assert.deepEqual(found('/work/src/a.ts'), ['/work/src/a.ts', undefined]);
  assert.deepEqual(found('main.py'), ['main.py', undefined]);
  assert.deepEqual(found('docs/.hidden/a.conf'), ['docs/.hidden/a.conf', undefined]);
  for (const text of [
    'npm test',
    'console.log',
    'a/b',
    '../a.ts',
    'https://example.org/a.ts',
    '1.5',
    'v1.2.3',
    '',
    '/',
  ])
    assert.equal(found(text), undefined, text);
});

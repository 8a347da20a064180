import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LazyPart } from './lazy-part.ts';

test('a part is imported once, and again after a failure', async () => {
  const answers = [new Error('offline'), { view: 1 }];
  let imports = 0;
  const part = new LazyPart(async () => {
    const answer = answers[imports];
    imports += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  await Promise.all([part.load(), part.load()]);
  assert.deepEqual([part.module.value, part.problem.value, imports], [undefined, answers[0], 1]);
  await part.load();
  await part.load();
  assert.deepEqual([part.module.value, part.problem.value, imports], [{ view: 1 }, undefined, 2]);
});

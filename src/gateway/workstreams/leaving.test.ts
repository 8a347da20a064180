import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OnceKeys } from '../../timing/once-keys.ts';
import { Leaving } from './leaving.ts';

test('work that waits for a load begins in the turn in which nothing else is in progress', async () => {
  const [leaving, loads, happened] = [new Leaving(), new OnceKeys<void>(), [] as string[]];
  const load = (name: string) =>
    loads.run('w', async () => {
      await leaving.get('w');
      happened.push(`${name} begins`);
      await new Promise(setImmediate);
      happened.push(`${name} ends`);
    });
  const first = load('first');
  const changed = leaving.holdAfter('w', loads, async () => {
    happened.push('change begins');
    await new Promise(setImmediate);
    happened.push('change ends');
  });
  const second = first.then(() => load('second'));
  await Promise.all([changed, second]);
  const order = happened.join(', ');
  assert.match(
    order,
    /^first begins, first ends, (second begins, second ends, change begins, change ends|change begins, change ends, second begins, second ends)$/,
  );
  assert.equal(leaving.has('w'), false);
});

test('what nothing is in the way of is held at once', () => {
  const [leaving, loads] = [new Leaving(), new OnceKeys<void>()];
  void leaving.holdAfter('w', loads, () => new Promise(() => undefined));
  assert.equal(leaving.has('w'), true);
});

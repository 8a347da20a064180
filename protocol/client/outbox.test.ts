import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOutbox } from './outbox.ts';

function open() {
  const sent: string[] = [];
  const refused: (readonly string[])[] = [];
  const changes: (readonly string[])[] = [];
  let answer = Promise.withResolvers<boolean>();
  const outbox = createOutbox<string>({
    send(entry) {
      sent.push(entry);
      answer = Promise.withResolvers();
      return answer.promise;
    },
    onChange: (entries) => void changes.push(entries),
    onRefused: (entries) => void refused.push(entries),
  });
  return { outbox, sent, refused, changes, answer: (isTaken: boolean) => answer.resolve(isTaken) };
}

test('entries are sent one after another, in order', async () => {
  const { outbox, sent, changes, answer } = open();
  const done = outbox.add('a');
  void outbox.add('b');
  assert.deepEqual([sent, outbox.entries], [['a'], ['a', 'b']]);
  answer(true);
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual([sent, outbox.entries], [['a', 'b'], ['b']]);
  answer(true);
  await done;
  assert.deepEqual(changes, [['a'], ['a', 'b'], ['b'], []]);
});

test('after a refusal nothing that was added before it is sent, and later entries are', async () => {
  const { outbox, sent, refused, answer } = open();
  const done = outbox.add('a');
  void outbox.add('b');
  answer(false);
  await done;
  assert.deepEqual([sent, refused, outbox.entries], [['a'], [['a', 'b']], []]);
  const again = outbox.add('c');
  answer(true);
  await again;
  assert.deepEqual(sent, ['a', 'c']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError, RequestError } from '../../../../protocol/client/request-error.ts';
import { KeptKey } from './kept-key.ts';

/** Each call takes the next outcome: an error, or success without one. */
function open(...outcomes: (Error | undefined)[]) {
  let keys = 0;
  const sent: string[] = [];
  const key = new KeptKey(() => `key${++keys}`);
  const ask = (name: string) =>
    key.ask({ name }, async ({ idempotencyKey }) => {
      sent.push(`${name} ${idempotencyKey}`);
      const error = outcomes.shift();
      if (error) throw error;
    });
  return { ask, sent };
}

const lost = () => new ConnectionLostError('closed');
const late = () => new RequestError('TIMEOUT', 'no answer', { retryable: true });

test('a call without an answer is repeated with its key, at once and by the person', async () => {
  const { ask, sent } = open(lost(), late(), lost(), late(), late(), late());
  await assert.rejects(ask('a'), ConnectionLostError);
  await assert.rejects(ask('a'), RequestError);
  await ask('a');
  assert.deepEqual(sent, Array(7).fill('a key1'));
});

test('after an answer, and with other params, it is another call', async () => {
  const { ask, sent } = open(undefined, new RequestError('INVALID_REQUEST', 'no'), undefined, late(), late(), late());
  await ask('a');
  await assert.rejects(ask('a'), RequestError);
  await ask('a');
  await assert.rejects(ask('a'), RequestError);
  await ask('b');
  assert.deepEqual(sent, ['a key1', 'a key2', 'a key3', 'a key4', 'a key4', 'a key4', 'b key5']);
});

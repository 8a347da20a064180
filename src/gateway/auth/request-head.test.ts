import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOfHead } from './request-head.ts';

const twice = (first: string, second: string) =>
  problemOfHead([first, 'a', 'Accept', '*/*', second, 'a', 'Accept', 'text/html']);

for (const name of ['Host', 'Origin', 'Sec-Fetch-Site', 'Authorization', 'Content-Type']) {
  test(`${name} may be sent once, however it is spelled`, () => {
    assert.equal(problemOfHead([name, 'a']), undefined);
    for (const again of [name, name.toLowerCase(), name.toUpperCase()])
      assert.deepEqual(twice(name, again), {
        status: 400,
        text: `The header ${again} was sent more than once. Send it once.`,
      });
  });
}

test('other headers may be repeated', () => {
  for (const name of ['Cookie', 'X-Forwarded-For', 'Via', 'Hosts']) assert.equal(twice(name, name), undefined);
});

test('a request may have 100 headers, so that none of them is dropped silently', () => {
  const headers = (count: number) => Array.from({ length: count }, (_, n) => [`X-${n}`, '1']).flat();
  assert.equal(problemOfHead(headers(100)), undefined);
  assert.deepEqual(problemOfHead(headers(101)), { status: 431, text: 'The request has more than 100 headers' });
});

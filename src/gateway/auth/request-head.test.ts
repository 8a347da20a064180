import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOfHead } from './request-head.ts';

const problemOf = (...headers: string[]) => problemOfHead(['Via', '1.1 a', ...headers]);

const twice = (first: string, second: string) =>
  problemOf(...HOST, first, 'a', 'Accept', '*/*', second, 'a', 'Accept', 'text/html');

const HOST = ['hOST', 'localhost'];

for (const name of ['Host', 'Origin', 'Sec-Fetch-Site', 'Authorization', 'Content-Type']) {
  test(`${name} may be sent once, however it is spelled`, () => {
    assert.equal(problemOf(...(name === 'Host' ? [] : HOST), name, 'a'), undefined);
    for (const again of [name, name.toLowerCase(), name.toUpperCase()])
      assert.deepEqual(name === 'Host' ? problemOf(name, 'a', again, 'a') : twice(name, again), {
        status: 400,
        text: `The header ${again} was sent more than once. Send it once.`,
      });
  });
}

test('other headers may be repeated', () => {
  for (const name of ['Cookie', 'X-Forwarded-For', 'Via', 'Hosts']) assert.equal(twice(name, name), undefined);
});

test('a request has to name the host', () => {
  assert.deepEqual(problemOf('Accept', '*/*'), { status: 400, text: 'The header Host is missing' });
  assert.deepEqual(problemOfHead([]), { status: 400, text: 'The header Host is missing' });
});

test('a request may have 100 headers, so that none of them is dropped silently', () => {
  const headers = (count: number) => [...HOST, ...Array.from({ length: count - 1 }, (_, n) => [`X-${n}`, '1']).flat()];
  assert.equal(problemOfHead(headers(100)), undefined);
  assert.deepEqual(problemOfHead(headers(101)), { status: 431, text: 'The request has more than 100 headers' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askNewest, isNewer } from './newest-version.ts';

const ask = (fetch: () => Promise<Response>) =>
  askNewest({ fetch, registry: 'https://registry.example/', signal: new AbortController().signal });

const answer =
  (body: unknown, status = 200) =>
  async () =>
    new Response(JSON.stringify(body), { status });

test('the newest version is the one that the registry calls the latest', async () => {
  const asked: string[] = [];
  const newest = await askNewest({
    async fetch(url) {
      asked.push(String(url));
      return Response.json({ name: 'headgate', version: '1.2.3', engines: { node: '>=26' } });
    },
    registry: 'https://registry.example/',
    signal: new AbortController().signal,
  });
  assert.deepEqual([newest, asked], [{ version: '1.2.3', node: '>=26' }, ['https://registry.example/headgate/latest']]);
});

const refusals: [string, () => Promise<Response>, RegExp][] = [
  ['no package', answer({}, 404), /has no package headgate\.$/],
  ['an error', answer({}, 500), /latest answered with HTTP 500\.$/],
  ['a page', async () => new Response('<html>'), /did not answer with a version of headgate/],
  ['another package', answer({ name: 'other', version: '9.0.0' }), /did not answer with a version/],
  [
    'a version that is a command',
    answer({ name: 'headgate', version: '1.0.0; rm -rf /' }),
    /did not answer with a version/,
  ],
  ['an endless answer', async () => new Response('1'.repeat(2_000_000)), /did not answer with a version/],
  [
    'no answer',
    async () =>
      Promise.reject(new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND registry.example') })),
    /cannot be reached: getaddrinfo ENOTFOUND registry\.example\. Choose another registry/,
  ],
];
for (const [what, fetch, words] of refusals)
  test(`${what} is a clear error`, async () => {
    await assert.rejects(ask(fetch), (error: Error) => error.name === 'StartError' && words.test(error.message));
  });

test('versions are compared by their numbers, and a release is newer than its previews', () => {
  const pairs: [string, string, boolean][] = [
    ['0.10.0', '0.9.9', true],
    ['0.9.9', '0.10.0', false],
    ['1.0.0', '1.0.0', false],
    ['1.0.0', '1.0.0-beta.2', true],
    ['1.0.0-beta.2', '1.0.0', false],
    ['2.0.0', '1.99.99', true],
  ];
  for (const [version, current, expected] of pairs)
    assert.equal(isNewer(version, current), expected, `${version} ${current}`);
});

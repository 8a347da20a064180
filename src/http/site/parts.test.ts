import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../../testing/http-edge.ts';

test('a part of the page is served without a credential, and may be kept for ever, because its name contains its hash', async () => {
  await using edge = await httpEdge();
  const { status, headers, text } = await edge.send({ path: '/static/list-0a1b.js' });
  assert.deepEqual(
    [status, text, headers['content-type'], headers['cache-control'], headers['x-content-type-options']],
    [200, 'headgate.parts.list={}', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'nosniff'],
  );
});

test('a part of another build is not found', async () => {
  await using edge = await httpEdge();
  for (const path of [
    '/static/list-ffff.js',
    '/static/list-0a1b.js/',
    '/shared/list-0a1b.js',
    '/static/%6cist-0a1b.js',
  ])
    assert.equal((await edge.send({ path })).status, 404, path);
});

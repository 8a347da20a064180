import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersOf, request, standbyScene } from '../../testing/standby-scene.ts';

const statusOf = (answer: string) => Number(answer.split(' ', 2)[1]);

test('a whole URL in place of a path is forwarded as the path, with its host, which is checked', async () => {
  await using scene = await standbyScene({ answer: (_, res) => void res.end('done') });
  const asked = request('GET http://localhost/a?x');
  for (const sent of [asked, asked.replace('Host: localhost', 'Host: evil.test')])
    assert.equal(statusOf(await scene.ask(sent)), 200);
  for (const got of scene.one.got) {
    assert.deepEqual([got.url, got.client], ['/a?x', { address: '127.0.0.1' }]);
    assert.deepEqual(headersOf(got), ['Host: localhost']);
  }
  assert.equal(statusOf(await scene.ask(request('GET http://evil.test/a'))), 403);
  assert.equal(statusOf(await scene.ask(request('GET http://localhost@evil.test/a'))), 403);
  assert.match(await scene.ask(request('GET http://localhost/node/here_0001/health')), /"status":"standby"/);
  assert.equal(scene.one.got.length, 2);
});

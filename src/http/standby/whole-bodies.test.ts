import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { standbyScene } from '../../testing/standby-scene.ts';
import { untilTrue } from '../../testing/until-true.ts';

/** Answers with the length of the body, and what it is made of. */
const weigh: RequestListener = (req, res) =>
  void text(req).then((body) => res.end(`${req.url} ${body.length} ${[...new Set(body)].join('')};`));

const asking = (line: string, header: string, body: string) =>
  `${line} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n${body}`;
const inChunks = (...parts: string[]) =>
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
const CHUNKED = 'Transfer-Encoding: chunked';

test('bodies in several parts that are complete before they can be forwarded arrive whole', async () => {
  await using scene = await standbyScene({ answer: weigh });
  // The first waits for the greeting, the others for the answer to the one before.
  const client = scene.send(
    [
      asking('POST /a', CHUNKED, inChunks('a', 'b', 'c')),
      asking('PUT /b', 'Content-Length: 300000', 'd'.repeat(300_000)),
      asking('POST /c', CHUNKED, inChunks('e'.repeat(70_000), 'f', 'g')),
      asking('POST /d', CHUNKED, inChunks()),
      asking('POST /e', 'Content-Length: 1', 'h'),
    ].join(''),
  );
  await untilTrue(() => client.received().includes('/e '));
  assert.deepEqual(client.received().match(/\/\w \d+ \w*;/g), [
    ...['/a 3 abc;', '/b 300000 d;', '/c 70002 efg;', '/d 0 ;', '/e 1 h;'],
  ]);
  assert.equal(scene.one.got.length, 5);
});

test('an answer in several chunks that come at once arrives whole', async () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  await using scene = await standbyScene({
    answer: ({ socket }) => void socket.write(`${head}${inChunks('one ', 'two ', 'three')}`),
  });
  for (const path of ['/first', '/next']) {
    const answer = await scene.ask(`GET ${path} HTTP/1.0\r\nHost: localhost\r\n\r\n`);
    assert.equal(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'one two three');
  }
});

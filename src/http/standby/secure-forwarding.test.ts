import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { request, standbyScene } from '../../testing/standby-scene.ts';
import { untilTrue } from '../../testing/until-true.ts';

const fixture = (name: string) => readFileSync(new URL(`../../egress/fixtures/${name}.pem`, import.meta.url), 'utf8');
const tls = { cert: fixture('localhost-cert'), key: fixture('localhost-key') };

/** As with NODE_EXTRA_CA_CERTS, for this test. */
function trust(t: TestContext, certificate: string): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate]);
  t.after(() => setDefaultCACertificates(before));
}

test('an active daemon behind TLS is greeted, asked, and joined over TLS', async (t) => {
  trust(t, tls.cert);
  await using scene = await standbyScene({
    tls,
    answer: (req, res) => void res.end(`${req.method} ${'encrypted' in req.socket}`),
    upgrade: (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nready');
      socket.once('data', (data) => socket.end(`got ${data}`));
    },
  });
  const answer = await scene.ask(request('GET /safe'));
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nGET true$/);
  const client = scene.send(
    'GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  await untilTrue(() => client.received().endsWith('ready'));
  client.socket.write('words');
  await client.closed;
  assert.ok(client.received().endsWith('readygot words'), client.received());
  assert.equal(scene.one.state.greetings, 1);
});

test('a daemon whose certificate is not trusted gets nothing of a client', async () => {
  await using scene = await standbyScene({ tls });
  const answer = await scene.ask(request('GET /secret', ['Authorization: Bearer secret']));
  assert.match(answer, /^HTTP\/1\.1 503 /);
  assert.deepEqual([scene.one.got, scene.one.state.greetings], [[], 0]);
  assert.match(JSON.stringify(scene.log.fields), /self-signed certificate/);
});

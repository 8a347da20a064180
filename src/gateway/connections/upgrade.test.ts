import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { isWebSocketUpgrade } from './upgrade.ts';

/** The answer of a server with WebSockets to a request with this Upgrade header. */
async function answerTo(upgrade: string): Promise<string> {
  const server = createServer({ shouldUpgradeCallback: isWebSocketUpgrade }, (_, response) => response.end('plain'));
  server.on('upgrade', (_, socket) => socket.end('upgraded'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('an offer of HTTP/2 is answered as plain HTTP', async () => {
  assert.match(await answerTo('h2c'), /plain/);
});

for (const name of ['websocket', 'WebSocket']) {
  test(`Upgrade: ${name} asks for a WebSocket`, async () => {
    assert.equal(await answerTo(name), 'upgraded');
  });
}

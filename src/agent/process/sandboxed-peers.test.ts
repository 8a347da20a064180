import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { needs } from '../../testing/needs.ts';
import { createSandboxedCommands } from './sandboxed-commands.ts';
import { createSandboxedPeers } from './sandboxed-peers.ts';
import { toEndpoint } from './tcp-table.ts';

const linux = await needs('Linux');
const ipv6 = await needs('Linux', 'IPv6');

/** A server, its verdict on the next connection, and a way to connect from another process. */
async function start(t: TestContext, host = '127.0.0.1') {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const commands = createSandboxedCommands(fakeClock());
  const isSandboxedPeer = createSandboxedPeers({ commands, uid: process.geteuid?.() ?? 0 });
  const sockets: Socket[] = [];
  const children: ChildProcess[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    for (const child of children) child.kill('SIGKILL');
    server.close();
  });
  return {
    commands,
    port,
    async judged(): Promise<boolean | undefined> {
      const [socket] = (await once(server, 'connection')) as [Socket];
      sockets.push(socket);
      return isSandboxedPeer(socket);
    },
    connect: () => void sockets.push(connect(port, host)),
    /** A child of another process, as commands are children of bubblewrap. */
    connectFromChild(): number {
      const script = `const s = require('net').connect(${port}, '${host}'); s.resume()`;
      const child = spawn('/bin/sh', ['-c', `'${process.execPath}' -e "${script}"; :`], { stdio: 'ignore' });
      children.push(child);
      return child.pid ?? 0;
    },
  };
}

test('while no command runs, connections are not checked', async (t) => {
  const it = await start(t);
  const judged = it.judged();
  it.connect();
  assert.equal(await judged, undefined);
});

for (const [host, options] of Object.entries({ '127.0.0.1': linux, '::1': ipv6 })) {
  test(`a command's connection by ${host} is distinguished from others`, options, async (t) => {
    const it = await start(t, host);
    it.commands.begin(0x7fff_ffff); // some other command
    const others = it.judged();
    it.connectFromChild();
    assert.equal(await others, false);
    const own = it.judged();
    it.connect();
    assert.equal(await own, false);
    const commands = it.judged();
    it.commands.begin(it.connectFromChild());
    assert.equal(await commands, true);
  });
}

test('a connection whose other end is already closed counts as a command’s', linux, async (t) => {
  const it = await start(t);
  it.commands.begin(0x7fff_ffff);
  const judged = it.judged();
  const socket = connect(it.port, '127.0.0.1', () => socket.end());
  await once(socket, 'connect');
  assert.equal(await judged, true);
});

test('a command counts for two more seconds after its end', async () => {
  const clock = fakeClock();
  const commands = createSandboxedCommands(clock);
  const near = [commands.areNear()];
  commands.begin(1);
  commands.end(1);
  near.push(commands.areNear(), commands.leaders.size > 0);
  await clock.advance(2_000);
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  near.push(commands.areNear());
  assert.deepEqual(near, [false, true, false, false]);
});

test('an address is equal in all its notations', () => {
  assert.equal(toEndpoint('::ffff:127.0.0.1', 80), toEndpoint('127.0.0.1', 80));
  assert.equal(toEndpoint('0:0:0:0:0:0:0:1', 80), toEndpoint('::1', 80));
  assert.equal(toEndpoint('fe80::1%eth0', 80), toEndpoint('fe80:0::1', 80));
});

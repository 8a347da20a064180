import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A second address of a server, whose connections can be ended. The suite waits for all connections to its server to end, but
 * `fetch` opens a new one for later when an old one breaks.
 */
export async function openRelay(to: URL): Promise<{ url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((inward) => {
    const outward = keep(connect(Number(to.port), to.hostname));
    keep(inward).pipe(outward).pipe(inward);
    inward.on('close', () => outward.destroy());
    outward.on('close', () => inward.destroy());
  }).listen(0, to.hostname);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = new URL(to);
  url.port = String(port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

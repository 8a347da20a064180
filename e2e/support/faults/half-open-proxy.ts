import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy whose connections can go dead as if a cable was pulled: no data passes, and neither side is notified. */
export interface HalfOpenProxy extends Disposable {
  port: number;
  /** Silences all open connections in both directions; new ones work. */
  goDead(): void;
}

export async function startHalfOpenProxy(targetPort: number): Promise<HalfOpenProxy> {
  const pairs = new Set<[client: Socket, server: Socket]>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    pairs.add([client, upstream]);
    for (const socket of [client, upstream]) socket.on('error', () => undefined); // a closed side is ignored
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    goDead() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause();
        upstream.unpipe(client).pause();
      }
    },
    [Symbol.dispose]() {
      server.close();
      for (const socket of [...pairs].flat()) socket.destroy();
    },
  };
}

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, listen } from '../../../src/listen.ts';

export interface ReceivedNotice {
  method: string;
  path: string;
  /** Of ntfy. */
  title: string;
  sequence: string;
  body: string;
}

/** A server that accepts whatever it gets, for topics of ntfy and webhooks. */
export async function startReceiver() {
  const received: ReceivedNotice[] = [];
  let arrived = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url: path = '', headers } = request;
      const of = (name: string) => String(headers[name] ?? '');
      received.push({ method, path, title: of('x-title'), sequence: of('x-sequence-id'), body });
      response.writeHead(200).end();
      arrived.resolve();
    });
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${port}/`,
    /** The first one, of those that have come or will come, that fits. */
    async until(fits: (notice: ReceivedNotice) => boolean): Promise<ReceivedNotice> {
      for (;;) {
        const found = received.find(fits);
        if (found) return found;
        arrived = Promise.withResolvers();
        await arrived.promise;
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}

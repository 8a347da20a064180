import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createPushBrowser, readVapid } from '../../../src/gateway/testing/push-browser.ts';

export interface PushedMessage {
  /** The decrypted text; undefined: it had no content. */
  text: string | undefined;
  headers: Headers;
  /** The key that signed it. */
  key: string;
}

/** A push server with one browser, which decrypts what it gets. Allow `127.0.0.1` in `egress.privateHosts`. */
export async function startPushServer() {
  const answers: { status: number; headers?: Record<string, string> }[] = [];
  const waiting: PushedMessage[] = [];
  let arrived = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void take(request).then((message) => {
      const { status, headers = {} } = answers.shift() ?? { status: 201 };
      response.writeHead(status, headers).end();
      waiting.push(message);
      arrived.resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const browser = createPushBrowser(`http://127.0.0.1:${port}/send/endpoint-is-secret`);
  async function take(request: IncomingMessage): Promise<PushedMessage> {
    const headers = new Headers(request.headers as Record<string, string>);
    const text = browser.open(headers, await buffer(request));
    return { text, headers, key: readVapid(headers).key };
  }
  return {
    subscription: browser.subscription,
    /** How it answers the next messages; otherwise it accepts them. */
    answer: (...next: typeof answers) => void answers.push(...next),
    /** The next message, whether it was accepted or not. */
    async next(): Promise<PushedMessage> {
      for (;;) {
        const message = waiting.shift();
        if (message) return message;
        arrived = Promise.withResolvers();
        await arrived.promise;
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

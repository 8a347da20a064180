import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import { CLIENT } from './provider-login.ts';
import type { ToProvider } from './provider-process.ts';

/** An answer of the provider on its way to the daemon. */
interface Passing {
  path: string;
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the provider sends; tests change it.
  body: any;
}

export interface ProviderUnderTest extends AsyncDisposable {
  readonly issuer: string;
  /** Signs the tokens of the provider; its id is `first`. */
  readonly key: CryptoKey;
  /** Starts it, with the daemon as its only client. */
  serve(daemonUrl: string): Promise<void>;
  /** What the provider knows about people from now on, by the name that they log in with. */
  know(people: Record<string, Record<string, unknown>>): void;
  /** Changes JSON answers on their way, until replaced. */
  tamper: ((passing: Passing) => unknown) | undefined;
  /** Takes over requests whole, until replaced. True: it has answered. */
  intercept: ((path: string, response: ServerResponse) => boolean) | undefined;
  /** The paths that were asked for. */
  readonly asked: string[];
}

/**
 * Starts a real provider (`oidc-provider`) in a separate process, behind a relay in this one that can change its
 * answers. The relay has the address of the provider under another name, so that browsers see another site.
 */
export async function startProvider(): Promise<ProviderUnderTest> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' }] };
  const child = fork(new URL('provider-process.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'], // it warns that it is not for production
    execArgv: [], // otherwise it would inherit the watch that ends a test's process soon after its tests
  });
  const asked: string[] = [];
  const state: Pick<ProviderUnderTest, 'tamper' | 'intercept'> = { tamper: undefined, intercept: undefined };
  let port = 0;
  const relay = createServer((incoming, response) => {
    const [path = ''] = (incoming.url ?? '').split('?');
    asked.push(path);
    if (!state.intercept?.(path, response)) pass(incoming, response, { port, path, tamper: state.tamper });
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const issuer = `http://localhost:${(relay.address() as AddressInfo).port}`;
  return Object.assign(state, {
    issuer,
    key: privateKey,
    asked,
    async serve(daemonUrl: string) {
      const redirect = new URL('/v1/api/auth/oidc/callback', daemonUrl).href;
      const client = { client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirect], scope: SCOPES };
      port = await started(child, { kind: 'start', issuer, client, jwks });
    },
    know: (people: Record<string, Record<string, unknown>>) => void child.send({ kind: 'people', people }),
    async [Symbol.asyncDispose]() {
      relay.closeAllConnections();
      relay.close();
      child.disconnect();
      await once(child, 'exit');
    },
  });
}

const SCOPES = 'openid profile email groups';

async function started(child: ChildProcess, start: ToProvider): Promise<number> {
  child.send(start);
  const [message] = await once(child, 'message');
  return message.port;
}

interface Way {
  port: number;
  path: string;
  tamper: ProviderUnderTest['tamper'];
}

/** With the Host header of the client, so that the provider names the address of the relay. */
function pass(incoming: IncomingMessage, response: ServerResponse, { port, path, tamper }: Way): void {
  const { method, url, headers } = incoming;
  const outgoing = request({ host: '127.0.0.1', port, method, path: url, headers }, async (answer) => {
    const { statusCode: status = 500, headers: fields } = answer;
    const body = await text(answer);
    const isJson = /json/.test(fields['content-type'] ?? '');
    const passing = { path, status, body: isJson ? JSON.parse(body) : body };
    if (isJson) await tamper?.(passing);
    const sent = isJson ? JSON.stringify(passing.body) : body;
    const { 'transfer-encoding': _, 'content-length': __, ...kept } = fields;
    response.writeHead(passing.status, { ...kept, 'content-length': Buffer.byteLength(sent) }).end(sent);
  });
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}

import { createServer, type Server } from 'node:http';
import { wordsOf } from '../protocol/words-of.ts';
import { StartError } from './start-error.ts';

/**
 * Opens the port and resolves with its number, which port 0 leaves to the system. Rejects with StartError. `before`: a server
 * whose socket is taken over, so that no client is refused meanwhile; its open connections stay its own.
 */
export async function listen(
  server: Server,
  { host, port, before }: { host: string; port: number; before?: Server | undefined },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(before ?? { host, port }, () => {
    server.off('error', reject);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  try {
    return await promise;
  } catch (error) {
    throw new StartError(listenProblem(error, { host, port }), { cause: error });
  }
}

/** Rejects with StartError if the address cannot be listened on. Called before a start creates or changes anything. */
export async function requireFreePort(address: { host: string; port: number }): Promise<void> {
  if (address.port !== 0) await requireAddress(address);
}

/** The same, also for port 0: then only the host is tried. */
export async function requireAddress(address: { host: string; port: number }): Promise<void> {
  const server = createServer();
  await listen(server, address);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function listenProblem(error: unknown, { host, port }: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use. Choose another with --port N.`;
  if (code === 'EACCES') return `Port ${port} requires more rights. Choose one above 1023 with --port N.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `This machine has no address ${host} (--host).`;
  return `Cannot listen on ${host}:${port}: ${wordsOf(error)}`;
}

/** Refuses new connections and closes the open ones. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

/**
 * The daemon's URL for people, without a trailing slash. It names the bound address rather than `localhost`, which may
 * lead a browser to ::1, where another user of the machine could listen and read the login code.
 */
export function urlOf({
  host,
  port,
  publicUrl,
}: {
  host: string;
  port: number;
  publicUrl: string | undefined;
}): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '');
  const address = BOUND[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const BOUND: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

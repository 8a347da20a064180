import { createServer, type Server } from 'node:http';
import { wordsOf } from '../protocol/words-of.ts';
import { StartError } from './start-error.ts';

/** Opens the port; resolves with the one in use, which matters for port 0. Rejects with StartError. */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen({ host, port }, () => {
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

/** Rejects with StartError when nothing can listen there now. Asked before anything is made or changed for a start. */
export async function requireFreePort(address: { host: string; port: number }): Promise<void> {
  if (address.port === 0) return;
  const server = createServer();
  await listen(server, address);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function listenProblem(error: unknown, { host, port }: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use. Choose another with --port N.`;
  if (code === 'EACCES') return `Port ${port} needs more rights. Choose one above 1023 with --port N.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `This machine has no address ${host} (--host).`;
  return `Cannot listen on ${host}:${port}: ${wordsOf(error)}`;
}

/** Refuses new connections and ends those that are left. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

/**
 * Where people reach the daemon, without a slash at the end. The address that is bound and no name: `localhost` may lead
 * a browser to ::1, where another user of the machine could listen and read the login code.
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

import type { ServerConfig } from '../../agent/mcp/server-config.ts';
import type { Clock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { McpAdmin } from '../mcp/mcp-noun.ts';
import { StoredServers } from '../mcp/stored-servers.ts';
import type { Vault } from '../secrets/vault.ts';

/** Settings are taken as they are; a program called `wrong` does not fit. */
export const takeConfig: McpAdmin['check'] = (settings) => {
  const config = settings as ServerConfig; // the gateway gives all that there is
  return config.command === 'wrong'
    ? { kind: 'wrong', issues: [{ path: 'command', message: 'is wrong' }] }
    : { kind: 'fits', config };
};

interface Machine {
  vault: Pick<Vault, 'group' | 'change'>;
  clock: Clock;
  log: Log;
}

/** Tool servers of the database, beside none of a configuration. */
export async function testMcpAdmin({ vault, clock, log }: Machine): Promise<McpAdmin> {
  const live = { mcp: { servers: {}, maxServers: 200 } };
  const parts = { vault, live, check: takeConfig, clock, ids: randomIds, log };
  const stored = new StoredServers({ ...parts, learn: () => undefined, onNotice: () => undefined });
  await stored.load();
  return { stored, check: takeConfig, registryUrl: () => 'http://127.0.0.1:1', fetch };
}

import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';

export type McpFlags = TargetFlags & { json?: boolean };

export interface McpCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

/** Connects to the daemon for the work. */
export async function ask<T>(
  { flags, around, root }: McpCommand,
  work: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}

export const serversOf = async (client: GatewayClient, params: { reveal?: boolean } = {}): Promise<McpServer[]> =>
  (await client.call('mcp.list', params)).servers;

/** A server by its name or id. */
export function findServer(servers: readonly McpServer[], name: string): McpServer {
  const found = servers.find((server) => server.name === name || server.serverId === name);
  if (!found) throw new NotFoundError(`No tool server is called ${name}. "headgate mcp" lists them.`);
  return found;
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

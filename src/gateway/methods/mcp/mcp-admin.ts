import { GatewayError } from '../../../../protocol/errors.ts';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import type { mcpAdminContracts } from '../../../../protocol/methods/mcp/mcp-admin.ts';
import { authTypeOf, type ServerConfig } from '../../../agent/mcp/server-config.ts';
import type { ToolServers } from '../../../agent/mcp/tool-servers.ts';
import { requireStanding } from '../../auth/require-authentication.ts';
import type { Handlers } from '../../call.ts';
import { planImport } from '../../mcp/import-servers.ts';
import type { Consents } from '../../mcp/oauth/consents.ts';
import { packageHostsOf } from '../../mcp/package-hosts.ts';
import { checkServer, checkServerName, type GivenFields, type InputDeps } from '../../mcp/server-input.ts';
import { maskServer } from '../../mcp/server-masks.ts';
import { CONFIGURED, viewServers } from '../../mcp/server-view.ts';
import { type StoredServer, type StoredServers, serverMissing } from '../../mcp/stored-servers.ts';
import { editorOf } from '../templates/template.ts';

export interface McpAdminDeps extends InputDeps {
  servers: Pick<ToolServers, 'list' | 'retry' | 'restart'>;
  stored: StoredServers;
  /** Accounts of people at these servers. */
  accounts: Pick<Consents, 'ending'>;
  nodeId: string;
  /** Replaces known secrets. */
  clean(text: string): string;
}

export const mcpAdminMethods = (deps: McpAdminDeps): Handlers<keyof typeof mcpAdminContracts> => {
  const { stored, servers, nodeId } = deps;
  return {
    'mcp.get': ({ serverId, reveal }) => viewServer(serverId, deps, reveal),
    'mcp.create': async ({ name, ...given }, call) => {
      stored.requireFree(checkServerName(name));
      const network = given.network ?? packageHostsOf(given.command ?? '');
      const config = await checkServer({ ...given, network }, undefined, deps);
      const also = ([id = '']: readonly string[]) => call.audited({ id, ...toDetail(name, config) });
      requireStanding(call.principal);
      const [row] = await stored.add([{ name, config }], { by: editorOf(call), also });
      return viewServer(row?.serverId ?? '', deps);
    },
    'mcp.update': async ({ serverId, name, ...given }, call) => {
      const before = changeable(serverId, stored);
      if (before.config === undefined)
        throw new GatewayError('INVALID_REQUEST', `The server ${before.name} ${before.problem}`);
      const next = name === undefined ? before.name : checkServerName(name);
      if (next !== before.name) stored.requireFree(next, { but: serverId });
      if (name === undefined && isEmpty(given)) throw new GatewayError('INVALID_REQUEST', 'No fields to update');
      const config = await checkServer(given, before.config, deps);
      const ending = await endingOf(before, deps, { name: next, config });
      requireStanding(call.principal);
      await stored.update(serverId, { name: next, config }, [
        ...call.audited(toDetail(next, config)),
        ...ending.statements,
      ]);
      ending.ended();
      return viewServer(serverId, deps);
    },
    'mcp.delete': async ({ serverId }, call) => {
      const before = changeable(serverId, stored);
      const ending = await endingOf(before, deps);
      await stored.remove(serverId, [...call.audited({ name: before.name }), ...ending.statements]);
      ending.ended();
      servers.list(); // it ends now, and not with the next call
      return { status: 'ok' };
    },
    'mcp.import': async ({ config, dryRun = false }, call) => {
      const { servers: found, ...rest } = await planImport(config, deps);
      const imported = found.map(({ name }) => name);
      if (!dryRun && found.length > 0) {
        const details = found.map((one) => toDetail(one.name, one.config));
        requireStanding(call.principal);
        await stored.add(found, {
          by: editorOf(call),
          also: () => call.audited({ servers: details.slice(0, MOST_NAMED) }),
        });
        servers.list();
      }
      return { imported, ...rest };
    },
    'mcp.reload': async ({ serverId }) => {
      const changes = await stored.load();
      if (serverId !== undefined) {
        const { name } = viewServer(serverId, deps);
        if (!servers.restart(name)) throw new GatewayError('CONFLICT', `The server ${name} is disabled`);
      }
      servers.retry();
      return { status: 'ok', nodeId, ...changes };
    },
  };
};

/**
 * Accounts end with the server that they were for, and when it is reached elsewhere. One that is not used has none: they are
 * those of its namesake.
 */
async function endingOf(
  { name, config, problem }: StoredServer,
  { accounts }: Pick<McpAdminDeps, 'accounts'>,
  next?: Pick<StoredServer, 'name' | 'config'>,
): Promise<Awaited<ReturnType<Consents['ending']>>> {
  const stays = next?.name === name && next.config?.url === config?.url && next.config?.oauth !== undefined;
  if (stays || !config?.oauth || problem !== undefined) return { statements: [], ended: () => undefined };
  return accounts.ending(name);
}

/** An import is recorded with so many of its servers. */
const MOST_NAMED = 50;

const isEmpty = (given: GivenFields): boolean => Object.values(given).every((value) => value === undefined);

/** A server as people see it. Throws NOT_FOUND. */
export function viewServer(
  serverId: string,
  deps: Pick<McpAdminDeps, 'servers' | 'stored' | 'nodeId' | 'clean'>,
  reveal = false,
): McpServer {
  const found = viewServers(deps, { reveal }).find((one) => one.serverId === serverId);
  if (found === undefined) throw serverMissing();
  return found;
}

/** Throws NOT_FOUND, and INVALID_REQUEST for a server of config.json. */
function changeable(serverId: string, stored: StoredServers): StoredServer {
  if (serverId.startsWith(CONFIGURED))
    throw new GatewayError(
      'INVALID_REQUEST',
      `The server ${serverId.slice(CONFIGURED.length)} can be changed only in config.json itself, on the machine`,
    );
  const found = stored.find(serverId);
  if (found === undefined) throw serverMissing();
  return found;
}

/** What an audit record says of a server: what it runs or reaches, and no secret. */
export function toDetail(name: string, config: ServerConfig): Record<string, unknown> {
  const { sandbox, autoApprove, enabled, network, folders, writesFolders } = config;
  const { command, args, env, headers, url } = maskServer(config);
  const common = { name, enabled, autoApprove };
  if (url !== undefined) return { ...common, url, authType: authTypeOf(config), headers: Object.keys(headers) };
  const line = [command, ...args].join(' ').slice(0, MOST_LINE);
  return { ...common, command: line, env: Object.keys(env), network, folders, writesFolders, sandbox };
}

const MOST_LINE = 1_000;

import { GatewayError } from '../../../../protocol/errors.ts';
import type { McpRegistryServer, mcpRegistryContracts } from '../../../../protocol/methods/mcp/mcp-registry.ts';
import { requireStanding } from '../../auth/require-authentication.ts';
import type { Handlers } from '../../call.ts';
import { choicesOf, planInstall } from '../../mcp/registry/install-plan.ts';
import { type RegistryDeps, readRegistry, searchRegistry } from '../../mcp/registry/registry-client.ts';
import type { RegistryEntry } from '../../mcp/registry/registry-entry.ts';
import { checkServer, checkServerName } from '../../mcp/server-input.ts';
import type { StoredServers } from '../../mcp/stored-servers.ts';
import { editorOf } from '../templates/template.ts';
import { type McpAdminDeps, toDetail, viewServer } from './mcp-admin.ts';

export interface McpRegistryDeps extends RegistryDeps {
  admin: McpAdminDeps;
}

export const mcpRegistryMethods = (deps: McpRegistryDeps): Handlers<keyof typeof mcpRegistryContracts> => ({
  'mcp.registry.search': async ({ search, type, limit = USUAL_LIMIT, cursor }, { signal }) => {
    const isWanted = checkType(type);
    const { entries, nextCursor } = await searchRegistry({ search, limit, cursor }, signal, deps);
    const servers = entries.map((entry) => toServer(entry, deps.admin.stored)).filter(isWanted);
    return { servers, total: servers.length, ...(nextCursor !== undefined && { nextCursor }) };
  },
  'mcp.registry.install': async ({ registryName, version, digest, source, index = 0, ...rest }, call) => {
    const { variables = {}, env = {}, headers = {}, network = [] } = rest;
    const kind = checkSource(source);
    const name = checkServerName(rest.name ?? nameFrom(registryName));
    deps.admin.stored.requireFree(name);
    // It is installed for everybody, so the request does not end with the caller.
    const entry = await readRegistry({ name: registryName, version }, new AbortController().signal, deps);
    if (digest !== undefined && digest !== entry.digest)
      throw new GatewayError('CONFLICT', `The entry of ${registryName} in the registry has changed. Search again.`);
    const given = planInstall(entry, { source: kind, index }, { variables, env, headers });
    const fields = { ...given, network: [...(given.network ?? []), ...network] };
    const config = await checkServer(fields, undefined, deps.admin);
    const origin = { name: entry.name, version: entry.version, digest: entry.digest, choice: `${kind} ${index}` };
    const also = ([id = '']: readonly string[]) => call.audited({ id, ...toDetail(name, config), origin });
    requireStanding(call.principal); // the registry may have taken its time
    const [row] = await deps.admin.stored.add([{ name, config, origin }], { by: editorOf(call), also });
    return viewServer(row?.serverId ?? '', deps.admin);
  },
});

const USUAL_LIMIT = 30;

function checkType(type: string | undefined): (server: McpRegistryServer) => boolean {
  if (type === undefined) return () => true;
  if (type === 'remote') return ({ choices }) => choices.some(({ source }) => source === 'remote');
  if (type === 'npm' || type === 'pypi') return ({ choices }) => choices.some((choice) => choice.type === type);
  throw new GatewayError('INVALID_REQUEST', "type must be 'remote', 'npm' or 'pypi'");
}

function checkSource(source: string): 'remote' | 'package' {
  if (source === 'remote' || source === 'package') return source;
  throw new GatewayError('INVALID_REQUEST', "source must be 'remote' or 'package'");
}

/** `io.github.ada/notes-server` is called notes-server here. */
const nameFrom = (registryName: string): string =>
  (registryName.split('/').at(-1) ?? '').replaceAll(/[^A-Za-z0-9.-]+/g, '-').slice(0, MOST_NAME);

const MOST_NAME = 64;

function toServer(entry: RegistryEntry, stored: Pick<StoredServers, 'list'>): McpRegistryServer {
  const { name, title, description, version, websiteUrl, repository, digest } = entry;
  const installed = stored.list().find(({ origin }) => origin?.name === name);
  return {
    name,
    title,
    description,
    version,
    websiteUrl,
    repository: repository?.url ?? '',
    digest,
    choices: choicesOf(entry),
    ...(installed && { installedServerId: installed.serverId, installedVersion: installed.origin?.version ?? '' }),
    updateAvailable: installed !== undefined && installed.origin?.digest !== digest,
  };
}

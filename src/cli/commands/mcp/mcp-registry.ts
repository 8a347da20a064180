import type { McpRegistryServer } from '../../../../protocol/methods/mcp/mcp-registry.ts';
import { UsageError } from '../../../start-error.ts';
import type { TargetFlags } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { ask, type McpCommand, type McpFlags, printJson } from './mcp-call.ts';
import { readPairs } from './named-values.ts';

export interface SearchFlags extends McpFlags {
  type?: string;
  limit?: string;
  cursor?: string;
}

export interface InstallFlags extends TargetFlags {
  remote?: string | boolean;
  package?: string | boolean;
  name?: string;
  pin?: string;
  digest?: string;
  var?: string[];
  env?: string[];
  header?: string[];
  network?: string[];
}

/** Prints the servers of the registry that fit, with all that installing them takes. */
export async function searchServers(words: readonly string[], command: McpCommand<SearchFlags>): Promise<void> {
  const { type, limit, cursor, json } = command.flags;
  const count = limit === undefined ? undefined : Number(limit);
  if (count !== undefined && !Number.isInteger(count)) throw new UsageError('--limit takes a number.');
  const search = words.join(' ');
  const found = await ask(command, (client) =>
    client.call('mcp.registry.search', { search, type, limit: count, cursor }),
  );
  if (json) return printJson(found);
  const { servers, nextCursor } = found;
  if (servers.length === 0) process.stderr.write('No server of the registry fits.\n');
  for (const server of servers) process.stdout.write(`${toSafeText(linesOf(server).join('\n'))}\n\n`);
  if (nextCursor !== undefined) process.stderr.write(`More: --cursor '${toSafeText(nextCursor)}'\n`);
}

function linesOf(server: McpRegistryServer): string[] {
  const { name, version, title, description, choices, installedVersion, updateAvailable, digest } = server;
  const installed =
    installedVersion === undefined ? '' : ` (installed: ${installedVersion}${updateAvailable ? ', differs' : ''})`;
  return [
    `${name} ${version}${installed}`,
    ...(title === '' || title === name ? [] : [`  ${title}`]),
    `  ${description}`,
    `  sha256 ${digest}`,
    ...choices.flatMap(({ source, index, type, target, version: exact, problem, inputs }) => [
      `  --${source} ${index}: ${type} ${target}${exact === '' ? '' : `@${exact}`}${problem === undefined ? '' : ` (cannot be installed: ${problem})`}`,
      ...inputs.map(
        ({ in: place, name: input, description: about, isRequired, default: usual }) =>
          `    ${FLAGS[place]} ${input}=${isRequired ? '…' : (usual ?? '')}${isRequired ? '' : ' (optional)'} ${about}`,
      ),
    ]),
  ];
}

const FLAGS = { variables: '--var', env: '--env', headers: '--header' } as const;

/** Adds a server of the registry. */
export async function installServer(registryName: string, command: McpCommand<InstallFlags>): Promise<void> {
  const { flags, around } = command;
  if (flags.remote !== undefined && flags.package !== undefined)
    throw new UsageError('Give --remote or --package, not both.');
  const source = flags.remote === undefined ? 'package' : 'remote';
  const chosen = flags.remote ?? flags.package;
  const index = typeof chosen === 'string' ? Number(chosen) : undefined;
  if (index !== undefined && !Number.isInteger(index)) throw new UsageError(`--${source} takes a number.`);
  const params = {
    registryName,
    source,
    index,
    name: flags.name,
    version: flags.pin,
    digest: flags.digest,
    variables: readPairs('--var', flags.var, around),
    env: readPairs('--env', flags.env, around),
    headers: readPairs('--header', flags.header, around),
    network: flags.network,
  };
  const {
    name,
    command: program,
    args,
    url,
    network,
  } = await ask(command, (client) => client.call('mcp.registry.install', params));
  const what = url === '' ? [program, ...args].join(' ') : url;
  process.stderr.write(`${toSafeText(`Added ${name}: ${what}`)}\n`);
  if (network.length > 0) process.stderr.write(`${toSafeText(`It may connect to ${network.join(' and ')}.`)}\n`);
}

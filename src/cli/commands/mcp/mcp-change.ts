import JSON5 from 'json5';
import { isRecord } from '../../../../protocol/is-record.ts';
import { LIMITS } from '../../../../protocol/limits.ts';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { resolveFolder, type Surroundings } from '../../../home/home-path.ts';
import { UsageError } from '../../../start-error.ts';
import type { TargetFlags } from '../../connect.ts';
import { readInput } from '../../input/read-input.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toOneLine } from '../../text-table.ts';
import { readUserNames } from '../accounts/user-names.ts';
import { ask, findServer, type McpCommand, type McpFlags, printJson, serversOf } from './mcp-call.ts';
import { readPairs } from './named-values.ts';

export interface AddFlags extends TargetFlags {
  address?: string;
  header?: string[];
  oauth?: boolean;
  scope?: string[];
  clientId?: string;
  issuer?: string;
  clientSecret?: string;
  env?: string[];
  network?: string[];
  folder?: string[];
  writesFolders?: boolean;
  sandbox: boolean;
  autoApprove?: boolean;
  disabled?: boolean;
  timeout?: string;
}

export type ShowFlags = McpFlags & { reveal?: boolean };
export type ImportFlags = TargetFlags & { dryRun?: boolean };

/** Adds a server: a program with its arguments, or an address. */
export async function addServer(
  name: string,
  program: readonly string[],
  command: McpCommand<AddFlags>,
): Promise<void> {
  const { flags, around } = command;
  const { run, args, address } = programOrAddress(program, flags);
  const timeoutSecs = flags.timeout === undefined ? undefined : Number(flags.timeout);
  if (timeoutSecs !== undefined && !Number.isInteger(timeoutSecs)) throw new UsageError('--timeout takes seconds.');
  const params = {
    name,
    command: run,
    args,
    url: address,
    headers: readPairs('--header', flags.header, around),
    oauth: readOAuth(flags, around),
    env: readPairs('--env', flags.env, around),
    network: flags.network,
    folders: flags.folder?.map((folder) => resolveFolder(folder, around)),
    writesFolders: flags.writesFolders,
    sandbox: flags.sandbox ? undefined : false,
    autoApprove: flags.autoApprove,
    enabled: flags.disabled ? false : undefined,
    timeoutSecs,
  };
  const { network } = await ask(command, (client) => client.call('mcp.create', params));
  say(`Added ${name}. It is asked for its tools now: headgate mcp tools ${name}`);
  if (run !== undefined && flags.network === undefined)
    say(
      network.length === 0
        ? 'It has no network; --network HOST would give it some.'
        : `It may connect to ${network.join(' and ')}.`,
    );
}

interface Reached {
  run?: string | undefined;
  args?: string[];
  address?: string | undefined;
}

/** An address in the place of the command is meant as one. */
function programOrAddress([run, ...args]: readonly string[], { address }: AddFlags): Reached {
  if ((run === undefined) === (address === undefined))
    throw new UsageError('Give either a command behind --, or an address.');
  if (run === undefined || !/^https?:\/\//i.test(run)) return { run, ...(run !== undefined && { args }), address };
  if (args.length > 0) throw new UsageError('An address takes no arguments. A command begins with its program.');
  return { address: run };
}

function readOAuth({ oauth, scope, clientId, issuer, clientSecret }: AddFlags, { environment }: Surroundings) {
  if (!oauth && [scope, clientId, issuer, clientSecret].every((flag) => flag === undefined)) return undefined;
  if (!oauth) throw new UsageError('--scope, --client-id, --issuer and --client-secret need --oauth.');
  const secret = clientSecret === undefined ? undefined : environment[clientSecret];
  if (clientSecret !== undefined && !secret) throw new UsageError(`This shell has no variable ${clientSecret}.`);
  return { scopes: scope, clientId, issuer, clientSecret: secret };
}

/** Prints all that is known of one server. */
export async function showServer(name: string, command: McpCommand<ShowFlags>): Promise<void> {
  const { reveal = false, json } = command.flags;
  const { server, nameOf } = await ask(command, async (client) => {
    const found = findServer(await serversOf(client), name);
    const whole = reveal ? await client.call('mcp.get', { serverId: found.serverId, reveal }) : found;
    return { server: whole, nameOf: await readUserNames(client, [found.createdBy]) };
  });
  if (json) return printJson(server);
  process.stdout.write(
    `${linesOf({ ...server, createdBy: nameOf(server.createdBy) })
      .map((line) => toSafeText(line))
      .join('\n')}\n`,
  );
}

function linesOf({ tools, state, problem, notes, origin, ...server }: McpServer): string[] {
  const { name, serverId, source, createdBy, command, args, url, headers, env } = server;
  const pairs = (values: Record<string, string>) => Object.entries(values).map(([key, value]) => `  ${key}=${value}`);
  const list = (label: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`${label}: ${values.join(', ')}`];
  return [
    `${name} (${serverId})`,
    source === 'config'
      ? 'from: config.json'
      : `from: the database${createdBy === '' ? '' : `, added by ${createdBy}`}`,
    ...(origin ? [`registry: ${origin.name} ${origin.version}, ${origin.choice}, sha256 ${origin.digest}`] : []),
    `state: ${state}${problem === undefined ? '' : `, ${problem}`}`,
    ...(url === '' ? [`command: ${[command, ...args].join(' ')}`] : [`url: ${url}`]),
    ...(Object.keys(headers).length === 0 ? [] : ['headers:', ...pairs(headers)]),
    ...linesAbout(server.oauth),
    ...(Object.keys(env).length === 0 ? [] : ['variables:', ...pairs(env)]),
    ...list('network', server.network),
    ...list(server.writesFolders ? 'folders (read and written)' : 'folders', server.folders),
    ...(server.sandbox || url !== '' ? [] : ['sandbox: no']),
    ...(server.autoApprove ? ['its tools run unasked'] : []),
    ...list(
      'tools',
      tools.filter(({ isGone }) => !isGone).map(({ tool }) => tool),
    ),
    ...notes,
  ].map(toOneLine);
}

function linesAbout(oauth: McpServer['oauth']): string[] {
  if (!oauth) return [];
  const { scopes, clientId, issuer, clientSecret } = oauth;
  return [
    `accounts: each person uses it with their own${scopes.length === 0 ? '' : `, with the rights ${scopes.join(' ')}`}`,
    ...(clientId === ''
      ? []
      : [
          `client: ${clientId}${issuer === '' ? '' : ` at ${issuer}`}${clientSecret === '' ? '' : `, secret ${clientSecret}`}`,
        ]),
  ];
}

export async function removeServer(name: string, command: McpCommand): Promise<void> {
  await ask(command, async (client) => {
    const { serverId } = findServer(await serversOf(client), name);
    await client.call('mcp.delete', { serverId });
  });
  say(`Removed ${name}.`);
}

export async function switchServer(name: string, enabled: boolean, command: McpCommand): Promise<void> {
  await ask(command, async (client) => {
    const { serverId } = findServer(await serversOf(client), name);
    await client.call('mcp.update', { serverId, enabled });
  });
  say(`${enabled ? 'Enabled' : 'Disabled'} ${name}.`);
}

/** Adds the servers of a file of another program; `-` is the standard input. */
export async function importServers(file: string, command: McpCommand<ImportFlags>): Promise<void> {
  const { flags, around } = command;
  const { dryRun = false } = flags;
  const config = parseFile(file, await readInput(file, { cwd: around.cwd, maxBytes: LIMITS.maxPayloadBytes }));
  const { imported, skipped, errors, notes } = await ask(command, (client) =>
    client.call('mcp.import', { config, ...(dryRun && { dryRun }) }),
  );
  say(`${dryRun ? 'Would add' : 'Added'}: ${imported.join(', ') || 'none'}.`);
  if (skipped.length > 0) say(`Exist already: ${skipped.join(', ')}.`);
  for (const line of [...notes, ...errors]) say(line);
  if (errors.length > 0) process.exitCode = 1;
}

/** Such files have comments now and then. */
function parseFile(file: string, source: string): Record<string, unknown> {
  try {
    const config: unknown = JSON5.parse(source);
    if (isRecord(config)) return config;
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${wordsOf(error).replace(/^JSON5: /, '')}`, { cause: error });
  }
  throw new UsageError(`${file} must be a JSON object with mcpServers.`);
}

export async function reloadServers(name: string | undefined, command: McpCommand): Promise<void> {
  const { added, removed, changed } = await ask(command, async (client) => {
    const serverId = name === undefined ? undefined : findServer(await serversOf(client), name).serverId;
    return client.call('mcp.reload', { serverId });
  });
  if (name !== undefined) return say(`${name} ends when its calls have ended, and starts again with the next one.`);
  const parts = Object.entries({ added, removed, changed }).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`${what}: ${names.join(', ')}`],
  );
  say(parts.length === 0 ? 'Nothing has changed. Servers that had failed are asked again.' : parts.join('\n'));
}

function say(line: string): void {
  process.stderr.write(`${toSafeText(line)}\n`);
}

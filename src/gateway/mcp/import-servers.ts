import { GatewayError } from '../../../protocol/errors.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { ServerConfig } from '../../agent/mcp/server-config.ts';
import { packageHostsOf } from './package-hosts.ts';
import { checkServer, checkServerName, type GivenFields, type InputDeps } from './server-input.ts';
import type { NewServer, StoredServers } from './stored-servers.ts';

/** What an import would do. */
export interface PlannedImport {
  servers: NewServer[];
  skipped: string[];
  errors: string[];
  notes: string[];
}

interface ImportDeps extends InputDeps {
  stored: Pick<StoredServers, 'requireFree'>;
}

/** Reads the tool servers of a configuration file of another program. Nothing is stored. */
export async function planImport(config: Record<string, unknown>, deps: ImportDeps): Promise<PlannedImport> {
  const { mcpServers } = config;
  if (!isRecord(mcpServers) || Object.keys(mcpServers).length === 0)
    throw new GatewayError('INVALID_REQUEST', 'No mcpServers found in config');
  const plan: PlannedImport = { servers: [], skipped: [], errors: [], notes: [] };
  for (const [name, entry] of Object.entries(mcpServers)) {
    try {
      if (isTaken(checkServerName(name), plan, deps)) plan.skipped.push(name);
      else await planOne({ name, entry }, plan, deps);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      plan.errors.push(`${name.slice(0, 100)}: ${wordsOf(error)}`);
    }
  }
  return plan;
}

async function planOne({ name, entry }: { name: string; entry: unknown }, plan: PlannedImport, deps: ImportDeps) {
  const { given, notes } = readEntry(entry);
  const config: ServerConfig = await checkServer(given, undefined, deps);
  plan.servers.push({ name, config });
  plan.notes.push(...notes.map((note) => `${name}: ${note}`));
}

/** Exists already, or comes twice under names that rules take for the same. */
function isTaken(name: string, { servers }: PlannedImport, { stored }: ImportDeps): boolean {
  try {
    stored.requireFree(name, { also: servers.map((one) => one.name) });
    return false;
  } catch {
    return true;
  }
}

/** Names that other programs use for the way to reach a server. */
const TRANSPORTS: Readonly<Record<string, string>> = {
  stdio: 'stdio',
  http: 'streamable-http',
  'streamable-http': 'streamable-http',
  streamableHttp: 'streamable-http',
};
const KNOWN = ['command', 'args', 'env', 'url', 'headers', 'type', 'transport', 'disabled', 'enabled'];

function readEntry(entry: unknown): { given: GivenFields; notes: string[] } {
  if (!isRecord(entry)) throw wrong('must be an object');
  const { command, args = [], env = {}, url, headers = {}, type, transport = type, disabled, enabled } = entry;
  const given: GivenFields = {
    transport: transport === undefined || transport === null ? undefined : transportOf(String(transport)),
    command: textOf('command', command),
    args: textsOf('args', args),
    url: textOf('url', url),
    env: valuesOf('env', env),
    headers: valuesOf('headers', headers),
    enabled: disabled !== true && enabled !== false,
  };
  const network = given.command === undefined ? [] : packageHostsOf(given.command);
  const others = Object.keys(entry).filter((key) => !KNOWN.includes(key));
  const notes = [
    ...(others.length === 0 ? [] : [`${others.join(', ').slice(0, 200)} is not used here`]),
    ...(network.length === 0 ? [] : [`it may connect to ${network.join(' and ')} only; add the hosts that it needs`]),
  ];
  return { given: { ...given, network }, notes };
}

function transportOf(name: string): string {
  const known = TRANSPORTS[name];
  if (known !== undefined) return known;
  throw wrong(
    name === 'sse'
      ? 'the transport sse is not supported; use the address for streamable-http, if it has one'
      : "transport must be 'stdio' or 'streamable-http'",
  );
}

function textOf(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw wrong(`${field} must be a text`);
  return value;
}

function textsOf(field: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw wrong(`${field} must be a list of texts`);
  return value.map((one, index) => textIn(`${field}.${index}`, one));
}

function valuesOf(field: string, value: unknown): Record<string, string> {
  if (!isRecord(value)) throw wrong(`${field} must be an object`);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, textIn(`${field}.${name}`, one)]));
}

/** Numbers and switches are written without quotation marks, too. */
function textIn(field: string, value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw wrong(`${field} must be a text`);
  return value;
}

const wrong = (problem: string) => new GatewayError('INVALID_REQUEST', problem);

import { GatewayError } from '../../../protocol/errors.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { OAuthSettings } from '../../agent/mcp/accounts/accounts.ts';
import { type AuthType, namesVariable, type ServerConfig } from '../../agent/mcp/server-config.ts';
import { SERVER_NAME } from '../../agent/mcp/tool-name.ts';
import type { Workdirs } from '../workstreams/workdirs.ts';
import { hasMoved, unmaskServer } from './server-masks.ts';
import type { CheckedConfig } from './stored-servers.ts';

/** As in config.json. */
const USUAL_SECS = 120;

/** The settings of a server as a client gives them; missing ones keep their value, or take their default. */
export interface GivenFields {
  transport?: string | undefined;
  command?: string | undefined;
  args?: readonly string[] | undefined;
  url?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** `none`, `static` or `oauth_user`. */
  authType?: string | undefined;
  oauth?: { [K in keyof OAuthSettings]?: OAuthSettings[K] | undefined } | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  network?: readonly string[] | undefined;
  folders?: readonly string[] | undefined;
  writesFolders?: boolean | undefined;
  sandbox?: boolean | undefined;
  autoApprove?: boolean | undefined;
  enabled?: boolean | undefined;
  timeoutSecs?: number | undefined;
}

export interface InputDeps {
  check(config: unknown): CheckedConfig;
  workdirs: Pick<Workdirs, 'identify'>;
  /** Why programs run without a sandbox on this machine; undefined: they run in one. */
  notSandboxed: string | undefined;
}

/** Throws with the words that clients of the specification expect. */
export function checkServerName(name: string): string {
  const refuse = (problem: string) => wrongField('name', problem, { separator: ' ' });
  if (name.trim() === '') throw refuse('cannot be empty');
  if (!/^[a-zA-Z0-9._-]+$/.test(name)) throw refuse('must match [a-zA-Z0-9._-]+');
  if (name.includes('__')) throw refuse("must not contain '__' (reserved delimiter)");
  if (!SERVER_NAME.test(name)) throw refuse('must have at most 64 characters, and not only dots');
  return name;
}

/** The settings after a change. Throws INVALID_REQUEST with the field that is wrong. */
export async function checkServer(
  given: GivenFields,
  before: ServerConfig | undefined,
  { check, workdirs, notSandboxed }: InputDeps,
): Promise<ServerConfig> {
  if (given.command !== undefined && isAddress(given.command))
    throw wrongField('command', 'is an address; give it as url, with the transport streamable-http', {
      separator: ' ',
    });
  const fields = toConfig(given, before);
  refuseVariables('env', fields.env);
  refuseVariables('headers', fields.headers);
  refuseVariables('oauth', { clientSecret: fields.oauth?.clientSecret ?? '' });
  const checked = check({ ...fields, ...unmaskServer(fields, before) });
  if (checked.kind === 'wrong') throw wrongFields(checked.issues);
  const { config } = checked;
  if (!config.sandbox && notSandboxed === undefined)
    throw wrongField('sandbox', 'only servers of config.json may run outside the sandbox of this machine');
  const folders: string[] = [];
  for (const [index, folder] of config.folders.entries()) folders.push(await resolveFolder(folder, index, workdirs));
  return { ...config, folders };
}

/** Nobody calls a program so. */
const isAddress = (command: string): boolean => /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(command);

/** Of a program or an address, only what belongs to it. */
function toConfig({ authType, oauth, ...given }: GivenFields, before: ServerConfig | undefined): ServerConfig {
  const changed = Object.entries(given).filter(([, value]) => value !== undefined);
  const all: ServerConfig = { ...(before ?? NEW_SERVER), ...Object.fromEntries(changed) };
  all.oauth = toOAuth({ authType, oauth }, before?.oauth);
  if (before && given.url !== undefined && hasMoved(given.url, before.url)) keepFromOthers(all, { ...given, oauth });
  if (transportOf(given, before) === 'stdio') {
    if (all.command === undefined) throw missing('command is required for stdio transport', 'command');
    return { ...all, url: undefined, headers: {}, oauth: undefined };
  }
  if (all.url === undefined) throw missing('url is required for streamable-http transport', 'url');
  return { ...all, command: undefined, ...ONLY_OF_PROGRAMS };
}

/** What was said to one host is not told to another one, unless it is said again. */
function keepFromOthers(all: ServerConfig, { headers, oauth }: Pick<GivenFields, 'headers' | 'oauth'>): void {
  if (headers === undefined) all.headers = {};
  const { clientSecret, ...rest } = all.oauth ?? { scopes: [] };
  if (all.oauth && clientSecret !== undefined && oauth?.clientSecret === undefined) all.oauth = rest;
}

const AUTH_TYPES: readonly (string | undefined)[] = ['none', 'static', 'oauth_user'] satisfies AuthType[];

function toOAuth(
  { authType, oauth }: Pick<GivenFields, 'authType' | 'oauth'>,
  before: OAuthSettings | undefined,
): OAuthSettings | undefined {
  if (authType !== undefined && !AUTH_TYPES.includes(authType))
    throw wrongField('auth_type', "must be 'none', 'static' or 'oauth_user'", { separator: ' ' });
  const isLeft = authType === undefined && oauth === undefined;
  if (isLeft) return before;
  if (authType !== undefined && authType !== 'oauth_user') {
    if (oauth !== undefined) throw wrongField('oauth', 'needs the auth_type oauth_user', { separator: ' ' });
    return undefined;
  }
  const said = Object.entries(oauth ?? {}).filter(([, value]) => value !== undefined);
  const all: OAuthSettings = { scopes: [], ...before, ...Object.fromEntries(said) };
  const { scopes, clientId, issuer, clientSecret } = all;
  const of = { ...(clientId && { clientId }), ...(issuer && { issuer }) };
  return { scopes, ...of, ...(clientSecret && { clientSecret }) };
}

const ONLY_OF_PROGRAMS = { args: [], env: {}, network: [], folders: [], writesFolders: false, sandbox: true };

/** A new server, before anything is said about it. */
export const NEW_SERVER: ServerConfig = {
  ...ONLY_OF_PROGRAMS,
  headers: {},
  autoApprove: false,
  enabled: true,
  timeoutSecs: USUAL_SECS,
};

type Transport = 'stdio' | 'streamable-http';

function transportOf({ transport, command, url }: GivenFields, before: ServerConfig | undefined): Transport {
  if (transport === 'stdio' || transport === 'streamable-http') return transport;
  if (transport !== undefined) throw missing("transport must be 'stdio' or 'streamable-http'", 'transport');
  if (command !== undefined && url !== undefined)
    throw wrongField('transport', 'is needed, because there are both a command and a url', { separator: ' ' });
  if (command !== undefined) return 'stdio';
  if (url !== undefined) return 'streamable-http';
  return before?.url === undefined ? 'stdio' : 'streamable-http';
}

const missing = (words: string, field: string) => wrongField(field, words.slice(field.length + 1), { separator: ' ' });

/** Whoever adds a server over the wire need not know what is in the environment of the daemon. */
function refuseVariables(field: string, values: Readonly<Record<string, string>>): void {
  const name = Object.keys(values).find((key) => namesVariable(values[key] ?? ''));
  if (name !== undefined)
    throw wrongField(
      `${field}.${name}`,
      'variables of the daemon are filled in only for servers of config.json; write the value itself',
    );
}

function wrongFields(issues: readonly { path: string; message: string }[]): GatewayError {
  const told = issues.slice(0, 8).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return new GatewayError('INVALID_REQUEST', told.join('; '), { details: { issues } });
}

/** The folder itself, checked like the folder of a workstream. */
async function resolveFolder(folder: string, index: number, workdirs: InputDeps['workdirs']): Promise<string> {
  try {
    const { path } = await workdirs.identify(folder);
    return path;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw wrongField(`folders.${index}`, wordsOf(error).replace('Working directory ', ''), { cause: error });
  }
}

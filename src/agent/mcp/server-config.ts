import { createHash } from 'node:crypto';
import { toCanonicalJson } from '../../canonical-json.ts';
import type { OAuthSettings } from './accounts/accounts.ts';

/** A tool server of the configuration or the database, as it is started. */
export interface ServerConfig {
  /**
   * The id of a server that was added over the wire; undefined: it is in config.json. The id names its folder. Variables of
   * the daemon are not filled in for it, because whoever adds one need not know them.
   */
  storedId?: string | undefined;
  /** The program, looked up in the PATH of commands; undefined: it is reached at `url`. */
  command?: string | undefined;
  /** The address of a server that somebody else runs. */
  url?: string | undefined;
  /** Headers of requests to that address. `${NAME}` stands for a variable of the daemon. */
  headers: Readonly<Record<string, string>>;
  /** Each person uses it with an account of their own. */
  oauth?: OAuthSettings | undefined;
  args: readonly string[];
  /** `${NAME}` stands for a variable of the daemon. */
  env: Readonly<Record<string, string>>;
  /** Hosts that it may connect to. */
  network: readonly string[];
  /** Folders that it may read, besides its own. */
  folders: readonly string[];
  /** Whether it may change those. */
  writesFolders: boolean;
  /** Whether it runs in the sandbox, which it must then have. */
  sandbox: boolean;
  /** Whether its tools run unasked. */
  autoApprove: boolean;
  enabled: boolean;
  /** The time limit of one call. */
  timeoutSecs: number;
}

/** How requests to a server say who asks. */
export type AuthType = 'none' | 'static' | 'oauth_user';

export function authTypeOf({ headers, oauth }: Pick<ServerConfig, 'headers' | 'oauth'>): AuthType {
  if (oauth) return 'oauth_user';
  return Object.keys(headers).length > 0 ? 'static' : 'none';
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Whether a value names a variable of the daemon. */
export const namesVariable = (value: string): boolean => value.search(VARIABLE) !== -1;

/** Variables or headers, with the variables of the daemon that they name; a text that says which one is missing. */
export function fillVariables(
  env: ServerConfig['env'],
  { storedId }: Pick<ServerConfig, 'storedId'>,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> | string {
  if (storedId !== undefined) return { ...env };
  const missing = Object.values(env)
    .flatMap((value) => [...value.matchAll(VARIABLE)].map(([, name = '']) => name))
    .find((name) => environment[name] === undefined);
  if (missing !== undefined) return `the environment of the daemon has no ${missing}`;
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replace(VARIABLE, (_, inner: string) => environment[inner] ?? ''),
    ]),
  );
}

/** What makes it another server. Its other settings do not change what its tools are. */
export const digestOf = ({ command, url, args, env }: ServerConfig): string =>
  createHash('sha256')
    .update(toCanonicalJson({ command, url, args, env: Object.keys(env).toSorted((a, b) => (a < b ? -1 : 1)) }))
    .digest('hex');

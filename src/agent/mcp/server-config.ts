import { createHash } from 'node:crypto';
import { toCanonicalJson } from '../../canonical-json.ts';
import type { OAuthSettings } from './accounts/accounts.ts';

/** A tool server of the configuration, as it is started. */
export interface ServerConfig {
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

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Variables or headers, with the variables of the daemon that they name; a text that says which one is missing. */
export function fillVariables(
  env: ServerConfig['env'],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> | string {
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

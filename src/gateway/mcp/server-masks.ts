import { wrongField } from '../../../protocol/parse.ts';
import {
  formsOfSecret,
  hideInAddress,
  hideInArgument,
  looksSecret,
  MASK,
} from '../../agent/guard/values/hidden-values.ts';
import type { OAuthSettings } from '../../agent/mcp/accounts/accounts.ts';
import type { ServerConfig } from '../../agent/mcp/server-config.ts';

type Values = Readonly<Record<string, string>>;
type Shown = Pick<ServerConfig, 'command' | 'args' | 'env' | 'headers' | 'url' | 'oauth'>;

/** What people see of a server: no value of a variable or header, and no secret in its command, arguments, address and client. */
export const maskServer = ({ command, args, env, headers, url, oauth }: Shown): Shown => ({
  command: command === undefined ? undefined : hideInAddress(command).shown,
  args: args.map((argument, index) => hideInArgument(argument, args[index - 1]).shown),
  env: maskValues(env),
  headers: maskValues(headers),
  url: url === undefined ? undefined : hideInAddress(url).shown,
  oauth: oauth && { ...oauth, ...(oauth.clientSecret !== undefined && { clientSecret: MASK }) },
});

const maskValues = (values: Values): Values => Object.fromEntries(Object.keys(values).map((name) => [name, MASK]));

/** The values that no output may show. Harmless settings among the variables are left out: they occur in ordinary text. */
export function secretsOfServer({ command = '', args, env, headers, url = '', oauth }: Shown): string[] {
  const named = [...Object.entries(env), ...Object.entries(headers)].filter(([name, value]) =>
    looksSecret(name, value),
  );
  return [
    ...args.flatMap((argument, index) => hideInArgument(argument, args[index - 1]).secrets),
    ...named.flatMap(([, value]) => [...formsOfSecret(value), ...hideInAddress(value).secrets]),
    ...[command, url].flatMap((address) => hideInAddress(address).secrets),
    ...(oauth?.clientSecret === undefined ? [] : formsOfSecret(oauth.clientSecret)),
  ];
}

/** Puts the stored values back where a client sent their masks. Throws INVALID_REQUEST for a mask that stands for none. */
export function unmaskServer(given: Shown, stored: Shown | undefined): Shown {
  const url = unmaskAddress('url', given.url, stored?.url);
  const isElsewhere = hasMoved(url, stored?.url);
  return {
    command: unmaskAddress('command', given.command, stored?.command),
    args: given.args.map((argument, index) => unmaskArgument(argument, index, stored?.args ?? [])),
    env: unmaskValues('env', given.env, stored?.env ?? {}),
    // Otherwise whoever may change the address could send the header to another host without ever seeing it.
    headers: unmaskValues('headers', given.headers, isElsewhere ? {} : (stored?.headers ?? {})),
    url,
    oauth: given.oauth && unmaskOAuth(given.oauth, isElsewhere ? undefined : stored?.oauth),
  };
}

function unmaskOAuth(given: OAuthSettings, stored: OAuthSettings | undefined): OAuthSettings {
  if (given.clientSecret !== MASK) return given;
  if (stored?.clientSecret === undefined) throw noSuchValue('oauth.clientSecret');
  return { ...given, clientSecret: stored.clientSecret };
}

function unmaskValues(field: 'env' | 'headers', given: Values, stored: Values): Values {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (value !== MASK) return [name, value];
      const kept = Object.hasOwn(stored, name) ? stored[name] : undefined;
      if (kept === undefined) throw noSuchValue(`${field}.${name}`);
      return [name, kept];
    }),
  );
}

function unmaskArgument(given: string, index: number, stored: readonly string[]): string {
  if (!given.includes(MASK)) return given;
  const masked = stored.map((argument, at) => hideInArgument(argument, stored[at - 1]).shown);
  const at = masked[index] === given ? index : masked.indexOf(given);
  const kept = stored[at];
  if (kept === undefined) throw noSuchValue(`args.${index}`);
  return kept;
}

function unmaskAddress(
  field: 'command' | 'url',
  given: string | undefined,
  stored: string | undefined,
): string | undefined {
  if (given === undefined || !given.includes(MASK)) return given;
  if (stored !== undefined && hideInAddress(stored).shown === given) return stored;
  throw noSuchValue(field);
}

/** Whether requests to this address would reach another host than before. */
export const hasMoved = (url: string | undefined, before: string | undefined): boolean =>
  originOf(url) !== originOf(before);

const originOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;

const noSuchValue = (path: string) =>
  wrongField(path, `${MASK} stands for no stored value here; write the value itself`);

import { z } from 'zod';
import type { OidcSettings } from '../../gateway/auth/oidc/oidc-settings.ts';
import { isLoopbackHost } from '../../gateway/auth/origin-policy.ts';
import { present } from '../../home/home-path.ts';
import { StartError } from '../../start-error.ts';

/** Everything that the daemon gets from the provider depends on this address, so nobody may change its answers. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || /[?#]/.test(text)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.host));
}

const isBase = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && !/[?#]/.test(text);
};

/** Of a role: its id, or its name. */
const RoleName = z.string().max(64);

export const OidcConfig = z
  .object({
    issuer: z
      .string()
      .max(2_048)
      .refine(isIssuer, 'must be an https address without a query (http only on a loopback address)')
      .optional()
      .describe('The issuer of an OpenID Connect provider through which people log in. Default: none.'),
    clientId: z.string().min(1).max(512).optional().describe('The client id that the provider gave to Headgate.'),
    clientSecret: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe('The client secret that the provider gave to Headgate.'),
    clientSecretEnv: z.string().min(1).optional().describe('The environment variable that holds the client secret.'),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/, 'must be a scope without spaces'))
      .max(32)
      .default(['openid', 'profile', 'email'])
      .describe('The scopes that are requested; openid is always one of them.'),
    providerName: z.string().trim().min(1).max(64).default('SSO').describe('The name on the login button.'),
    roleClaim: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('The claim that lists the groups of a person, such as groups or realm_access.roles.'),
    roleMap: z
      .record(z.string().min(1).max(256), RoleName.min(1))
      .default({})
      .describe('Roles by group: members of the group have the role as long as the claim lists it.'),
    defaultRole: RoleName.default('builtin-viewer').describe(
      'The role of people without a role by group. Empty: they cannot log in.',
    ),
    createUsers: z.boolean().default(true).describe('Whether a first login creates a user.'),
    passwordEnabled: z.boolean().default(true).describe('Whether users may also log in with a password.'),
    redirectBase: z
      .string()
      .max(2_048)
      .refine(isBase, 'must be an http or https address without a query')
      .optional()
      .describe('The address to which the provider sends browsers back. Default: server.publicUrl.'),
  })
  .refine(({ clientSecret, clientSecretEnv }) => clientSecret === undefined || clientSecretEnv === undefined, {
    message: 'has both clientSecret and clientSecretEnv; use one of them',
  })
  .refine(({ issuer, clientId }) => issuer === undefined || clientId !== undefined, {
    message: 'needs clientId',
  });
export type OidcConfig = z.infer<typeof OidcConfig>;

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that win over config.json, with the setting that each of them replaces. */
const OIDC_VARIABLES = {
  SERVICE_OIDC_ISSUER: { key: 'issuer', parse: asText },
  SERVICE_OIDC_CLIENT_ID: { key: 'clientId', parse: asText },
  SERVICE_OIDC_CLIENT_SECRET: { key: 'clientSecret', parse: asText },
  SERVICE_OIDC_SCOPES: { key: 'scopes', parse: (text: string) => text.split(/[\s,]+/).filter((scope) => scope !== '') },
  SERVICE_OIDC_PROVIDER_NAME: { key: 'providerName', parse: asText },
  SERVICE_OIDC_ROLE_CLAIM: { key: 'roleClaim', parse: asText },
  SERVICE_OIDC_ROLE_MAP: { key: 'roleMap', parse: asRoleMap },
  SERVICE_OIDC_PASSWORD_ENABLED: { key: 'passwordEnabled', parse: asSwitch },
  SERVICE_OIDC_REDIRECT_BASE: { key: 'redirectBase', parse: asText },
} as const satisfies Record<string, { key: keyof OidcConfig; parse(text: string): unknown }>;

/** The settings of config.json that the environment replaces, as it gives them. */
export function oidcOverridesOf(environment: Environment): Map<keyof OidcConfig, unknown> {
  const given = present(environment);
  return new Map(
    Object.entries(OIDC_VARIABLES).flatMap(([name, { key, parse }]) => {
      const text = given[name];
      return text === undefined ? [] : [[key, parse(text)] as const];
    }),
  );
}

interface Around {
  environment: Environment;
  /** The public address, if one is configured. */
  publicUrl: string | undefined;
  /** Whether only this machine can reach the daemon. */
  isLoopback: boolean;
  /** The address of the daemon for browsers on this machine. */
  baseUrl(): string;
}

/** The provider in force; undefined if there is none. Throws StartError. */
export function resolveOidc(
  config: OidcConfig,
  { environment, publicUrl, isLoopback, baseUrl }: Around,
): OidcSettings | undefined {
  const overrides = oidcOverridesOf(environment);
  const merged: Record<string, unknown> = Object.assign({}, config, Object.fromEntries(overrides));
  if (overrides.has('clientSecret')) delete merged.clientSecretEnv;
  const parsed = OidcConfig.safeParse(merged);
  if (!parsed.success) throw new StartError(`oidc: ${parsed.error.issues.map(toWords).join('; ')}.`);
  const { issuer, clientId, clientSecretEnv, redirectBase = publicUrl, roleMap, ...rest } = parsed.data;
  if (issuer === undefined || clientId === undefined) return undefined;
  const clientSecret = rest.clientSecret ?? (clientSecretEnv && present(environment)[clientSecretEnv]);
  if (clientSecretEnv !== undefined && clientSecret === undefined)
    throw new StartError(`oidc.clientSecretEnv: the environment has no ${clientSecretEnv}`);
  if (redirectBase === undefined && !isLoopback)
    throw new StartError('oidc.redirectBase: required, because the daemon does not know its public address');
  return {
    issuer,
    clientId,
    clientSecret,
    scopes: [...new Set(['openid', ...rest.scopes])],
    providerName: rest.providerName,
    roleClaim: rest.roleClaim,
    roleMap: new Map(Object.entries(roleMap)),
    defaultRole: rest.defaultRole === '' ? undefined : rest.defaultRole,
    createUsers: rest.createUsers,
    passwordEnabled: rest.passwordEnabled,
    base: () => (redirectBase ?? baseUrl()).replace(/\/$/, ''),
  };
}

/** Names the setting, and the variable if the value may come from one. Never the value. */
function toWords({ path, message }: { path: PropertyKey[]; message: string }): string {
  const [key] = path;
  const [variable] = Object.entries(OIDC_VARIABLES).find(([, known]) => known.key === key) ?? [];
  if (key === undefined) return message;
  return `${path.map(String).join('.')}${variable === undefined ? '' : ` (${variable})`}: ${message}`;
}

function asText(text: string): string {
  return text;
}

/** JSON, or `group=role,other=role`. What is neither is refused as a role map. */
function asRoleMap(text: string): unknown {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      return text; // the schema refuses it
    }
  }
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  return pairs.every((pair) => pair.length === 2) ? Object.fromEntries(pairs) : text;
}

function asSwitch(text: string): unknown {
  const word = text.toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(word)) return true;
  return ['0', 'false', 'no', 'off'].includes(word) ? false : text;
}

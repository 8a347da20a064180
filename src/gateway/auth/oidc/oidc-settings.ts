/** The provider through which people log in, and what becomes of them. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Undefined for a public client, which PKCE protects alone. */
  clientSecret: string | undefined;
  scopes: readonly string[];
  /** The name on the login button. */
  providerName: string;
  /** The claim that lists the groups of a person; a path with dots for a nested one. */
  roleClaim: string | undefined;
  /** The id or name of a role, by group. */
  roleMap: ReadonlyMap<string, string>;
  /** The role of people without one by group; undefined: they have none. */
  defaultRole: string | undefined;
  /** Whether a first login creates a user. */
  createUsers: boolean;
  /** Whether users may also log in with a password. */
  passwordEnabled: boolean;
  /** The address of the daemon as browsers reach it, without a slash at the end; known once the daemon listens. */
  base(): string;
}

/** Where the provider sends browsers back. */
export const redirectUriOf = ({ base }: Pick<OidcSettings, 'base'>): string => `${base()}/v1/api/auth/oidc/callback`;

/** Where a browser begins a login; on the same host as the end of it, because its cookie is of one host. */
export const authorizeUrlOf = ({ base }: Pick<OidcSettings, 'base'>): string => `${base()}/v1/api/auth/oidc/authorize`;

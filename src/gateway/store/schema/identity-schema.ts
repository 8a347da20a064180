/** A person at an OpenID Connect provider who is a user. Primary key (issuer, subject). */
export interface OidcIdentityTable {
  issuer: string;
  subject: string;
  user_id: string;
  created_ms: number;
  last_login_ms: number | null;
}

/** Schema version 32: the users that log in through a provider. */
export const identities: readonly string[] = [
  `create table oidc_identities (
    issuer text not null, subject text not null, user_id text not null, created_ms bigint not null,
    last_login_ms bigint, primary key (issuer, subject)
  )`,
  'create index oidc_identities_by_user on oidc_identities (user_id)',
];

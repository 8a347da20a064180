import { z } from 'zod';
import { always, contract, TOKEN_SCOPES } from '../../contract.ts';

const TokenScope = z.enum(TOKEN_SCOPES);
export type TokenScope = z.infer<typeof TokenScope>;

const TokenName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._ -]{0,63}$/, 'must be 1 to 64 letters, digits, spaces or . _ -');

/** An API token without its secret. Times are milliseconds since the Unix epoch; null: never. */
export const ApiToken = z
  .strictObject({
    tokenId: z.string(),
    /** The first eight characters of the token; empty for tokens of earlier versions. */
    tokenPrefix: z.string(),
    name: z.string(),
    scope: TokenScope,
    /** The principal that created it. */
    createdBy: z.string(),
    createdAtMs: z.int().min(0),
    /** The user that it acts for; absent for tokens below the operator. */
    userId: z.string().optional(),
    expiresAtMs: z.int().min(0).nullable(),
    lastUsedAtMs: z.int().min(0).nullable(),
  })
  .meta({ id: 'ApiToken' });
export type ApiToken = z.infer<typeof ApiToken>;

/** An API token with its secret. */
const Created = () => ApiToken.extend({ token: z.string().regex(/^svc_[0-9a-f]{64}$/) });

/** Creates, lists, renews and revokes API tokens. */
export const tokenContracts = {
  'token.create': contract({
    summary: 'Create an API token. Only this answer ever contains it.',
    scope: 'approve',
    audit: { action: 'token.create', id: 'tokenId' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({
          name: TokenName,
          scope: TokenScope,
          /** One minute to ten years. Default: the token does not expire. With the scope `service`: at most, and by default, an hour. */
          expiresInMs: z.int().min(60_000).max(315_576_000_000).optional(),
        })
        .meta({ id: 'TokenCreateParams' }),
    result: () => Created().meta({ id: 'TokenCreateResult' }),
  }),
  'token.refresh': contract({
    summary:
      'Give the service token of the caller a new secret that lasts another hour. Only this answer ever contains it.',
    scope: 'service',
    audit: { action: 'token.refresh', id: 'tokenId' },
    params: () => z.strictObject({}).meta({ id: 'TokenRefreshParams' }),
    result: () => Created().meta({ id: 'TokenRefreshResult' }),
  }),
  'token.list': contract({
    summary: 'The API tokens that are not revoked, oldest first.',
    scope: 'approve',
    params: () => z.strictObject({}).meta({ id: 'TokenListParams' }),
    result: () => z.strictObject({ tokens: z.array(ApiToken) }).meta({ id: 'TokenListResult' }),
  }),
  'token.revoke': contract({
    summary: 'Revoke an API token; its open sockets and streams end within a second.',
    scope: 'approve',
    audit: { action: 'token.revoke', id: 'tokenId' },
    stepUp: always,
    params: () => z.strictObject({ tokenId: z.string().min(1).max(64) }).meta({ id: 'TokenRevokeParams' }),
    result: () => z.strictObject({ revoked: z.literal(true) }).meta({ id: 'TokenRevokeResult' }),
  }),
};

import { z } from 'zod';

/** What a tool server and its provider said of themselves when the person consented. Later requests go nowhere else. */
export const Provider = z.object({
  /** The configured address of the tool server. */
  url: z.string(),
  issuer: z.string(),
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  registrationEndpoint: z.string().optional(),
  revocationEndpoint: z.string().optional(),
  authMethods: z.array(z.string()),
  /** Whether its answers always name the issuer (RFC 9207). */
  namesIssuer: z.boolean(),
  /** Whether a client may be the address of a document about it. */
  readsDocuments: z.boolean().default(false),
  scopes: z.array(z.string()),
  /** For what the tokens are (RFC 8707). */
  resource: z.string().optional(),
});
export type Provider = z.infer<typeof Provider>;

/** The daemon as a client of a provider. */
export const OAuthClient = z.object({
  issuer: z.string(),
  redirectUri: z.string(),
  clientId: z.string(),
  clientSecret: z.string().optional(),
  authMethod: z.string().optional(),
  /** When the secret expires. */
  expiresMs: z.number().optional(),
});
export type OAuthClient = z.infer<typeof OAuthClient>;

/** The account of a user, as it is stored. */
export const StoredConsent = z.object({
  provider: Provider,
  client: OAuthClient,
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** From when on the token is renewed before it is used. */
  renewMs: z.number().optional(),
});
export type StoredConsent = z.infer<typeof StoredConsent>;

/** What a request for consent needs for its answer. */
export const StoredRequest = z.object({
  provider: Provider,
  client: OAuthClient,
  verifier: z.string(),
  scopes: z.array(z.string()),
});
export type StoredRequest = z.infer<typeof StoredRequest>;

/** Undefined for a text that an earlier or later version wrote in another way. */
export function readSealed<T extends z.ZodType>(schema: T, text: string | undefined): z.infer<T> | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

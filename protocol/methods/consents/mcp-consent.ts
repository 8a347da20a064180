import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';

/** Why a consent did not come about: `reason` in the details of the error, and `mcp_oauth_error` in the address of the page. */
export const CONSENT_REFUSALS = [
  'expired',
  'other_browser',
  'denied',
  'changed',
  'provider_refused',
  'provider_unavailable',
  'provider_unconfirmed',
  'account_disabled',
] as const;
/** One of them. */
export type ConsentRefusal = (typeof CONSENT_REFUSALS)[number];

const AtMs = z.int().min(0);
const ServerName = NonEmpty.max(64);
/** Longer than what providers send; authorization codes may be JWTs. */
const Answer = z.string().max(8_192);

/** An account of the caller at a tool server. */
const McpConsent = z
  .strictObject({
    server: z.string(),
    /** The rights at the server, as it names them. */
    scopes: z.array(z.string()),
    connectedAtMs: AtMs,
    /** When the token expires; it is renewed before, if the provider allows that. Null: it is not known. */
    expiresAtMs: AtMs.nullable(),
  })
  .meta({ id: 'McpConsent' });

/** A call needed an account that the caller has not connected, or further rights of it. */
const McpPendingConsent = z
  .strictObject({
    server: z.string(),
    code: z.string(),
    scopes: z.array(z.string()),
    /** Where the person begins to consent. */
    url: z.string(),
    sinceMs: AtMs,
  })
  .meta({ id: 'McpPendingConsent' });

const Done = () => z.strictObject({ status: z.literal('ok') });

/** The accounts of people at tool servers (OAuth). All but `mcp.consent.revoke` concern only the caller's own. */
export const mcpConsentContracts = {
  'mcp.consent.begin': contract({
    summary:
      'Begin to connect an account to a tool server: the address to open, and a text that only this browser may know.',
    scope: 'write',
    weight: 5,
    audit: { action: 'mcp.consent.begin', id: 'server' },
    params: () =>
      z
        .strictObject({
          server: ServerName,
          /** Rights that the configuration or the server has asked for. Default: all of them. */
          scopes: z.array(NonEmpty.max(200)).max(50).optional(),
        })
        .meta({ id: 'McpConsentBeginParams' }),
    result: () =>
      z
        .strictObject({
          url: z.string(),
          /** Names this attempt: the beginning of the `state` that comes back. */
          id: z.string(),
          /** Binds the answer of the provider to the browser that asked for it. Valid once, for ten minutes. */
          pending: z.string(),
          expiresAtMs: AtMs,
        })
        .meta({ id: 'McpConsentBeginResult' }),
  }),
  'mcp.consent.finish': contract({
    summary: 'Exchange the answer of the provider of a tool server for an account of whoever began.',
    scope: 'public',
    audit: { action: 'mcp.consent', by: 'handler' },
    params: () =>
      z
        .strictObject({
          pending: optionalText(512),
          state: Answer,
          code: optionalText(8_192),
          iss: optionalText(8_192),
          /** An error of the provider, in place of a code. */
          error: optionalText(8_192),
        })
        .meta({ id: 'McpConsentFinishParams' }),
    result: () => z.strictObject({ server: z.string() }).meta({ id: 'McpConsentFinishResult' }),
  }),
  'mcp.consent.list': contract({
    summary: 'The accounts that the caller has connected to tool servers. Never shows a token.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'McpConsentListParams' }),
    result: () =>
      z
        .strictObject({
          consents: z.array(McpConsent),
          /** All tool servers that are used with accounts, and where a person begins to connect one. */
          servers: z.array(z.strictObject({ server: z.string(), url: z.string() })),
        })
        .meta({ id: 'McpConsentListResult' }),
  }),
  'mcp.consent.remove': contract({
    summary: 'Disconnect an account of the caller from a tool server, and revoke its token at the provider.',
    scope: 'write',
    audit: { action: 'mcp.consent.remove', id: 'server' },
    params: () => z.strictObject({ server: ServerName }).meta({ id: 'McpConsentRemoveParams' }),
    result: () => Done().meta({ id: 'McpConsentRemoveResult' }),
  }),
  'mcp.consent.pending': contract({
    summary: 'The tool servers that calls of the caller needed an account for, or further rights.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'McpConsentPendingParams' }),
    result: () =>
      z
        .strictObject({
          /** Whether any tool server is used with accounts. */
          isUsed: z.boolean(),
          pending: z.array(McpPendingConsent),
        })
        .meta({ id: 'McpConsentPendingResult' }),
  }),
  'mcp.consent.dismiss': contract({
    summary: 'Forget that calls of the caller needed an account: at one tool server, or at all.',
    scope: 'read',
    params: () => z.strictObject({ server: optionalText(64) }).meta({ id: 'McpConsentDismissParams' }),
    result: () => Done().meta({ id: 'McpConsentDismissResult' }),
  }),
  'mcp.consent.revoke': contract({
    summary: 'Disconnect the accounts of all users from a tool server.',
    scope: 'approve',
    permission: 'admin.mcp',
    audit: { action: 'mcp.consent.revoke', id: 'server' },
    stepUp: always,
    params: () => z.strictObject({ server: ServerName }).meta({ id: 'McpConsentRevokeParams' }),
    result: () =>
      z
        .strictObject({ rowsDeleted: z.int().min(0), usersBefore: z.int().min(0) })
        .meta({ id: 'McpConsentRevokeResult' }),
  }),
};

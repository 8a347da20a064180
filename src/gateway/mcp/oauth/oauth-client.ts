import type { OAuthServer } from '../../../agent/mcp/accounts/accounts.ts';
import { fillVariables } from '../../../agent/mcp/server-config.ts';
import { CONSENT_CALLBACK } from '../../auth/origin-policy.ts';
import { placeIn } from '../../secrets/sealed-rows.ts';
import type { ConsentDeps } from './consent-deps.ts';
import { findClient, listConsents, putClient } from './consent-rows.ts';
import { type OAuthFetch, ProviderUnconfirmed, ProviderUnfit, register } from './oauth-protocol.ts';
import { OAuthClient, type Provider, readSealed, StoredConsent } from './sealed-texts.ts';

/** A registration that expires sooner is not used for a consent: the person may stay at the provider so long. */
const LEFT_MS = 10 * 60_000;

/**
 * What the daemon is to a provider, in the order of the protocol: a client that was registered by hand, one that a document
 * describes, or one that it registers itself.
 */
export async function findOrRegister(
  server: OAuthServer,
  { provider, fetch }: { provider: Provider; fetch: OAuthFetch },
  deps: ConsentDeps,
): Promise<OAuthClient> {
  const redirectUri = new URL(CONSENT_CALLBACK, deps.baseUrl()).href;
  const place = { issuer: provider.issuer, redirectUri };
  const fixed = toFixedClient(server, place, deps);
  if (fixed) await requireKnownIssuer(server, { client: fixed, provider }, deps);
  return (
    fixed ??
    toDescribedClient(provider, place, deps) ??
    (await findRegistered(server.name, place, deps)) ??
    (await registerNew(server.name, await register(provider, redirectUri, fetch), deps))
  );
}

interface ClientPlace {
  issuer: string;
  redirectUri: string;
}

function toFixedClient(
  { oauth, storedId }: Pick<OAuthServer, 'oauth' | 'storedId'>,
  place: ClientPlace,
  { environment }: Pick<ConsentDeps, 'environment'>,
): OAuthClient | undefined {
  if (oauth.clientId === undefined) return undefined;
  const given: Record<string, string> = oauth.clientSecret === undefined ? {} : { secret: oauth.clientSecret };
  const filled = fillVariables(given, { storedId }, environment);
  if (typeof filled === 'string') throw new ProviderUnfit(filled);
  return { ...place, clientId: oauth.clientId, ...(filled.secret !== undefined && { clientSecret: filled.secret }) };
}

/** Whether it was registered by hand, so that what it is may change only in the settings of the server. */
export const isFixed = ({ oauth }: Pick<OAuthServer, 'oauth'>, { clientId }: Pick<OAuthClient, 'clientId'>): boolean =>
  oauth.clientId === clientId;

/** A client as it is now: the secret of one that was registered by hand may have been replaced since it was stored. */
export function presentClient(
  server: Pick<OAuthServer, 'oauth' | 'storedId'> | undefined,
  client: OAuthClient,
  deps: Pick<ConsentDeps, 'environment'>,
): OAuthClient {
  const { issuer, redirectUri } = client;
  if (!server || !isFixed(server, client) || isElsewhere(server, client)) return client;
  return toFixedClient(server, { issuer, redirectUri }, deps) ?? client;
}

/** Whether the settings say that the client of its id belongs to another provider. */
export const isElsewhere = (
  { oauth }: Pick<OAuthServer, 'oauth'>,
  { clientId, issuer }: Pick<OAuthClient, 'clientId' | 'issuer'>,
): boolean => oauth.clientId === clientId && oauth.issuer !== undefined && !isSameIssuer(oauth.issuer, issuer);

/** People leave the last slash out, and so do some providers. */
const isSameIssuer = (one: string, other: string): boolean => hrefOf(one) === hrefOf(other);

const hrefOf = (url: string): string => new URL(url).href.replace(/\/$/, '');

/**
 * A client that was registered by hand belongs to one provider, which gets its secret and the codes of all consents. The tool
 * server names the provider, so a person has to have said that it is this one: in the settings, or in an earlier version by
 * the first consent.
 */
async function requireKnownIssuer(
  server: OAuthServer,
  { client, provider }: { client: OAuthClient; provider: Provider },
  deps: ConsentDeps,
): Promise<void> {
  const named = hrefOf(client.issuer).slice(0, MOST_NAMED);
  if (isElsewhere(server, client))
    throw new ProviderUnconfirmed(
      `it names the provider ${named}, but oauth.clientId is registered with ${server.oauth.issuer} (oauth.issuer)`,
    );
  if (server.oauth.issuer !== undefined) return;
  const known = (await findPinned(server.name, deps)) ?? (await findUsed(server, client, deps));
  const isKnown = known?.clientId === client.clientId;
  if (isKnown && known.issuer === client.issuer) return;
  const other = isKnown ? `another provider than before, ${named}` : `the provider ${named}`;
  throw new ProviderUnconfirmed(
    `it names ${other}, which would get oauth.clientSecret and the codes of all consents at ${new URL(provider.tokenEndpoint).host}. If oauth.clientId is registered there, an administrator has to set oauth.issuer to it`,
  );
}

const MOST_NAMED = 200;

/** Remembers the provider of a client that was registered by hand. No registration is read from it: it has no address. */
export const toPin = ({ issuer, clientId }: OAuthClient): OAuthClient => ({ issuer, clientId, redirectUri: '' });

async function findPinned(server: string, { store, vault }: ConsentDeps): Promise<OAuthClient | undefined> {
  const sealed = await findClient(store, server);
  return sealed === undefined ? undefined : readSealed(OAuthClient, vault.open(placeIn('mcp_clients', server), sealed));
}

/** Accounts that an earlier version stored have no row of their client. */
async function findUsed(
  { name, url }: OAuthServer,
  { clientId }: OAuthClient,
  { store, vault }: ConsentDeps,
): Promise<OAuthClient | undefined> {
  for (const { consent_id: id, sealed } of await listConsents(store, { server: name })) {
    const stored = readSealed(StoredConsent, vault.open(placeIn('mcp_consents', id), sealed));
    if (stored?.client.clientId === clientId && stored.provider.url === url) return stored.client;
  }
  return undefined;
}

/** The provider reads the document itself, so nothing is registered, and there is no secret. */
function toDescribedClient(
  { readsDocuments }: Provider,
  place: ClientPlace,
  { live }: Pick<ConsentDeps, 'live'>,
): OAuthClient | undefined {
  const { clientMetadataUrl } = live.mcp;
  if (!readsDocuments || clientMetadataUrl === undefined) return undefined;
  return { ...place, clientId: clientMetadataUrl, authMethod: 'none' };
}

async function findRegistered(
  server: string,
  { issuer, redirectUri }: ClientPlace,
  deps: ConsentDeps,
): Promise<OAuthClient | undefined> {
  const client = await findPinned(server, deps);
  if (!client || client.issuer !== issuer || client.redirectUri !== redirectUri) return undefined;
  return client.expiresMs === undefined || client.expiresMs > deps.clock.now() + LEFT_MS ? client : undefined;
}

async function registerNew(server: string, client: OAuthClient, { vault, clock }: ConsentDeps): Promise<OAuthClient> {
  await vault.commitSealed((seal) => [
    putClient(server, seal(placeIn('mcp_clients', server), JSON.stringify(client)), clock.now()),
  ]);
  return client;
}

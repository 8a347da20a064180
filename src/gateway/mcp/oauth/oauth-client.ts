import type { OAuthServer } from '../../../agent/mcp/accounts/accounts.ts';
import { fillVariables } from '../../../agent/mcp/server-config.ts';
import { CONSENT_CALLBACK } from '../../auth/origin-policy.ts';
import { placeIn } from '../../secrets/sealed-rows.ts';
import type { ConsentDeps } from './consent-deps.ts';
import { findClient, putClient } from './consent-rows.ts';
import { type OAuthFetch, ProviderUnfit, register } from './oauth-protocol.ts';
import { OAuthClient, type Provider, readSealed } from './sealed-texts.ts';

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
  return (
    toFixedClient(server, place, deps) ??
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
  { oauth, storedId }: OAuthServer,
  place: ClientPlace,
  { environment }: ConsentDeps,
): OAuthClient | undefined {
  if (oauth.clientId === undefined) return undefined;
  const given: Record<string, string> = oauth.clientSecret === undefined ? {} : { secret: oauth.clientSecret };
  const filled = fillVariables(given, { storedId }, environment);
  if (typeof filled === 'string') throw new ProviderUnfit(filled);
  return { ...place, clientId: oauth.clientId, ...(filled.secret !== undefined && { clientSecret: filled.secret }) };
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
  { store, vault, clock }: ConsentDeps,
): Promise<OAuthClient | undefined> {
  const sealed = await findClient(store, server);
  const client = sealed && readSealed(OAuthClient, vault.open(placeIn('mcp_clients', server), sealed));
  if (!client || client.issuer !== issuer || client.redirectUri !== redirectUri) return undefined;
  return client.expiresMs === undefined || client.expiresMs > clock.now() + LEFT_MS ? client : undefined;
}

async function registerNew(server: string, client: OAuthClient, { vault, clock }: ConsentDeps): Promise<OAuthClient> {
  await vault.commitSealed((seal) => [
    putClient(server, seal(placeIn('mcp_clients', server), JSON.stringify(client)), clock.now()),
  ]);
  return client;
}

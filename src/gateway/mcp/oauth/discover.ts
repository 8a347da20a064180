import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { scopesIn } from '../../../agent/mcp/accounts/consent-problem.ts';
import { requireSecure } from './oauth-fetch.ts';
import { load, type OAuthFetch, ProviderUnfit } from './oauth-protocol.ts';
import type { Provider } from './sealed-texts.ts';

/** Finds out who gives tokens for a tool server (RFC 9728, RFC 8414), and for which rights it asks. */
export async function discover(url: string, fetch: OAuthFetch): Promise<{ provider: Provider; asked: string[] }> {
  const { discoverOAuthServerInfo, extractWWWAuthenticateParams, checkResourceAllowed, resourceUrlFromServerUrl } =
    await load();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(await knock(url, fetch));
  const found = await discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    skipIssuerMetadataValidation: true, // it is checked below
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  });
  const { authorizationServerMetadata: metadata, resourceMetadata, authorizationServerUrl } = found;
  const resource = resourceMetadata?.resource;
  const requestedResource = resourceUrlFromServerUrl(url);
  if (resource !== undefined && !checkResourceAllowed({ requestedResource, configuredResource: resource }))
    throw new ProviderUnfit('the tool server says that it is another resource than the configured address');
  const isNamed = (resourceMetadata?.authorization_servers ?? []).length > 0;
  if (metadata) requireIssuerOf(metadata, { asked: authorizationServerUrl, isNamed });
  const asked = scopesIn(scope ?? resourceMetadata?.scopes_supported?.join(' '));
  const about = metadata ? toProvider(url, metadata) : usualPaths(url, authorizationServerUrl);
  return { provider: { ...about, ...(resource !== undefined && { resource }) }, asked };
}

/** What a server answers to somebody without a token. */
function knock(url: string, fetch: OAuthFetch): Promise<Response> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'headgate', version: '1' } };
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
}

/**
 * Metadata counts for the provider that was asked for it (RFC 8414, section 3.3). A server that names no provider is its own,
 * as in the first revision of the protocol. There, the metadata is found at the root whatever the issuer is called, so any
 * name at the server's own origin is taken: nobody else can have written it.
 */
function requireIssuerOf(
  { issuer }: { issuer: string },
  { asked, isNamed }: { asked: string; isNamed: boolean },
): void {
  const expected = new URL(asked).href;
  if (issuer === asked || issuer === expected || `${issuer}/` === expected) return;
  if (!isNamed && URL.canParse(issuer) && new URL(issuer).origin === new URL(asked).origin) return;
  throw new ProviderUnfit('its provider says that it is another one than the one that was asked');
}

function toProvider(url: string, metadata: AuthorizationServerMetadata): Provider {
  const { issuer, authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  const methods = metadata.code_challenge_methods_supported;
  if (!methods?.includes('S256')) throw new ProviderUnfit('its provider does not support PKCE with S256');
  const revocation = 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  requireSecure(new URL(authorization_endpoint), new URL(url));
  return {
    url,
    issuer,
    authorizationEndpoint: authorization_endpoint,
    tokenEndpoint: token_endpoint,
    ...(registration_endpoint !== undefined && { registrationEndpoint: registration_endpoint }),
    ...(typeof revocation === 'string' && { revocationEndpoint: revocation }),
    authMethods: metadata.token_endpoint_auth_methods_supported ?? [],
    namesIssuer: metadata.authorization_response_iss_parameter_supported === true,
    readsDocuments: metadata.client_id_metadata_document_supported === true,
    scopes: metadata.scopes_supported ?? [],
  };
}

/** A server without any metadata is its own provider, at the paths of the protocol's first revision. */
function usualPaths(url: string, authorizationServerUrl: string): Provider {
  const { origin } = new URL(url);
  if (new URL(authorizationServerUrl).origin !== origin) throw new ProviderUnfit('its provider has no metadata');
  return {
    url,
    issuer: `${origin}/`,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    authMethods: [],
    namesIssuer: false,
    readsDocuments: false,
    scopes: [],
  };
}

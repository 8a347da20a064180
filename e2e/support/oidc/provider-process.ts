import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type ClientMetadata, type Configuration } from 'oidc-provider';

/** What the test sends: the provider to start, or what it knows about people from now on. */
export type ToProvider =
  | { kind: 'start'; issuer: string; client: ClientMetadata; jwks: Configuration['jwks'] }
  | { kind: 'people'; people: Record<string, Record<string, unknown>> };

// A certified OpenID provider in a process of its own. Anybody may log in under any name; the name is the subject.

let people: Record<string, Record<string, unknown>> = {};

process.on('message', (message: ToProvider) => {
  if (message.kind === 'people') people = message.people;
  else void start(message);
});
process.on('disconnect', () => process.exit());

async function start({ issuer, client, jwks }: Extract<ToProvider, { kind: 'start' }>): Promise<void> {
  const provider = new Provider(issuer, {
    clients: [client],
    jwks,
    cookies: { keys: ['only for tests'] },
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    scopes: ['openid', 'profile', 'email', 'groups'],
    pkce: { required: () => true },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: async () => ({ ...people[sub], sub }) }),
    // Without the page that asks for consent.
    async loadExistingGrant(ctx) {
      const { session, client: asking, params } = ctx.oidc;
      const accountId = session?.accountId;
      if (accountId === undefined || asking === undefined) return undefined;
      const grant = new ctx.oidc.provider.Grant({ clientId: asking.clientId, accountId });
      grant.addOIDCScope(String(params?.scope));
      await grant.save();
      return grant;
    },
  });
  const server = createServer(provider.callback());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.send?.({ port: (server.address() as AddressInfo).port });
}

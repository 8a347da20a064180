import type { TestContext } from 'node:test';
import type { OAuthSettings } from '../../../agent/mcp/accounts/accounts.ts';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../../testing/temp-store.ts';
import { openSqliteStore } from '../../store/sqlite-store.ts';
import { build, statementOf } from '../../store/statements.ts';
import { openTestVault } from '../../testing/test-vault.ts';
import type { ConsentDeps } from './consent-deps.ts';
import { Consents } from './consents.ts';

const URL_OF_SERVER = 'https://notes.example.com/mcp';
/** The provider. */
export const ISSUER = 'https://sso.example.com';

/** A tool server and its provider in place of `fetch`. */
function fakeNotes() {
  const state = {
    ...{ expiresIn: 3600 as number | undefined, refreshes: true, tokens: 0, ending: '', asked: [] as string[] },
    /** Of the requests for tokens. */
    sent: [] as URLSearchParams[],
    names: true,
    /** The provider that the server names. */
    issuer: ISSUER,
    registered: undefined as Record<string, unknown> | undefined,
    beforeToken: async (): Promise<void> => undefined,
    /** With which it refuses to give tokens. */
    refusal: undefined as string | undefined,
    revoked: [] as string[],
  };
  const metadata = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/auth`,
    token_endpoint: `${ISSUER}/token`,
    registration_endpoint: `${ISSUER}/reg`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: false,
    revocation_endpoint: `${ISSUER}/revoke`,
  };
  const answers: Record<string, () => Response> = {
    '/.well-known/oauth-protected-resource/mcp': () =>
      state.names
        ? Response.json({ resource: URL_OF_SERVER, authorization_servers: [state.issuer] })
        : new Response('', { status: 404 }),
    '/.well-known/oauth-authorization-server': () =>
      Response.json({ ...metadata, ...(state.issuer !== ISSUER && { issuer: state.issuer }) }),
    '/reg': () =>
      Response.json(
        { client_id: 'c', redirect_uris: ['http://127.0.0.1:7717/v1/api/mcp/oauth/callback'] },
        { status: 201 },
      ),
    '/mcp': () => new Response('', { status: 401 }),
    '/revoke': () => new Response(''),
    '/token': () => {
      if (state.refusal !== undefined) return Response.json({ error: state.refusal }, { status: 400 });
      state.tokens += 1;
      const { tokens, expiresIn, refreshes } = state;
      return Response.json({
        access_token: `access-token-${tokens}${state.ending}`,
        token_type: 'Bearer',
        ...(expiresIn !== undefined && { expires_in: expiresIn }),
        ...(refreshes && { refresh_token: `refresh-token-${tokens}` }),
      });
    },
  };
  return Object.assign(state, {
    metadata,
    fetch: (async (input, init) => {
      const { pathname } = new URL(String(input));
      state.asked.push(pathname);
      if (pathname === '/token') state.sent.push(new URLSearchParams(String(init?.body)));
      if (pathname === '/token') await state.beforeToken();
      if (pathname === '/revoke') state.revoked.push(new URLSearchParams(String(init?.body)).get('token') ?? '');
      if (pathname === '/reg') state.registered = JSON.parse(String(init?.body));
      return answers[pathname]?.() ?? new Response('', { status: 404 });
    }) satisfies typeof fetch,
  });
}

/** Accounts of people at a tool server and its provider, which are functions. */
export async function setUp(t: TestContext) {
  const dir = tempDir();
  const clock = fakeClock(1_000_000);
  const log = recordingLog();
  const path = `${dir.path}/headgate.db`;
  const store = await openSqliteStore({ path, clock, log, durability: 'normal', bootId: 'b' });
  t.after(async () => {
    await store.close();
    dir[Symbol.dispose]();
  });
  const vault = await openTestVault(store, dir.path);
  const notes = fakeNotes();
  const disabled = new Set<string>();
  const oauth: OAuthSettings = { scopes: [] };
  const config = {
    ...{ url: URL_OF_SERVER, oauth, headers: {}, args: [], env: {}, network: [], folders: [] },
    ...{ writesFolders: false, sandbox: true, autoApprove: false, enabled: true, timeoutSecs: 20 },
  };
  const mcp: { servers: Record<string, typeof config>; clientMetadataUrl?: string | undefined } = {
    servers: { notes: config },
  };
  const bounds = { scopes: new Set([]), permissions: new Set([]), expiresAtMs: undefined };
  const deps: ConsentDeps = {
    store,
    vault,
    users: {
      count: 1,
      boundsOf: (user: string) => (disabled.has(user) ? undefined : { ...bounds, userId: user }),
      find: () => undefined,
      onChanged: () => undefined,
    },
    live: { mcp, privateHosts: [] },
    environment: {},
    fetch: notes.fetch,
    baseUrl: () => 'http://127.0.0.1:7717',
    hide: () => undefined,
    clock,
    ids: randomIds,
    log,
  };
  const consents = new Consents(deps);
  const nothing = () => [];
  return {
    ...{
      consents,
      notes,
      server: { name: 'notes', url: URL_OF_SERVER, oauth: config.oauth },
      config,
      mcp,
      clock,
      vault,
      store,
      disabled,
    },
    /** As after a restart. */
    reopened: () => new Consents(deps),
    async connect(user: string): Promise<void> {
      if (user !== '') {
        const row = { user_id: user, username: user, username_key: user, display_name: '', password_hash: null };
        const times = { disabled: 0, version: 1, created_ms: 1, updated_ms: 1, last_login_ms: null };
        const insert = build.insertInto('users').values({ ...row, ...times });
        await store.commit({ statements: [statementOf(insert.onConflict((on) => on.doNothing()))] });
      }
      const { url, browser } = await consents.begin(user, { server: 'notes', scopes: [] });
      const state = new URL(url).searchParams.get('state') ?? '';
      await consents.finish({ state, browser, code: 'c', iss: undefined, error: undefined }, nothing);
    },
  };
}

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ENDPOINTS } from '../../protocol/http/index.ts';
import { CONTRACTS } from '../../protocol/index.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { createSite } from '../../src/http/site/site.ts';
import { MAY_CALL, METHODS_BY_SCOPE, ROUTES_BY_SCOPE, ROUTES_OF_LOGINS } from '../support/clients/expected-rights.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';

const inbound = { burst: 1_000_000, perSecond: 1_000 };
const daemon = await startClockedDaemon({ server: { inbound }, ratelimit: { enabled: false } });
after(() => daemon[Symbol.asyncDispose]());
const operator = await daemon.connect();

const DAY_MS = 86_400_000;
const LADDER = ['read', 'write', 'approve'] as const;
const METHODS = Object.keys(CONTRACTS).filter((method) => method !== 'connect');

interface Made {
  token: string;
  tokenId: string;
}
const make = async (scope: string, name: string, expiresInMs?: number) =>
  (await operator.call('token.create', { scope, name, expiresInMs })) as Made;

async function login(token: string): Promise<string> {
  const response = await daemon.fetch('/v1/api/auth/login', jsonPost({ token }));
  return (await response.json()).jwt;
}

const jsonPost = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** A node's token, from pairing a machine that then disconnects. */
async function pairNode(nodeId: string): Promise<string> {
  const socket = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
  await socket.call('connect', connectOf(undefined, { mode: 'node', instanceId: nodeId }));
  const { request } = (await socket.call('node.pair.request', { nodeId })) as { request: { requestId: string } };
  const { node } = (await operator.call('node.pair.approve', { requestId: request.requestId })) as { node: Made };
  socket.socket.close();
  await socket.closed;
  return node.token;
}

const connectOf = (token: string | undefined, client: object = {}) => ({
  ...CONNECT,
  client: { ...CONNECT.client, ...client },
  ...(token !== undefined && { auth: { token } }),
});

const [expiring, revoked, ...standing] = [
  await make('approve', 'expiring', 3_600_000),
  await make('approve', 'revoked'),
  await make('read', 'of read'),
  await make('write', 'of write'),
  await make('approve', 'of approve'),
];
const endedLogins = { 'logged out': await login(daemon.token), 'login expired': await login(daemon.token) };
const nodeToken = await pairNode('paired');
const toldBefore = await daemon.fetch('/v1/api/workstreams', bearer(expiring.token));
await daemon.fetch('/v1/api/auth/logout', jsonPost({}, { authorization: `Bearer ${endedLogins['logged out']}` }));
await operator.call('token.revoke', { tokenId: revoked.tokenId });
daemon.clock.jump(DAY_MS + 1);

/** Invalid or expired credentials. */
const WORTHLESS: Record<string, string> = {
  ...{ revoked: revoked.token, expired: expiring.token, ...endedLogins },
  ...{ 'of a node': nodeToken, guessed: `svc_${'0'.repeat(64)}`, empty: '' },
};
const GOOD = await Promise.all(
  LADDER.map(async (scope, n) => ({
    scope,
    token: standing[n]?.token ?? '',
    jwt: await login(standing[n]?.token ?? ''),
  })),
);

function bearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

test('every method and every route has its expected right', async () => {
  const siteRoutes = createSite({
    page: {
      html: { text: '', encoded: {} },
      parts: new Map(),
      licenses: { text: '', encoded: {} },
      scriptSources: [],
      styleSources: [],
    },
    openapi: { text: '{}', encoded: {} },
    files: { find: async () => undefined },
    metrics: { text: async () => '' },
    respond: () => undefined,
  }).stack.flatMap(({ route }) => (route === undefined ? [] : [`GET ${route.path}`]));
  const rows = Object.values(ENDPOINTS).flatMap((group) =>
    Object.values(group).map(({ verb, path }) => `${verb.toUpperCase()} ${path}`),
  );
  const namesOf = (table: object) => new Set(Object.values(table).flat());
  const countOf = (table: object) => Object.values(table).flat().length;
  assert.deepEqual(namesOf(METHODS_BY_SCOPE), new Set(METHODS), 'the methods of expected-rights.ts');
  assert.deepEqual(namesOf(ROUTES_BY_SCOPE), new Set([...rows, ...siteRoutes]), 'the routes of expected-rights.ts');
  assert.deepEqual(
    [countOf(METHODS_BY_SCOPE), countOf(ROUTES_BY_SCOPE)],
    [METHODS.length, rows.length + siteRoutes.length],
    'every name appears once',
  );
});

const scopeOf = (table: Partial<Record<string, readonly string[]>>, name: string) =>
  Object.entries(table).find(([, names]) => names?.includes(name))?.[0];

/** Params that no method accepts: an authorized caller gets INVALID_REQUEST, others get FORBIDDEN, and nothing happens. */
const WRONG = { wrong: 'params' };

/** How many calls a machine that is not paired may make over one connection, without a wait. */
const FEW = 8;

/** The result of every method for a caller: `FORBIDDEN`, or `allowed` if its params are checked. */
async function tryMethods(connect: object, headers: Record<string, string> = {}): Promise<Record<string, string>> {
  const outcomes: [string, string][] = [];
  for (let at = 0; at < METHODS.length; at += FEW) {
    const { socket, call, request, closed } = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, headers);
    await call('connect', connect);
    for (const method of METHODS.slice(at, at + FEW)) {
      const { ok, error } = await request(method, WRONG);
      outcomes.push([method, ok || error?.code === 'INVALID_REQUEST' ? 'allowed' : (error?.code ?? '')]);
    }
    socket.close();
    await closed;
  }
  return Object.fromEntries(outcomes);
}

const expectedOf = (caller: keyof typeof MAY_CALL) => {
  const may: readonly string[] = MAY_CALL[caller];
  const outcomeOf = (method: string) =>
    may.includes(scopeOf(METHODS_BY_SCOPE, method) ?? '') ? 'allowed' : 'FORBIDDEN';
  return Object.fromEntries(METHODS.map((method) => [method, outcomeOf(method)]));
};

test('over WebSocket every method enforces its right for every scope, with tokens, logins and cookies', async () => {
  for (const { scope, token, jwt } of GOOD) {
    for (const credential of [token, jwt]) {
      assert.deepEqual(await tryMethods(connectOf(credential)), expectedOf(scope), scope);
    }
    const ofPage = { cookie: `service_auth=${jwt}`, origin: daemon.url };
    assert.deepEqual(await tryMethods(connectOf(undefined), ofPage), expectedOf(scope), `${scope} by cookie`);
  }
});

test('a node, paired or not, may call only node methods', async () => {
  const asNode = connectOf(nodeToken, { mode: 'node', instanceId: 'paired' });
  const asStranger = connectOf(undefined, { mode: 'node', instanceId: 'stranger' });
  assert.deepEqual(await tryMethods(asNode), expectedOf('node'));
  assert.deepEqual(await tryMethods(asStranger), expectedOf('unpaired'));
});

const UNAUTHORIZED = { code: 1008, reason: 'unauthorized' };

/** How many invalid credentials each method and route is tried with; every credential is tried with many of them. */
const TRIED_WITH = 2;
/** Some of the list, others for each `at`. */
const someOf = <T>(list: readonly T[], at: number): T[] =>
  Array.from({ length: TRIED_WITH }, (_, n) => list[(at + n * 3) % list.length] as T);

test('no method can be reached with an invalid credential or without one', async () => {
  const { port } = daemon;
  const basic = { authorization: `Basic ${Buffer.from(`operator:${daemon.token}`).toString('base64')}` };
  const all = Object.entries({ ...WORTHLESS, none: undefined, 'the header Basic': undefined });
  for (const [at, method] of METHODS.entries()) {
    for (const [what, token] of someOf(all, at)) {
      const headers: Record<string, string> = what === 'the header Basic' ? basic : {};
      const { socket, frames, closed } = await openClient(`ws://127.0.0.1:${port}/v1/ws`, headers);
      socket.send(JSON.stringify({ type: 'req', id: '1', method: 'connect', params: connectOf(token) }));
      socket.send(JSON.stringify({ type: 'req', id: '2', method, params: WRONG }));
      assert.deepEqual(await closed, UNAUTHORIZED, `${method} ${what}`);
      assert.deepEqual(
        frames.map((frame) => frame.type === 'res' && [frame.id, frame.error?.code]),
        [['1', 'UNAUTHORIZED']],
        `${method} ${what}`,
      );
    }
  }
});

test('no method can be reached without a handshake', async () => {
  for (const method of METHODS) {
    const { socket, frames, closed } = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {});
    socket.send(JSON.stringify({ type: 'req', id: '1', method, params: WRONG }));
    assert.deepEqual(await closed, { code: 1008, reason: 'invalid handshake' }, method);
    assert.deepEqual([frames.length, frames[0]?.type === 'res' && frames[0].ok], [1, false], method);
  }
});

/** The result of a route: `unauthorized`, `forbidden`, or `allowed` if it checks the request. */
async function tryRoute(route: string, headers: Record<string, string>): Promise<string> {
  const [method = '', path = ''] = route.split(' ');
  const stop = new AbortController();
  // The credential of a login is in its body, so the body contains a valid one.
  const body = path.endsWith('/auth/login') ? { token: daemon.token } : {};
  // No registry is asked for an unknown type of server.
  const query = path.endsWith('mcp-registry/search') ? '?type=none' : '';
  const { status } = await daemon.fetch(`${path.replaceAll(/\{\w+\}/g, 'none')}${query}`, {
    ...(method === 'GET' ? { headers } : { ...jsonPost(body, headers), method }), // a cookie is accepted only with JSON
    signal: stop.signal,
  });
  stop.abort(); // some are streams
  return (
    { 200: 'allowed', 204: 'allowed', 400: 'allowed', 401: 'unauthorized', 403: 'forbidden', 404: 'allowed' }[status] ??
    `${status}`
  );
}

const ROUTES = Object.values(ROUTES_BY_SCOPE).flat();

async function tryRoutes(headersOf: () => Promise<Record<string, string>>, routes: readonly string[] = ROUTES) {
  const outcomes: [string, string][] = [];
  let headers: Record<string, string> | undefined;
  for (const route of routes) {
    headers ??= await headersOf();
    outcomes.push([route, await tryRoute(route, headers)]);
    if (route.includes('/auth/')) headers = undefined; // a new login, because this route may have ended it
  }
  return Object.fromEntries(outcomes);
}

const expectedRoutes = (may: readonly string[], { as, refused }: { as: 'none' | 'token' | 'login'; refused: string }) =>
  Object.fromEntries(
    ROUTES.map((route) => {
      const isAllowed = may.includes(scopeOf(ROUTES_BY_SCOPE, route) ?? '');
      return [route, ROUTES_OF_LOGINS[route]?.[as] ?? (isAllowed ? 'allowed' : refused)];
    }),
  );

test('over HTTP every route enforces its right for every scope, with tokens, logins and cookies', async () => {
  for (const { scope, token } of GOOD) {
    const transports = {
      token: async () => ({ authorization: `Bearer ${token}` }),
      login: async () => ({ authorization: `Bearer ${await login(token)}` }),
      cookie: async () => ({ cookie: `service_auth=${await login(token)}` }),
    };
    for (const [transport, headersOf] of Object.entries(transports)) {
      assert.deepEqual(
        await tryRoutes(headersOf),
        expectedRoutes(MAY_CALL[scope], { as: transport === 'token' ? 'token' : 'login', refused: 'forbidden' }),
        `${scope} by ${transport}`,
      );
    }
  }
});

test('over HTTP an invalid credential gives access only to routes that need none', async () => {
  assert.equal(toldBefore.status, 200, 'the expired token was valid before');
  const expected = expectedRoutes(['public'], { as: 'none', refused: 'unauthorized' });
  assert.deepEqual(await tryRoutes(async () => ({})), expected, 'none');
  const all = Object.entries(WORTHLESS).flatMap(([what, token]) => [
    { what: `${what} by header`, headers: { authorization: `Bearer ${token}` } },
    { what: `${what} by cookie`, headers: { cookie: `service_auth=${token}` } },
  ]);
  for (const [at, route] of ROUTES.entries()) {
    for (const { what, headers } of someOf(all, at))
      assert.deepEqual(
        await tryRoutes(async () => headers, [route]),
        { [route]: expected[route] },
        `${what}: ${route}`,
      );
  }
});

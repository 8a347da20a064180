import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BUILTIN_ROLES, PERMISSIONS, type Permission } from '../../protocol/methods/accounts/permissions.ts';
import { refusalOfSecond } from '../support/clients/coordinator-rights.ts';
import { basic, bearer, cookie, type CredentialHeaders as Headers } from '../support/clients/credential-headers.ts';
import {
  CLOSED_TO_SERVICES,
  neededOf,
  ROUTES_BY_PERMISSION,
  ROUTES_BY_SCOPE,
  refusalOf,
} from '../support/clients/expected-rights.ts';
import { readBody } from '../support/clients/read-body.ts';
import { routedOf } from '../support/clients/routed-routes.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { NAMING_ROUTES, privateRoutes, routesThatName, UNKNOWN } from './private-routes.ts';
import { FIELDS, NOT_OUTSIDE, QUERY, SOURCE_CLOSED } from './required-fields.ts';

// Every route that needs a credential, for callers whose rights come from roles or from a service token, with each form
// of credential, and below the paths of a console. The scopes of tokens are tried in rights.test.ts.

const daemon = await startClockedDaemon({ ratelimit: { enabled: false }, ...NOT_OUTSIDE });
after(() => daemon[Symbol.asyncDispose]());
const operator = await daemon.connect();
const { node_id: nodeId } = await (await daemon.fetch('/health')).json();

const HOUR_MS = 3_600_000;
const PASSWORD = 'correct horse';
const { public: _public, ...PRIVATE } = ROUTES_BY_SCOPE;
const ROUTES = Object.values(PRIVATE).flat();
let names = 0;

/** `allowed` if the request was checked or served, else the words of the refusal. */
async function outcomeOf(route: string, headers: Headers): Promise<string> {
  const [method = '', path = ''] = route.split(' ');
  const stop = new AbortController();
  const hasBody = method !== 'GET';
  const answer = await daemon.fetch(`${path.replaceAll(/\{\w+\}/g, 'none')}${QUERY}`, {
    method,
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: JSON.stringify(FIELDS) }),
    signal: stop.signal,
  });
  const { status } = answer;
  const isRefused = status === 401 || status === 403 || status === 429 || (status >= 500 && status !== SOURCE_CLOSED);
  const words = isRefused ? (await readBody(answer)).error : 'allowed';
  stop.abort(); // some are streams
  return words;
}

async function outcomesOf(routes: readonly string[], headers: Headers): Promise<Record<string, string>> {
  const found: [string, string][] = [];
  for (const route of routes) found.push([route, await outcomeOf(route, headers)]);
  return Object.fromEntries(found);
}

const keyOf = (table: Partial<Record<string, readonly string[]>>, route: string) =>
  Object.entries(table).find(([, routes]) => routes?.includes(route))?.[0];

/** What holders of these permissions are answered, by the tables that were written a second time. */
function refusalFor(permissions: readonly string[], route: string): string | undefined {
  const isAdmin = permissions.some((held) => held.startsWith('admin.') || held === 'approve');
  const rungs = isAdmin ? ['read', 'write', 'approve'] : permissions.includes('write') ? ['read', 'write'] : ['read'];
  const scope = keyOf(PRIVATE, route) ?? '';
  if (!rungs.includes(scope)) return `Forbidden: token lacks '${scope}' scope`;
  const needed = neededOf(ROUTES_BY_PERMISSION, route);
  const isHeld = needed.length === 0 || needed.some((permission) => permissions.includes(permission));
  return isHeld ? undefined : refusalOf(needed);
}

const expectedOf = (routes: readonly string[], refusal: (route: string) => string | undefined) =>
  Object.fromEntries(routes.map((route) => [route, refusal(route) ?? 'allowed']));

/** Of a user with one new or built-in role. */
async function newPerson(role: string | readonly Permission[]) {
  names += 1;
  const username = `person-${names}`;
  const asked = { name: `role-${names}`, permissions: role };
  const made = typeof role === 'string' ? { roleId: role } : await operator.call('role.create', asked);
  const { roleId } = made as { roleId: string };
  const person = { username, password: PASSWORD };
  const about = { ...person, displayName: username, roles: [roleId] };
  const { userId } = (await operator.call('user.create', about)) as { userId: string };
  const { jwt } = (await operator.call('auth.login', person)) as { jwt: string };
  return { userId, username, jwt, roleId };
}

const newService = async () => {
  names += 1;
  const made = await operator.call('token.create', { name: `service-${names}`, scope: 'service' });
  return made as { token: string; tokenId: string };
};

/** The same route below the path of this machine, and below /v1/api/route where it is served there. */
const prefixed = (route: string): string[] => {
  const [verb, path] = route.split(' ');
  const routed = routedOf(route);
  return [`${verb} /node/${nodeId}${path}`, ...(routed === undefined ? [] : [routed])];
};

/** A part of the routes, others for each `at`, so that `of` callers in a row are tried with every route together. */
const partOf = (at: number, of: number): string[] => ROUTES.filter((_, index) => (index + at) % of === 0);
/** The same outcomes, by the route without a prefix. They are served by the same code, so each caller is tried with a part. */
async function checkPrefixed(
  { headers, at }: { headers: Headers; at: number },
  refusal: (route: string) => string | undefined,
): Promise<void> {
  for (const route of partOf(at, 4))
    for (const path of prefixed(route)) assert.equal(await outcomeOf(path, headers), refusal(route) ?? 'allowed', path);
}

test('each built-in role may use exactly the routes that its permissions open, by header and cookie, also below a prefix', async () => {
  for (const [at, [roleId, { permissions }]] of Object.entries(BUILTIN_ROLES).entries()) {
    const { jwt } = await newPerson(roleId);
    const refusal = (route: string) => refusalFor(permissions, route);
    for (const [way, headers] of [bearer(jwt), cookie(jwt)].entries()) {
      const routes = partOf(at + way, 2);
      assert.deepEqual(
        await outcomesOf(routes, headers),
        expectedOf(routes, refusal),
        `${roleId} ${Object.keys(headers)}`,
      );
    }
    await checkPrefixed({ headers: bearer(jwt), at }, refusal);
  }
});

test('each permission opens its own routes, and its lack closes them', async () => {
  const scopes = ['read', 'write', 'approve'] as const;
  const { jwt, roleId } = await newPerson(scopes);
  /** The login goes on with the rights of now. */
  const hold = (permissions: readonly Permission[]) =>
    operator.call('role.update', { roleId, permissions: [...permissions] });
  // A route that needs a permission which the table does not have is found here.
  assert.deepEqual(
    await outcomesOf(ROUTES, bearer(jwt)),
    expectedOf(ROUTES, (route) => refusalFor(scopes, route)),
  );
  for (const [permission, routes = []] of Object.entries(ROUTES_BY_PERMISSION)) {
    await hold(['read', 'write', 'admin.orgs', permission as Permission]);
    const open = expectedOf(routes, (route) => refusalOfSecond(route, permission));
    assert.deepEqual(await outcomesOf(routes, bearer(jwt)), open, permission);
    const needed = new Set<string>(routes.flatMap((route) => neededOf(ROUTES_BY_PERMISSION, route)));
    await hold(PERMISSIONS.filter((held) => !needed.has(held)));
    const closed = expectedOf(routes, (route) => refusalOf(neededOf(ROUTES_BY_PERMISSION, route)));
    assert.deepEqual(await outcomesOf(routes, bearer(jwt)), closed, `without ${permission}`);
  }
});

test('every route that can name a workstream is among those that are tried for a private one', () => {
  assert.deepEqual(new Set(Object.keys(NAMING_ROUTES)), new Set(routesThatName()));
});

/** A workstream that is no coordinator is answered like an unknown one. */
const OF_COORDINATORS = /(?:children|tasks|metrics|trust|restrict|stop_cascade)$/;

const EXCEPT_ALL = PERMISSIONS.filter((held) => held !== 'workstreams.all');

test('A private workstream must be answered like an unknown id, to everyone but its owner and holders of `workstreams.all`, on every path', async () => {
  const { newHidden, converse, answerTo } = privateRoutes(daemon);
  const owner = bearer((await newPerson(EXCEPT_ALL)).jwt);
  const strangers = {
    'another user with approve': bearer((await newPerson(EXCEPT_ALL)).jwt),
    'another user': bearer((await newPerson('builtin-operator')).jwt),
    'a viewer, by cookie': cookie((await newPerson('builtin-viewer')).jwt),
  };
  const hidden = await converse(owner, await newHidden(owner));
  const differences: string[] = [];
  const ways = Object.entries(NAMING_ROUTES).flatMap(([route, toFields]) =>
    [route, ...prefixed(route)].flatMap((as) => toFields(hidden).map((_, at) => ({ route, as, at }))),
  );
  for (const [of, [who, headers]] of Object.entries(strangers).entries())
    for (const { route, ...way } of ways.filter(({ route, as }, at) => route === as || (at + of) % 3 === 0)) {
      const answer = await answerTo(route, { named: hidden, headers, ...way });
      const unknown = await answerTo(route, { named: UNKNOWN, headers, ...way });
      if (answer !== unknown) differences.push(`${way.as} to ${who}: ${answer} instead of ${unknown}`);
    }
  assert.deepEqual(differences, []);
});

test('every route answers for a private workstream otherwise than for an unknown one to those who perceive it', async () => {
  const { newHidden, converse, answerTo } = privateRoutes(daemon);
  const owner = bearer((await newPerson(EXCEPT_ALL)).jwt);
  const perceiving = {
    'the owner': owner,
    'a holder of workstreams.all': bearer((await newPerson(PERMISSIONS)).jwt),
    'the operator': bearer(daemon.token),
    'a service': bearer((await newService()).token),
  };
  const same: string[] = [];
  const untouched = await newHidden(owner);
  const asked = await converse(owner, await newHidden(owner));
  // A file that was not sent is its sender's.
  const callersOf = (route: string) =>
    Object.entries(perceiving).slice(0, route.includes('{attachment_id}') ? 1 : undefined);
  const told = Object.keys(NAMING_ROUTES).filter(
    (route) => !/assessments$|watches$|watches\/|quarantined/.test(route) && !OF_COORDINATORS.test(route),
  ); // none there
  for (const route of told) {
    const known = route.endsWith('/verdicts') ? asked : untouched;
    for (const [who, headers] of callersOf(route)) {
      const named = route.startsWith('GET') ? known : await newHidden(owner);
      const answer = await answerTo(route, { named, headers });
      if (answer === (await answerTo(route, { named: UNKNOWN, headers }))) same.push(`${route} to ${who}: ${answer}`);
    }
  }
  assert.deepEqual(same, []);
});

const methodOf = (route: string) => keyOf(CLOSED_TO_SERVICES, route);

test('A service token must pass every permission check, and get 403 where a call creates credentials or gives rights', async () => {
  const { token } = await newService();
  const refusal = (route: string) => {
    const method = methodOf(route);
    return (
      method && `${method} refuses service tokens: it creates credentials, gives rights, or is a decision of people`
    );
  };
  assert.deepEqual(await outcomesOf(ROUTES, bearer(token)), expectedOf(ROUTES, refusal));
  await checkPrefixed({ headers: bearer(token), at: 0 }, refusal);
  const [owner, other] = [await newPerson('builtin-operator'), await newPerson('builtin-operator')];
  const made = await daemon.fetch('/v1/api/workstreams/new', {
    method: 'POST',
    headers: { ...bearer(owner.jwt), 'content-type': 'application/json' },
    body: JSON.stringify({ visibility: 'private' }),
  });
  const route = `/v1/api/workstreams/${(await made.json()).ws_id}`;
  const statuses = [token, owner.jwt, other.jwt].map(async (secret) => {
    return (await daemon.fetch(route, { headers: bearer(secret) })).status;
  });
  assert.deepEqual(await Promise.all(statuses), [200, 200, 404], 'it sees private workstreams, too');
});

test('`POST /v1/api/_internal/token-refresh` must answer a service token with a new secret, and any other credential with 403', async () => {
  const { token, tokenId } = await newService();
  const refresh = (secret: string) =>
    daemon.fetch('/v1/api/_internal/token-refresh', { method: 'POST', headers: bearer(secret) });
  const answer = await refresh(token);
  const renewed = await answer.json();
  assert.deepEqual(
    [answer.status, answer.headers.get('cache-control'), answer.headers.get('set-cookie'), renewed],
    [
      200,
      'no-store',
      null,
      {
        token: renewed.token,
        token_id: tokenId,
        token_prefix: renewed.token.slice(0, 8),
        scopes: 'read,write,approve,service',
        expires: new Date(daemon.clock.now() + HOUR_MS).toISOString(),
      },
    ],
  );
  assert.match(renewed.token, /^svc_[0-9a-f]{64}$/);
  assert.notEqual(renewed.token, token);
  const used = await daemon.fetch('/v1/api/admin/audit?action=token.refresh', { headers: bearer(renewed.token) });
  const { events } = await used.json();
  const recorded = events.filter((event: { resource_id: string }) => event.resource_id === tokenId);
  assert.deepEqual([used.status, recorded.length, recorded[0]?.outcome], [200, 1, 'ok']);
  const refused = await refresh(daemon.token);
  const words = { error: "Forbidden: token lacks 'service' scope" };
  assert.deepEqual([refused.status, await readBody(refused)], [403, words]);
});

test('a credential that has ended, or that does not come as it should, opens no route, also below a prefix', async () => {
  const disabled = await newPerson('builtin-admin');
  const asked = { userId: disabled.userId, name: 'ci', scopes: ['approve'] };
  const { token: ofDisabled } = (await operator.call('user.token.create', asked)) as { token: string };
  const unassigned = await newPerson('builtin-admin');
  const present = await newPerson('builtin-admin');
  const [revoked, expired, standing] = [await newService(), await newService(), await newService()];
  assert.equal(await outcomeOf('GET /v1/api/admin/users', bearer(ofDisabled)), 'allowed');
  await operator.call('user.update', { userId: disabled.userId, disabled: true });
  await operator.call('user.role.unassign', { userId: unassigned.userId, roleId: 'builtin-admin' });
  await operator.call('token.revoke', { tokenId: revoked.tokenId });
  const unauthorized = () => 'Unauthorized: missing or invalid token';
  const callers: Record<string, Headers> = {
    'a disabled user': bearer(disabled.jwt),
    'the cookie of a disabled user': cookie(disabled.jwt),
    'a token of a disabled user': bearer(ofDisabled),
    'a revoked service token': bearer(revoked.token),
    'a service token as a cookie': cookie(standing.token),
    'Basic with a password': basic(present.username, PASSWORD),
    'Basic with the operator token': basic('operator', daemon.token),
    'Basic with a token as the name': basic(standing.token, ''),
    'Basic with a login': basic('', present.jwt),
  };
  for (const [at, [who, headers]] of Object.entries(callers).entries()) {
    const routes = partOf(at, 3);
    assert.deepEqual(await outcomesOf(routes, headers), expectedOf(routes, unauthorized), who);
  }
  await checkPrefixed({ headers: basic('operator', daemon.token), at: 1 }, unauthorized);
  await checkPrefixed({ headers: {}, at: 2 }, unauthorized);
  const withoutRights = (route: string) => `Forbidden: token lacks '${keyOf(PRIVATE, route)}' scope`;
  assert.deepEqual(await outcomesOf(ROUTES, bearer(unassigned.jwt)), expectedOf(ROUTES, withoutRights), 'no roles');
  await daemon.clock.advance(HOUR_MS);
  assert.deepEqual(await outcomesOf(ROUTES, bearer(expired.token)), expectedOf(ROUTES, unauthorized), 'expired');
});

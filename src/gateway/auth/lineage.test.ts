import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TokenScope } from '../../../protocol/methods/accounts/token.ts';
import { openCredentialWorld } from '../testing/credential-world.ts';
import { OPERATOR_TOKEN } from '../testing/test-accounts.ts';
import { minterOf } from './lineage.ts';
import type { Principal } from './principal.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LADDER = ['read', 'write', 'approve'] as const;

type World = Awaited<ReturnType<typeof openCredentialWorld>>;

/** The test's own record of a credential, from which it derives whether the credential is valid. */
interface Known {
  /** `root`: the operator token. */
  kind: 'root' | 'token' | 'session' | 'code';
  parent: Known | undefined;
  rank: number;
  untilMs: number;
  isOver: boolean;
  secret: string;
  tokenId?: string;
  /** The principal from the first use of the credential, and again after a restart: open sockets hold it. */
  principal?: Principal | undefined;
}

interface Step {
  what: 'create' | 'link' | 'redeem' | 'login' | 'logout' | 'revoke';
  /** Chooses one of the matching credentials. */
  which: number;
  rank: number;
  hours: number | undefined;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('create', 'create', 'create', 'link', 'link', 'redeem', 'redeem', 'login', 'logout', 'revoke'),
  which: fc.nat(),
  rank: fc.nat(2),
  hours: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
});
const TREES = 100;
const ROUNDS = 3;
const forest = fc.record({
  trees: fc.array(fc.array(step, { minLength: 12, maxLength: 12 }), { minLength: TREES, maxLength: TREES }),
  hours: fc.array(fc.nat(4), { minLength: 12, maxLength: 12 }),
  restarts: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
});

test('in 300 random trees no credential exceeds or outlives its parent, even on open connections', async () => {
  await fc.assert(
    fc.asyncProperty(forest, async ({ trees, hours, restarts }) => {
      await using world = await openCredentialWorld();
      const roots = await Promise.all(trees.map((_, n) => plant(world, `tree ${n}`)));
      for (const [at, elapsed] of hours.entries()) {
        await Promise.all(roots.map((tree, n) => grow(world, tree, trees[n]?.[at])));
        await world.clock.advance(elapsed * HOUR_MS);
        if (restarts[at]) await restart(world, roots);
        await check(world, roots);
      }
      for (const tree of roots) await cut(world, tree);
      await check(world, roots);
      await restart(world, roots);
      await check(world, roots);
      for (const code of roots.flat().filter(({ kind }) => kind === 'code'))
        await assert.rejects(world.login({ code: code.secret }), { code: 'UNAUTHORIZED' });
    }),
    { numRuns: ROUNDS, endOnFailure: true },
  );
});

/** A tree as a list of its credentials, starting with the operator token and a token below it. */
async function plant(world: World, name: string): Promise<Known[]> {
  const principal = await world.authenticate(OPERATOR_TOKEN);
  const root: Known = {
    ...{ kind: 'root', parent: undefined, rank: 2, untilMs: Number.POSITIVE_INFINITY, isOver: false },
    ...{ secret: OPERATOR_TOKEN, principal },
  };
  const tree = [root];
  await create(world, tree, { by: root, name, rank: 2, hours: undefined });
  return tree;
}

async function grow(world: World, tree: Known[], step: Step | undefined): Promise<void> {
  if (!step) return;
  const { what, which, rank, hours } = step;
  // Not the operator token, whose children would be another tree.
  const pick = (...kinds: Known['kind'][]) => {
    const fitting = tree.filter((one) => kinds.includes(one.kind) && (one.kind === 'code' || stands(one, world)));
    return fitting[which % fitting.length];
  };
  if (what === 'create') {
    const name = `${tree[1]?.tokenId}.${tree.length}`;
    await create(world, tree, { by: pick('token', 'session'), name, rank, hours });
  }
  if (what === 'link') await link(world, tree, pick('token', 'session'));
  if (what === 'redeem') await redeem(world, tree, pick('code'));
  if (what === 'login') await login(world, tree, pick('token'));
  const ending = what === 'logout' ? pick('session') : what === 'revoke' ? pick('token') : undefined;
  if (ending) await end(world, ending);
}

interface Creating {
  by: Known | undefined;
  name: string;
  rank: number;
  hours: number | undefined;
}

async function create(world: World, tree: Known[], { by, name, rank, hours }: Creating): Promise<void> {
  if (!by?.principal) return;
  const scope: TokenScope = LADDER[rank] ?? 'read';
  const asked = { name, scope, ...(hours !== undefined && { expiresInMs: hours * HOUR_MS }) };
  const creating = world.create(by.principal, asked);
  if (rank > by.rank) return void (await assert.rejects(async () => creating, { code: 'FORBIDDEN' }));
  const { token, tokenId, expiresAtMs } = await creating;
  const parent = parentOf(by);
  const untilMs = Math.min(parent.untilMs, world.clock.now() + (hours ?? Number.POSITIVE_INFINITY) * HOUR_MS);
  assert.equal(expiresAtMs ?? Number.POSITIVE_INFINITY, untilMs);
  const principal = await world.authenticate(token);
  tree.push({ kind: 'token', parent, rank, untilMs, isOver: false, secret: token, tokenId, principal });
}

async function link(world: World, tree: Known[], by: Known | undefined): Promise<void> {
  if (!by?.principal) return;
  const untilMs = world.clock.now() + 10 * MINUTE_MS;
  const secret = await world.link(by.principal);
  tree.push({ kind: 'code', parent: parentOf(by), rank: by.rank, untilMs, isOver: false, secret });
}

async function redeem(world: World, tree: Known[], code: Known | undefined): Promise<void> {
  if (!code) return;
  if (!stands(code, world)) return assert.rejects(world.login({ code: code.secret }), { code: 'UNAUTHORIZED' });
  const { jwt } = await world.login({ code: code.secret });
  code.isOver = true; // used
  await enter(world, tree, { parent: parentOf(code), rank: code.rank, jwt });
}

async function login(world: World, tree: Known[], token: Known | undefined): Promise<void> {
  if (!token) return;
  const { jwt } = await world.login({ token: token.secret });
  await enter(world, tree, { parent: token, rank: token.rank, jwt });
}

interface Entering {
  parent: Known;
  rank: number;
  jwt: string;
}

async function enter(world: World, tree: Known[], { parent, rank, jwt }: Entering): Promise<void> {
  const principal = await world.authenticate(jwt);
  const untilMs = world.clock.now() + DAY_MS;
  tree.push({ kind: 'session', parent, rank, untilMs, isOver: false, secret: jwt, principal });
}

/** A logout of a session, a revocation of a token. */
async function end(world: World, known: Known): Promise<void> {
  known.isOver = true;
  if (known.kind === 'session' && known.principal) await world.logout(known.principal);
  if (known.tokenId !== undefined) await world.revoke(known.tokenId);
}

async function cut(world: World, tree: Known[]): Promise<void> {
  for (const known of tree.slice(1)) if (known.parent?.kind === 'root' && !known.isOver) await end(world, known);
}

async function restart(world: World, trees: Known[][]): Promise<void> {
  await world.restart();
  for (const known of trees.flat()) if (known.kind !== 'code') known.principal = await world.authenticate(known.secret);
}

/** The parent of new credentials: the token itself, or the parent of a session or link. */
const parentOf = (known: Known): Known => (known.kind === 'token' || !known.parent ? known : known.parent);

const stands = (known: Known, world: World): boolean =>
  !known.isOver && known.untilMs > world.clock.now() && (!known.parent || stands(known.parent, world));

async function check(world: World, trees: Known[][]): Promise<void> {
  for (const known of trees.flat().filter(({ kind }) => kind !== 'code')) {
    const expected = stands(known, world);
    const now = await world.authenticate(known.secret);
    const isOpen = known.principal !== undefined && !known.principal.ended.aborted;
    assert.deepEqual({ counts: now !== undefined, isOpen }, { counts: expected, isOpen: expected }, known.kind);
    if (now) assert.deepEqual([...now.scopes], LADDER.slice(0, known.rank + 1));
  }
}

const operatorOf = async (world: World) => (await world.authenticate(OPERATOR_TOKEN)) ?? assert.fail('no operator');
const approve = (name: string) => ({ name, scope: 'approve' as const });

test('an unused link ends with the token that created it, and a used one passes on the token as parent', async () => {
  await using world = await openCredentialWorld();
  const { token, tokenId } = await world.create(await operatorOf(world), { ...approve('a'), expiresInMs: 2 * HOUR_MS });
  const principal = (await world.authenticate(token)) ?? assert.fail();
  const [used, unused] = [await world.link(principal), await world.link(principal)];
  const { jwt, userId, expiresAtMs } = await world.login({ code: used });
  const session = (await world.authenticate(jwt)) ?? assert.fail();
  const grandchild = await world.create(session, approve('b'));
  const nested = await world.link(session);
  await world.logout(session);
  assert.deepEqual(
    [userId, expiresAtMs - world.clock.now(), grandchild.expiresAtMs, minterOf(session)?.parent],
    [`token:${tokenId}`, 2 * HOUR_MS, expiresAtMs, { kind: 'token', id: tokenId }],
  );
  assert.equal((await world.authenticate(grandchild.token))?.ended.aborted, false, 'a logout ends only the session');
  await world.revoke(tokenId);
  for (const code of [unused, nested]) await assert.rejects(world.login({ code }), { code: 'UNAUTHORIZED' });
  assert.deepEqual([await world.authenticate(grandchild.token), world.listed()], [undefined, 0]);
  assert.deepEqual(await world.store.db.selectFrom('login_codes').selectAll().execute(), []);
});

test('a credential created while its parent is being revoked does not survive it', async () => {
  await using world = await openCredentialWorld();
  const minted: Minted[] = [];
  for (let n = 0; n < 50; n += 1) minted.push(...(await mintWhileRevoking(world, n)));
  await assertEnded(world, minted);
  await world.restart();
  await assertEnded(world, minted);
});

/** A code, or a result with a token or login. */
type Minted = string | { token: string } | { jwt: string };

/** Runs the revocation before, between and after the others, all in one turn of the event loop. */
async function mintWhileRevoking(world: World, n: number): Promise<Minted[]> {
  const { token, tokenId } = await world.create(await operatorOf(world), approve(`a${n}`));
  const principal = (await world.authenticate(token)) ?? assert.fail();
  const code = await world.link(principal);
  const racing: (() => Promise<Minted>)[] = [
    async () => world.create(principal, approve(`b${n}`)),
    () => world.link(principal),
    () => world.login({ code }),
    () => world.login({ token }),
  ];
  const first = racing.slice(0, n % 5).map((mint) => mint());
  const revoking = world.revoke(tokenId);
  const outcomes = await Promise.allSettled([...first, ...racing.slice(n % 5).map((mint) => mint())]);
  await revoking;
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

async function assertEnded(world: World, minted: Minted[]): Promise<void> {
  for (const one of minted) {
    if (typeof one === 'string') await assert.rejects(world.login({ code: one }), { code: 'UNAUTHORIZED' });
    else assert.equal(await world.authenticate('jwt' in one ? one.jwt : one.token), undefined);
  }
}

test('an expired token ends everything below it, although a clock set back would revive it', async () => {
  await using world = await openCredentialWorld();
  const { token } = await world.create(await operatorOf(world), { ...approve('a'), expiresInMs: HOUR_MS });
  const principal = (await world.authenticate(token)) ?? assert.fail();
  const child = await world.create(principal, { ...approve('b'), expiresInMs: 40 * DAY_MS });
  const { jwt } = await world.login({ token: child.token });
  const session = await world.authenticate(jwt);
  await world.clock.advance(HOUR_MS);
  world.clock.jump(-HOUR_MS);
  assert.deepEqual(
    [session?.ended.aborted, ...(await Promise.all([token, child.token, jwt].map(world.authenticate)))],
    [true, undefined, undefined, undefined],
  );
});

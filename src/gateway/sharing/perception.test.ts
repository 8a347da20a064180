import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../testing/temp-store.ts';
import { insertWorkstream, readById, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { audienceOf, gaining, SightCounts } from './audience.ts';
import {
  ANYONE,
  DAEMON,
  mayPerceive,
  mayShare,
  newlyOwned,
  type Owned,
  sightInCommon,
  sightOf,
  type Viewer,
} from './perception.ts';

const user = (userId: string, ...permissions: 'workstreams.all'[]): Viewer => ({
  userId,
  permissions: new Set(permissions),
});
const VIEWERS: Record<string, Viewer> = {
  owner: user('ada'),
  other: user('bob'),
  manager: user('eve', 'workstreams.all'),
  operator: DAEMON,
  nobody: ANYONE,
};
const OWNED: Record<string, Owned> = {
  'shared of ada': { ownerId: 'ada', visibility: 'shared' },
  'private of ada': { ownerId: 'ada', visibility: 'private' },
  'shared of the operator': { ownerId: '', visibility: 'shared' },
  'private of the operator': { ownerId: '', visibility: 'private' },
};
const table = (decide: (viewer: Viewer, owned: Owned) => boolean) =>
  Object.fromEntries(
    Object.entries(OWNED).map(([what, owned]) => [
      what,
      Object.keys(VIEWERS).filter((who) => decide(VIEWERS[who] ?? ANYONE, owned)),
    ]),
  );

const EVERYONE = Object.keys(VIEWERS);
const PERCEIVED = {
  'shared of ada': EVERYONE,
  'private of ada': ['owner', 'manager', 'operator'],
  'shared of the operator': EVERYONE,
  'private of the operator': ['manager', 'operator'],
};

test('a private workstream is perceived by its owner and by those who see everything', () => {
  assert.deepEqual(table(mayPerceive), PERCEIVED);
});

test('a workstream is shared by its owner and by those who see everything', () => {
  assert.deepEqual(table(mayShare), {
    'shared of ada': ['owner', 'manager', 'operator'],
    'private of ada': ['owner', 'manager', 'operator'],
    'shared of the operator': ['manager', 'operator'],
    'private of the operator': ['manager', 'operator'],
  });
});

test('the sight that a workstream’s viewers have in common includes it, and nothing that one of them does not perceive', () => {
  for (const [what, owned] of Object.entries(OWNED)) {
    const common = sightInCommon(owned);
    assert.ok(mayPerceive(common, owned), what);
    const shown = Object.values(OWNED).filter((other) => mayPerceive(common, other));
    for (const viewer of Object.values(VIEWERS).filter((each) => mayPerceive(each, owned)))
      assert.ok(
        shown.every((other) => mayPerceive(viewer, other)),
        what,
      );
  }
});

test('the database decides like the rule', async () => {
  await using store = await tempStore();
  const wsIds = new Map(Object.keys(OWNED).map((what, index) => [what, String(index).padStart(32, '0')]));
  for (const [what, owned] of Object.entries(OWNED)) {
    const row = toWorkstreamRow({ wsId: wsIds.get(what) ?? '', owned, workdir: '/', nowMs: 1 });
    await store.commit({ statements: [insertWorkstream(row)] });
  }
  const perceived: Record<string, string[]> = {};
  for (const [what, wsId] of wsIds) {
    const found = EVERYONE.map(async (who) => ((await readById(store, wsId, VIEWERS[who] ?? ANYONE)) ? [who] : []));
    perceived[what] = (await Promise.all(found)).flat();
  }
  assert.deepEqual(perceived, PERCEIVED);
});

test('what a user creates belongs to the user and is as visible as asked or set; everything else is everyone’s', () => {
  const usual = { visibility: 'private' } as const;
  assert.deepEqual(
    [newlyOwned(user('ada'), usual), newlyOwned(user('ada'), usual, 'shared'), newlyOwned(DAEMON, usual)],
    [OWNED['private of ada'], OWNED['shared of ada'], OWNED['shared of the operator']],
  );
});

test('each sight counts exactly the events that its viewers receive', () => {
  const all = Object.values(OWNED);
  const audiences = [...all.map(audienceOf), ...all.flatMap((before) => all.map((now) => gaining(before, now)))];
  const counts = new SightCounts();
  for (const audience of audiences) counts.add(audience);
  for (const viewer of Object.values(VIEWERS)) {
    const received = audiences.filter(({ includes }) => includes(viewer)).length;
    assert.equal(counts.of(sightOf(viewer)), received, sightOf(viewer));
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Audience, type AudienceTerms, audienceFrom, audienceOf, EVERYONE, gaining } from './audience.ts';
import { ANYONE, DAEMON, mayPerceive, type Owned, type Viewer } from './perception.ts';

const VIEWERS: Record<string, Viewer> = {
  daemon: DAEMON,
  anyone: ANYONE,
  ada: { userId: 'ada', permissions: new Set(['workstreams.create']) },
  bob: { userId: 'bob', permissions: new Set() },
  admin: { userId: 'admin', permissions: new Set(['workstreams.all']) },
};

const OWNED: Owned[] = ['', 'ada', 'bob'].flatMap((ownerId) =>
  (['shared', 'private'] as const).map((visibility) => ({ ownerId, visibility })),
);

/** The terms as another daemon gets them. */
const carried = (terms: AudienceTerms): AudienceTerms => JSON.parse(JSON.stringify(terms));
const includedIn = ({ includes }: Audience): string[] =>
  Object.keys(VIEWERS).filter((name) => includes(VIEWERS[name] ?? ANYONE));
const perceiving = (owned: Owned): string[] =>
  Object.keys(VIEWERS).filter((name) => mayPerceive(VIEWERS[name] ?? ANYONE, owned));

function assertCarries(audience: Audience, expected: string[]): void {
  const again = audienceFrom(carried(audience.terms));
  assert.deepEqual(
    { here: includedIn(audience), there: includedIn(again), owners: [...again.owners].sort() },
    { here: expected, there: expected, owners: [...audience.owners].sort() },
  );
  assert.deepEqual(carried(again.terms), carried(audience.terms), 'it can be carried on');
}

test('everyone is the same audience at another daemon', () => {
  assertCarries(EVERYONE, Object.keys(VIEWERS));
});

for (const owned of OWNED) {
  const { ownerId, visibility } = owned;
  test(`those who perceive a ${visibility} workstream of ${ownerId || 'the operator'} are the same at another daemon`, () => {
    assertCarries(audienceOf(owned), perceiving(owned));
  });
}

test('those who gain a workstream are the same at another daemon', () => {
  for (const before of OWNED)
    for (const now of OWNED) {
      const former = perceiving(before);
      assertCarries(
        gaining(before, now),
        perceiving(now).filter((name) => !former.includes(name)),
      );
    }
});

test('terms hold nothing but owners and visibilities', () => {
  const now = { wsId: 'w', name: 'a secret', ownerId: 'ada', visibility: 'private' } as const;
  const before = { ...now, ownerId: 'bob' };
  const [ofNow, ofBefore] = [
    { ownerId: 'ada', visibility: 'private' },
    { ownerId: 'bob', visibility: 'private' },
  ];
  assert.deepEqual(
    [audienceOf(now).terms, gaining(before, now).terms],
    [{ now: ofNow }, { now: ofNow, before: ofBefore }],
  );
});

test('terms are those of the moment, also if the workstream changes later', () => {
  const data: { ownerId: string; visibility: Owned['visibility'] } = { ownerId: 'ada', visibility: 'private' };
  const audiences = [audienceOf(data), gaining({ ownerId: '', visibility: 'private' }, data)];
  data.ownerId = 'bob';
  for (const { terms } of audiences) assert.deepEqual(terms.now, { ownerId: 'ada', visibility: 'private' });
});

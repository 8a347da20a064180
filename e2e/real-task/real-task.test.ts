import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStage } from '../support/daemon/stage.ts';
import { scriptRepair } from './scripted-agent.ts';
import { COMMIT, openShop, REPAIRED, type Shop, testsPass, WISH } from './shop.ts';
import { byAcp } from './ways/by-acp.ts';
import { byHttp } from './ways/by-http.ts';
import { byPage } from './ways/by-page.ts';
import { byTerminal } from './ways/by-terminal.ts';
import type { Way } from './ways/way.ts';

const { model, daemon } = await openStage();
scriptRepair(model);

/** A whole piece of work, as a person does it with an agent. */
async function repair(way: Way, shop: Shop, repaired?: () => Promise<void>): Promise<void> {
  assert.equal(await testsPass(shop), false);
  await way.say(WISH);
  await way.allow('plan_agent');
  await way.acceptPlan();
  assert.deepEqual(await shop.changed(), [], 'before the plan was accepted and the patch allowed');
  await way.allow('apply_patch');
  await way.allow('bash');
  await way.answered('Repaired: the tests pass.');
  assert.deepEqual(await shop.changed(), REPAIRED);
  assert.ok(await testsPass(shop));
  await repaired?.();
  await way.undo();
  assert.deepEqual(await shop.changed(), []);
  await way.redo();
  assert.deepEqual(await shop.changed(), REPAIRED);
  await way.say(COMMIT);
  await way.allow('bash');
  await way.answered('Committed.');
  assert.deepEqual(await shop.commits(), ['Count and discount carts', 'A shop']);
  assert.deepEqual([await shop.changed(), await testsPass(shop)], [[], true]);
}

test('an agent plans, repairs two files, runs the tests in the background, is undone, redone, and commits: by HTTP', async () => {
  await using shop = await openShop();
  await using way = await byHttp(daemon, shop.folder);
  await repair(way, shop);
});

test('the same in a terminal', async () => {
  await using shop = await openShop();
  await using way = await byTerminal(daemon, shop.folder);
  await repair(way, shop);
});

test('the same in an editor', async () => {
  await using shop = await openShop();
  await using way = await byAcp(daemon, shop.folder);
  await repair(way, shop);
});

test('the same on the page', async (t) => {
  await using shop = await openShop();
  const way = await byPage(t, daemon, shop.folder);
  const { PICTURE } = process.env; // of README
  await repair(way, shop, async () => {
    if (PICTURE !== undefined) await way.picture(PICTURE);
  });
});

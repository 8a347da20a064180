import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import process from 'node:process';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { launched } from '../support/clients/browser.ts';
import { type GeometryRules, geometryProblems } from '../support/views/geometry.ts';
import { VIEWS } from '../support/views/views.ts';
import type { View } from '../support/views/ways.ts';
import { baselineVersion, compareView } from './baselines.ts';
import { openViewStage } from './stage.ts';
import { visitViews, WIDTHS, widthsOf } from './visiting.ts';

const stage = await openViewStage();
after(() => stage[Symbol.asyncDispose]());

const RULES: GeometryRules = {
  aligned: [
    { selector: '.panel-body > :not(dialog, .panel-none, .usage-choice)', edges: ['left'] },
    { selector: '.panel-body > :not(dialog, .panel-none, .account-nav)', edges: ['right'] },
    { selector: '.panel-row', edges: ['left', 'right'] },
    { selector: '.tabs > li', edges: ['left', 'right'] },
  ],
  upright: '.panel-body, .dialog-scroll, .aside-scroll, .transcript, .rail, .tabs',
  mayCover: '',
  mayCut: '',
};

/** Every second width of a view, the others the next time; with `VIEWS=all`, each, and with `VIEWS=WORD,WORD` each of some views. */
const turn = randomInt(2);
/** Of the states, a tenth: all of them take longer than all other views. `npm run baselines` has all. */
const SHARES = 10;
const share = randomInt(SHARES);
const { VIEWS: only = '' } = process.env;
const STATES = VIEWS.filter(({ isState }) => isState === true);
const isInShare = (view: View): boolean =>
  view.isState !== true || Math.floor((STATES.indexOf(view) * SHARES) / STATES.length) === share;
const isLookedAt = (view: View, width: number): boolean =>
  only === 'all' ||
  (only !== '' && only.split(',').some((word) => view.name.includes(word))) ||
  (only === '' && isInShare(view) && (widthsOf(view).indexOf(width) + VIEWS.indexOf(view)) % 2 === turn);

/** One picture of each view: the widths and the colours in turn. Those of states depend on the widths before them, too. */
function sampleOf(view: View, width: number): 'light' | 'dark' | undefined {
  if (view.isState || view.isScrolled) return undefined;
  const index = VIEWS.indexOf(view);
  const widths = widthsOf(view).filter((one) => isLookedAt(view, one));
  if (width !== widths[index % widths.length]) return undefined;
  return Math.floor(index / WIDTHS.length) % 2 === 0 ? 'light' : 'dark';
}

/** Whether the page says more than that there is nothing: what it would be for, or how to begin. */
async function teaches(page: Page): Promise<boolean> {
  const texts = await page.locator('.empty, .panel-none, .file-empty').allInnerTexts();
  return texts.some((text) => /[\w”][.\n]+\s*\w/.test(text));
}

test('no view overflows, overlaps, cuts text, has small targets or edges out of line, or differs from its picture; empty ones say how to begin', async (t) => {
  const isRecorded = (await baselineVersion()) === (await launched()).version();
  if (!isRecorded) t.diagnostic('pictures are not compared: this is not the version of Chromium that made them');
  const problems = new Map<string, string[]>();
  const differences: string[] = [];
  await visitViews(
    stage,
    async (page, view, width) => {
      for (const problem of await geometryProblems(page, RULES)) {
        const where = problems.get(problem) ?? [];
        problems.set(problem, [...where, `${view.name} at ${width}`]);
      }
      if (view.name.startsWith('empty-') && !(await teaches(page)))
        differences.push(`${view.name} does not say how to begin`);
      const theme = sampleOf(view, width);
      const difference = theme && isRecorded && (await compareView(stage, { page, view, width, theme }));
      if (difference) differences.push(difference);
    },
    isLookedAt,
  );
  const found = [...problems].map(([problem, where]) => `${problem} (${where.join(', ')})`);
  assert.deepEqual([...found, ...differences], []);
});
